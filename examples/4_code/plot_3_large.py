"""
From 2,000 to 200,000 samples
=============================

If there are many samples, only some of them are clustered (the *landmarks*). The others are assigned by their
neighbours among the landmarks, and both are revised. The time then grows with the number of samples, not with its
square.
"""

# %%
# Generated views of eight clusters of different sizes.
import time

import matplotlib.pyplot as plt
import numpy as np

from manyview import OCBR, adjusted_rand_index, make_views

sizes = [2_000, 20_000, 200_000]
seconds, agreement = [], []
for n in sizes:
    data = make_views(n, 8, (8, 12), noise=1.2, separation=7, balance=0.8, seed=0)
    start = time.process_time()
    model = OCBR(n_clusters=8, strategy="landmarks", n_landmarks=1_000).fit(data.views)
    seconds.append(time.process_time() - start)
    agreement.append(adjusted_rand_index(data.labels, model.labels_))

# %%
# The time with landmarks, and how it would grow with the square of the number of samples.
figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
panels[0].loglog(sizes, seconds, "o-", color="C0", label="measured")
squared = seconds[0] * (np.array(sizes) / sizes[0]) ** 2
panels[0].loglog(sizes, squared, "--", color="0.6", label="if it grew with the square")
panels[0].legend(frameon=False)
panels[0].set(xlabel="samples", ylabel="CPU seconds", title="the time grows slowly, with 1,000 landmarks")
panels[1].semilogx(sizes, agreement, "o-", color="C2")
panels[1].set(xlabel="samples", ylabel="ARI with the truth", ylim=(0, 1.05), title="the clusters stay correct")
for axes in panels:
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes], minor=False)
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
