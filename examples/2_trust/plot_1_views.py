"""
Which view says what
====================

Three views of the same samples: the first confuses clusters 0 and 1, the second confuses 1 and 2, and the third is
noise. Only the first two together show all three clusters. How can you see that?
"""

# %%
# `make_views` draws the views, the last of them pure noise. In each of the first two, the loop then moves two clusters
# on top of each other.
import matplotlib.pyplot as plt
import numpy as np

from manyview import OCBR, clustering_accuracy, make_views
from manyview.report import plot_view_agreement

data = make_views(450, 3, (12, 12, 12), noise=[1, 1, np.inf], seed=3)
first, second, noise = (X.copy() for X in data.views.arrays)
for X, (kept, moved) in ((first, (0, 1)), (second, (1, 2))):
    there, here = (X[data.labels == cluster].mean(axis=0) for cluster in (kept, moved))
    X[data.labels == moved] += there - here
views = {"confuses 0 and 1": first, "confuses 1 and 2": second, "noise": noise}

# %%
# Each view alone, and all together.
alone = {name: OCBR(n_clusters=3).fit_predict({name: X}) for name, X in views.items()}
model = OCBR(n_clusters=3).fit(views)
scores = {name: clustering_accuracy(data.labels, labels) for name, labels in alone.items()}
scores["all three"] = clustering_accuracy(data.labels, model.labels_)

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.barh(list(scores), list(scores.values()), color=["0.7", "0.7", "0.7", "C0"])
axes.set(xlabel="ACC", xlim=(0, 1.05), title="No view alone shows all clusters; together they do")
axes.invert_yaxis()
axes.spines[["top", "right"]].set_visible(False)
for y, value in enumerate(scores.values()):
    axes.text(value + 0.01, y, f"{value:.2f}", va="center")
plt.show()

# %%
# This picture says the same without true labels. ACC and NMI: how well the clusters of a view alone agree with those of
# all views. Weight: how much the view contributed. A view with low agreement and little weight is noise; one with
# medium agreement and a large weight shows something that the others do not.
plot_view_agreement(model, views)
