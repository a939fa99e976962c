"""From tables to graphs: neighbours, affinities, Laplacians, and graphs of samples that lack views.

A graph is a scipy CSR array W (n x n), symmetric, non-negative, with an empty diagonal. Memory is O(n k) beside the
features. A new kind of graph is a function in `affinity` and an entry in its `GRAPHS`. Cutting graphs into clusters
belongs in `partition`.
"""
