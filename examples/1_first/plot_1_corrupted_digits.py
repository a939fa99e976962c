"""
Clusters despite wrong entries
==============================

Two views of the UCI digits: Fourier coefficients of the outlines, and profile correlations. More and more of their
entries are replaced by gross errors. `OCBR` recognises them, ignores them, and loses little accuracy.
"""

# %%
# `corrupt_entries` chooses the entries at random. Both methods get the same tables. Neither gets the true digits: these
# only serve to count how many samples are in the right cluster (the accuracy, ACC).
import matplotlib.pyplot as plt

from manyview import MFMSC, OCBR, clustering_accuracy, load_digits
from manyview.preprocessing import corrupt_entries

digits = load_digits(views=("fourier", "profile"))
fractions = [0, 0.1, 0.2, 0.3]
accuracy = {"MFMSC: concatenated views": [], "OCBR": []}
for fraction in fractions:
    views = corrupt_entries(digits.views, fraction=fraction, seed=0)
    for name, model in zip(accuracy, (MFMSC(n_clusters=10), OCBR(n_clusters=10)), strict=True):
        accuracy[name].append(clustering_accuracy(digits.labels, model.fit_predict(views)))

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), color in zip(accuracy.items(), ("0.6", "C0"), strict=True):
    axes.plot([100 * fraction for fraction in fractions], values, "o-", color=color)
    axes.annotate(name, (100 * fractions[-1], values[-1]), (6, 0), textcoords="offset points", va="center", color=color)
axes.set(xlabel="wrong entries, %", ylabel="ACC", ylim=(0, 1.02), xlim=(-1, 45), xticks=[0, 10, 20, 30])
axes.set_title("OCBR loses little accuracy as more entries are wrong")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
