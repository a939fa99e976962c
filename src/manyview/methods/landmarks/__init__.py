"""Fitting some of the samples, the landmarks, and assigning all others: for data too large for one fit.

The mathematics are functions of one block of rows, whose results add up; `blocks.Rows` decides how blocks are run. So a
single machine and a cluster run the same code.
"""
