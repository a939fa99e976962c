"""From tables to graphs: neighbours, affinities, Laplacians, and graphs of samples that lack views.

A graph is a scipy CSR array W (n x n), symmetric, non-negative, with an empty diagonal. Memory is O(n k) in addition to
the features. To add a kind of graph, write a function in `affinity` and add an entry to its `GRAPHS`. Cutting graphs
into clusters belongs in `partition`.
"""
