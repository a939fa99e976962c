"""
Pages, their words and their links
==================================

Generated pages of four topics. Words are counts and links are a graph; both are sparse, and both kinds are recognised
automatically.
"""

# %%
# Two topics share their vocabulary, and two others link to each other: neither view is enough.
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from manyview import OCBR, clustering_accuracy

rng = np.random.default_rng(0)
topic = np.repeat(np.arange(4), [160, 120, 80, 40])
n = len(topic)
vocabulary = np.array([0, 0, 1, 2])[topic]  # topics 0 and 1 use the same words
circle = np.array([0, 1, 2, 2])[topic]  # topics 2 and 3 link to each other
words = sp.csr_array(rng.poisson(0.05 + 0.3 * (np.arange(600) // 200 == vocabulary[:, None])))
linked = np.triu(rng.random((n, n)) < np.where(circle[:, None] == circle, 0.06, 0.008), 1)
links = sp.csr_array((linked | linked.T).astype(float))

# %%
views = {"words": words, "links": links}
accuracy = {name: clustering_accuracy(topic, OCBR(n_clusters=4).fit_predict({name: X})) for name, X in views.items()}
model = OCBR(n_clusters=4).fit(views)
accuracy["words and links"] = clustering_accuracy(topic, model.labels_)
for name, kind in model.view_kinds_.items():
    print(f"{name}: {kind.reason}")

# %%
# The links between the pages, ordered by cluster, and how many pages are in the right cluster.
figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(1, 1.3))
order = np.argsort(model.labels_, kind="stable")
panels[0].spy(links[order][:, order], markersize=0.5, color="C0")
panels[0].set(xticks=[], yticks=[], title="links, pages ordered by cluster")
panels[1].barh(list(accuracy), list(accuracy.values()), color=["0.7", "0.7", "C0"])
panels[1].set(xlabel="ACC", xlim=(0, 1.1), title="neither view shows all topics")
panels[1].invert_yaxis()
for y, value in enumerate(accuracy.values()):
    panels[1].text(value + 0.01, y, f"{value:.2f}", va="center")
panels[1].spines[["top", "right"]].set_visible(False)
plt.show()
