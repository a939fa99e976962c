"""Mathematics that knows nothing of views or clusters, in mathematical notation.

Proximal maps, projections, linear systems, eigenvectors with their checks, and the one loop that all iterative methods
run in (`loop`). Code that needs a graph or a table of samples belongs in `graphs`, `preprocessing` or a method.
"""
