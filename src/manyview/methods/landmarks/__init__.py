"""Fitting on a part of the samples, the landmarks, and placing all others: for data that one fit cannot hold.

The mathematics are functions of one block of rows, whose results add up; `blocks.Rows` says how blocks are run. So one
machine and a cluster of them run the same code.
"""
