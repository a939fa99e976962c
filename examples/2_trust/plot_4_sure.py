"""
How certain is a label?
=======================

Every sample gets a label, even one that lies between two clusters. The confidence says how likely the label is to be
right, and repeating the fit on subsamples shows which labels change.
"""

# %%
# Three clusters that touch.
import matplotlib.pyplot as plt
import numpy as np

from manyview import OCBR, assess_stability, make_views
from manyview.report import plot_embedding

data = make_views(450, 3, (10, 15), noise=1.2, seed=7)
model = OCBR(n_clusters=3).fit(data.views)
stability = assess_stability(model, data.views, repeats=6, noise_repeats=2)
print(f"the result as a whole: {stability.corrected:.2f}, {stability.verdict}")

# %%
# The label of each sample, its probability, and the second most likely cluster. The probabilities of all clusters are
# in ``membership_``; ``predict_proba`` returns them for new samples.
frame = model.to_frame()
frame.sort_values("confidence").head()

# %%
# Labels with a low confidence are wrong more often, and change more often.
matches = np.array([np.bincount(data.labels[model.labels_ == c]).argmax() for c in range(3)])
wrong = matches[model.labels_] != data.labels
confidence = frame["confidence"].to_numpy()
edges = np.quantile(confidence, [0, 0.1, 0.25, 0.5, 1])
group = np.digitize(confidence, edges[1:-1])
names = ["lowest 10 %", "next 15 %", "next 25 %", "upper half"]
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
place = np.arange(4)
axes.bar(place - 0.2, [wrong[group == g].mean() for g in range(4)], 0.38, label="wrong labels", color="C1")
changed = [1 - np.nanmean(stability.samples[group == g]) for g in range(4)]
axes.bar(place + 0.2, changed, 0.38, label="pairs separated on subsamples", color="C0")
axes.set(xticks=place, xticklabels=names, xlabel="samples by confidence", ylabel="share")
axes.set_title("Labels of low confidence are wrong and change more often", fontsize=11)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()

# %%
# The map of the samples, coloured by cluster:
plot_embedding(model)

# %%
# ... and by confidence. Labels are doubtful (light points) mostly where clusters meet, and certain at their far ends.
plot_embedding(model, colors=frame["confidence"])
