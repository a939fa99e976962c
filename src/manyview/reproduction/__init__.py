"""The paper: specs of its tables and figures with the printed numbers, and their comparison with ours.

A new table is a TOML file in `specs` and its name in `parts`. Running experiments in general belongs in `experiments`;
the paper's own algorithms are methods like the others (`methods/paper_ocbr`).
"""
