"""The paper: specs of its tables and figures with the printed numbers, and their comparison with ours.

To add a table, add a TOML file to `specs` and its name to `parts`. Running experiments in general belongs in
`experiments`; the paper's own algorithms are methods like the others (`methods/paper_ocbr`).
"""
