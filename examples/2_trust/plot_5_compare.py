"""
Comparing two results
=====================

Another method, another number of clusters, another version: which samples moved, and where?
"""

# %%
# The same digits, clustered with one view and with two. Fourier coefficients do not change with rotation, so 6 and 9
# look alike.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from manyview import OCBR, load_digits
from manyview.evaluation import compare_results

digits = load_digits(views=("fourier", "profile"))
views, truth = digits.views[::2], digits.labels[::2]
ids = [f"sample{i:04d}" for i in range(len(views))]
one = OCBR(n_clusters=10).fit(views.select(["fourier"]))
two = OCBR(n_clusters=10).fit(views)
comparison = compare_results({"Fourier only": pd.Series(one.labels_, ids), "both views": pd.Series(two.labels_, ids)})
print(comparison.agreement.round(2).to_string(index=False))

# %%
# Clusters are matched one to one, so that as many samples as possible stay. Those off the diagonal moved.
flow = comparison.flows[0]
partner = comparison.matches[0]
digit = {c: np.bincount(truth[two.labels_ == c]).argmax() for c in flow.columns}
rows = sorted(flow.index, key=lambda row: digit[partner[row]])
columns = [partner[row] for row in rows]
table = flow.loc[rows, columns].to_numpy()
names = [digit[c] for c in columns]

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
axes.imshow(np.sqrt(table), cmap="Blues")
for (i, j), count in np.ndenumerate(table):
    if count:
        axes.text(j, i, count, ha="center", va="center", color="white" if count > 50 else "black", fontsize=8)
axes.set(xticks=range(10), yticks=range(10), xticklabels=names, yticklabels=names)
axes.set(xlabel="cluster of both views, named by its most frequent digit", ylabel="matching cluster, Fourier only")
axes.set_title("With the second view, 6 and 9 are separated")
plt.show()
