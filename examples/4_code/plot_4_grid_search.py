"""
Pipeline and GridSearchCV
=========================

Estimators follow scikit-learn, and a `Views` object can be split like a table. So parameters can be tuned without true
labels, by how well a model predicts the clusters that held-out samples form on their own.
"""

# %%
# The score needs no labels: the held-out samples are clustered on their own, and compared with the prediction.
import matplotlib.pyplot as plt
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from manyview import OCBR, adjusted_rand_index, check_views, clustering_accuracy, load_digits


def prediction_strength(pipeline, views, y=None):
    """Return how well the clusters of these samples alone match the predicted ones."""
    own = clone(pipeline).fit(views)["cluster"].labels_
    return adjusted_rand_index(own, pipeline.predict(views))


digits = load_digits(views=("fourier", "profile", "zernike"))
views = digits.views[::4]


def choose(views, names=("fourier", "profile", "zernike")):
    """Keep some of the views."""
    return check_views(views).select(list(names))


pipeline = Pipeline([("views", FunctionTransformer(choose)), ("cluster", OCBR(n_clusters=10))])
search = GridSearchCV(
    pipeline,
    {
        "cluster__n_neighbors": [5, 10, 20],
        "views__kw_args": [{"names": names} for names in (("fourier",), ("fourier", "profile", "zernike"))],
    },
    scoring=prediction_strength,
    cv=KFold(2, shuffle=True, random_state=0),
).fit(views)
print(search.best_params_)

# %%
# The score does not know the true digits, yet it prefers the settings that find them.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    labels = clone(pipeline).set_params(**parameters).fit(views)["cluster"].labels_
    names = parameters["views__kw_args"]["names"]
    accuracy = clustering_accuracy(digits.labels[::4], labels)
    axes.scatter(score, accuracy, color="C0" if len(names) > 1 else "C1", s=40)
    text = parameters["cluster__n_neighbors"]
    axes.annotate(text, (score, accuracy), (0, 6), textcoords="offset points", ha="center")
axes.scatter([], [], color="C0", label="three views")
axes.scatter([], [], color="C1", label="Fourier only")
axes.set(xlabel="prediction strength on held-out samples (no labels)", ylabel="ACC (true digits)")
axes.set_title("The best setting by a score without labels finds the digits best\n(numbers: neighbours per sample)")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
