"""
New samples
===========

A model is fitted on half of the digits, saved and loaded. It then assigns the other half to its clusters: with both
views, with one of them, and with wrong entries.
"""

# %%
# Nothing is pickled: loading a file runs no code from it.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from manyview import OCBR, clustering_accuracy, load, load_digits, save
from manyview.preprocessing import corrupt_entries

digits = load_digits(views=("fourier", "profile"))
noisy = corrupt_entries(digits.views, fraction=0.2, seed=0)
known, new = slice(0, None, 2), slice(1, None, 2)
model = OCBR(n_clusters=10).fit(noisy[known])

with tempfile.TemporaryDirectory() as folder:
    path = save(model, Path(folder) / "digits.manyview")
    print(f"{path.stat().st_size / 2**20:.1f} MB")
    service = load(path)

# %%
# New samples may lack views.
given = {
    "both views": digits.views[new],
    "both, a fifth of the entries wrong": noisy[new],
    "profile only": digits.views[new].select(["profile"]),
    "Fourier only": digits.views[new].select(["fourier"]),
}
scores = {name: clustering_accuracy(digits.labels[new], service.predict(views)) for name, views in given.items()}
scores = {"the fitted half": clustering_accuracy(digits.labels[known], model.labels_)} | scores

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.barh(list(scores), list(scores.values()), color=["0.7"] + ["C0"] * 4)
axes.set(xlabel="ACC", xlim=(0, 1.1), title="1000 new digits, assigned to the clusters of 1000 others")
axes.invert_yaxis()
axes.spines[["top", "right"]].set_visible(False)
for y, value in enumerate(scores.values()):
    axes.text(value + 0.01, y, f"{value:.2f}", va="center")
plt.show()
