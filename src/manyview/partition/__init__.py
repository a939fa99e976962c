"""From graphs to clusters: the spectral cut, the block model of several graphs, and the number of clusters.

Nothing here knows of features. How a method builds its graphs, and what it does with the clusters, belongs in
`methods`.
"""
