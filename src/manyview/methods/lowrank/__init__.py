"""The low-rank methods, RLRR and LRRGL, and what they share: self-expression, memory limits, and final graphs."""
