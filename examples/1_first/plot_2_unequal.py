"""
Clusters of unequal size
========================

Methods that cut a graph into parts of similar weight split large clusters and merge small ones. `OCBR` looks for the
partition that neighbours in different views agree on, whatever the sizes.
"""

# %%
# Five clusters in two views, the largest twenty times as large as the smallest. Each view confuses four of the five.
import matplotlib.pyplot as plt
import numpy as np

from manyview import MAASC, MFMSC, OCBR, adjusted_rand_index
from manyview.datasets import make_unequal_views

data = make_unequal_views(600, 5, (30, 50), ratio=20, separation=4, confused=0.8, seed=1)
found = {
    "OCBR, the consensus of the graphs": OCBR(n_clusters=5).fit_predict(data.views),
    "MFMSC, concatenated views": MFMSC(n_clusters=5).fit_predict(data.views),
    "MAASC, the sum of the graphs": MAASC(n_clusters=5).fit_predict(data.views),
}

# %%
# How many samples of each true cluster went where. A good result has one dark cell per row and column. Where views
# confuse clusters, adding their graphs fails; concatenating the features does well here, because no entry is wrong.
figure, panels = plt.subplots(1, 3, figsize=(10, 4), layout="constrained", sharey=True)
for axes, (name, labels) in zip(panels, found.items(), strict=True):
    table = np.array([[np.sum((data.labels == i) & (labels == j)) for j in range(5)] for i in range(5)])
    axes.imshow(table / table.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
    for (i, j), count in np.ndenumerate(table):
        dark = count > table[i].sum() / 2
        axes.text(j, i, count or "", ha="center", va="center", color="white" if dark else "black")
    axes.set(title=f"{name}\nARI {adjusted_rand_index(data.labels, labels):.2f}", xlabel="cluster found")
    axes.set(xticks=range(5), yticks=range(5))
panels[0].set_ylabel("true cluster")
plt.show()
