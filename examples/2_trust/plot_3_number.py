"""
How many clusters, and going coarser or finer
=============================================

The number can be chosen: how far apart are the nearest clusters, and is the worst cluster found again on subsamples? A
fit also comes with coarser and finer partitions, so that you can change your mind without another fit.
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
# The curves behind the choice. The separation drops after the number of clusters that are really apart.
plot_selection(model)

# %%
# `OCBR.cut` merges or splits the clusters. All partitions are nested: a cluster of the finer one lies in one cluster of
# the coarser one.
for k in (3, 6, 8):
    print(f"{k} clusters of", np.bincount(model.cut(k)).tolist(), "samples")

# %%
# The same as a tree: a vertical line at k crosses the k clusters. Merges up to six clusters are of groups that lie far
# apart (darker dots); the splits beyond six (pale dots) have nothing behind them.
plot_levels(model)
