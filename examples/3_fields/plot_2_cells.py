"""
RNA and proteins of single cells
================================

Generated cells with counts of 200 genes and 25 surface proteins, as in CITE-seq, in an AnnData object. The results are
written where scanpy looks for them.
"""

# %%
# The proteins separate the two kinds of T cells, which the RNA confuses; the RNA separates the other cells.
import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.manifold import TSNE

import manyview

rng = np.random.default_rng(0)
names = ["CD4 T", "CD8 T", "B", "NK", "monocyte"]
kind = rng.choice(5, 700, p=[0.35, 0.25, 0.15, 0.1, 0.15])
programs = rng.gamma(0.3, 1.0, (5, 200))
programs[1] = programs[0]  # the RNA of the two kinds of T cells is the same
depth = rng.lognormal(0, 0.3, (700, 1))
counts = rng.poisson(depth * (0.2 + programs[kind])).astype(np.float32)
proteins = rng.normal(0, 0.7, (700, 25)) + 1.5 * (rng.random((5, 25)) < 0.3)[kind]

cells = anndata.AnnData(
    counts, obs=pd.DataFrame({"type": np.array(names)[kind]}, index=[f"cell{i}" for i in range(700)])
)
cells.obsm["protein"] = proteins

# %%
# One line clusters the cells; counts are recognised automatically.
model = manyview.tl.cluster(cells, 5, views={"rna": "X", "protein": "obsm/protein"})
for view, found in model.view_kinds_.items():
    print(f"{view}: {found.reason}")
print(pd.crosstab(cells.obs["type"], cells.obs["manyview"]))

# %%
# A map of the cells, as ``scanpy.pl.embedding`` draws it: the clusters, the true types, and the protein that
# distinguishes the two kinds of T cells.
place = TSNE(random_state=0).fit_transform(cells.obsm["X_manyview"])
marker = int(np.argmax(np.abs(proteins[kind == 0].mean(axis=0) - proteins[kind == 1].mean(axis=0))))
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for axes, title, column in zip(
    panels, ("cluster", "cell type"), (cells.obs["manyview"], cells.obs["type"]), strict=False
):
    for level in column.value_counts().index:  # by size, so that the colours match
        axes.scatter(*place[column == level].T, s=6, label=level)
    axes.set_title(title)
    axes.legend(frameon=False, markerscale=2, fontsize=8)
shown = panels[2].scatter(*place.T, c=proteins[:, marker], s=6, cmap="viridis")
panels[2].set_title(f"protein {marker}")
figure.colorbar(shown)
for axes in panels:
    axes.set(xticks=[], yticks=[])
plt.show()
