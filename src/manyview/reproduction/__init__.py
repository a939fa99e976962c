"""The paper: specs of its tables and figures with the printed numbers, and the page that compares them with ours.

A new table is a TOML file in `specs` and its name in `page`. Running experiments in general belongs in `experiments`;
the paper's own algorithms are methods like the others (`methods/paper_ocbr`).
"""
