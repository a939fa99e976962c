"""
How many clusters, and going coarser or finer
=============================================

The number can be chosen from the data: how far apart are the nearest clusters, and is the least stable cluster found
again in subsamples? A fit also provides coarser and finer partitions, so you can change your mind without another fit.
"""

# %%
# Six groups in two views.
import numpy as np

from manyview import OCBR, make_views
from manyview.report import plot_levels, plot_selection

data = make_views(500, 6, (20, 30), noise=2.0, separation=8, seed=4)
model = OCBR(n_clusters="auto", max_clusters=12).fit(data.views)
print("chosen:", model.n_clusters_)

# %%
# The curves behind the choice. The separation drops beyond the true number of clusters.
plot_selection(model)

# %%
# `OCBR.cut` merges or splits the clusters. All partitions are nested: a cluster of the finer one lies in one cluster of
# the coarser one.
for k in (3, 6, 8):
    print(f"{k} clusters of", np.bincount(model.cut(k)).tolist(), "samples")

# %%
# The same as a tree: a vertical line at k crosses the k clusters. Up to six clusters, the merged groups lie far apart
# (darker dots); the splits beyond six (pale dots) mean nothing.
plot_levels(model)
