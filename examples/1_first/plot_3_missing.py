"""
Samples missing from some views
===============================

No sample has to be complete. The digits are described by six views, and more and more samples are missing from each of
them. Nothing is imputed.
"""

# %%
# A row of NaN is a sample that is absent from the view. Every sample stays in at least one view.
import matplotlib.pyplot as plt
import numpy as np

from manyview import DIGITS_VIEWS, OCBR, Views, clustering_accuracy, load_digits

digits = load_digits(views=tuple(DIGITS_VIEWS))
rows = slice(None, None, 2)
views, labels = digits.views[rows], digits.labels[rows]
rng = np.random.default_rng(0)


def with_missing(share):
    """Return the views, with about this share of the samples missing from each."""
    absent = rng.random((len(views), views.n_views)) < share
    absent[:, :2] &= ~absent[:, :2].all(axis=1, keepdims=True)  # the first two views are never both missing
    return Views({name: np.where(absent[:, i, None], np.nan, X) for i, (name, X) in enumerate(views.items())})


shares = [0, 0.2, 0.4, 0.6]
overall, complete = [], []
for share in shares:
    incomplete = with_missing(share)
    complete.append(incomplete.present.all(axis=1).mean())
    overall.append(clustering_accuracy(labels, OCBR(n_clusters=10).fit_predict(incomplete)))

# %%
# Few samples are complete: with 60 % missing from each view, hardly any is in all six.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
percent = [100 * share for share in shares]
axes.plot(percent, overall, "o-", color="C0", label="in the right cluster (ACC of OCBR)")
axes.bar(percent, complete, width=6, color="0.85", label="present in all six views")
axes.set(xlabel="samples missing from each view, %", ylabel="share of the samples", ylim=(0, 1.05), xticks=percent)
axes.set_title("Hardly any sample is complete, yet the clusters are found")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(loc="center right", frameon=False)
plt.show()
