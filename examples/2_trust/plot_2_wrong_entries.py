"""
Which entries are wrong
=======================

A tenth of the entries in two views are corrupted. `OCBR` lists those that contradict the other features of their
sample. Is the list right?
"""

# %%
# We corrupt the views ourselves, so we know what is wrong and by how much.
import matplotlib.pyplot as plt
import numpy as np

from manyview import OCBR, load_digits
from manyview.preprocessing import corrupt_entries

digits = load_digits(views=("fourier", "profile"))
clean = digits.views[::2]
noisy = corrupt_entries(clean, fraction=0.1, seed=0)
model = OCBR(n_clusters=10).fit(noisy)

# %%
# Large errors are found. Small ones are not: they are within the usual variation of the features. Most of the reported
# entries really are wrong.
figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for axes, name, before, after, E in zip(
    panels, model.view_names_, clean.arrays, noisy.arrays, model.corruption_, strict=True
):
    size = np.abs(after - before) / before.std(axis=0)  # in standard deviations of the feature
    reported = E.toarray() != 0
    wrong = size > 0
    edges = np.linspace(0, 5, 11)
    found, _ = np.histogram(size[wrong & reported], edges)
    there, _ = np.histogram(size[wrong], edges)
    axes.bar(edges[:-1], found / there, width=0.45, align="edge", color="C0")
    axes.set_title(f"{name}: {np.mean(wrong[reported]):.0%} of the reported entries are wrong")
    axes.set_xlabel("size of the error, in standard deviations")
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("share of the errors that are reported")
plt.show()

# %%
# The values that `OCBR` expects are closer to the truth than the recorded ones (median error in standard deviations).
for name, before, after, repaired in zip(
    model.view_names_, clean.arrays, noisy.arrays, model.reconstructions_, strict=True
):
    wrong = after != before
    recorded = np.abs(after - before)[wrong] / np.broadcast_to(before.std(axis=0), before.shape)[wrong]
    expected = np.abs(repaired - before)[wrong] / np.broadcast_to(before.std(axis=0), before.shape)[wrong]
    print(f"{name}: recorded values are off by {np.median(recorded):.2f}, expected ones by {np.median(expected):.2f}")
