"""What a view is: every kind is recognised, also in small, incomplete and corrupted tables."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.sparse_tables import random_table
from manyview import OCBR, InputError, Views, load_digits
from manyview.preprocessing import corrupt_entries
from manyview.preprocessing.kinds import recognize_kind, recognize_kinds


def correlated(n, d, rng):
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + 0.5 * rng.standard_normal((n, d))


def principal_components(n, d, rng):
    X = correlated(n, 3 * d, rng) * np.linspace(1, 4, 3 * d)
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return (U * s)[:, :d]


def random_graph(n, rng):
    A = random_table(rng, (n, n), 0.05)
    return sp.csr_array(A + A.T)


def full_affinity(n, rng):
    X = rng.standard_normal((n, 3))
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=2))


TABLES = {
    "features": lambda n, rng: correlated(n, 12, rng),
    "coordinates": lambda n, rng: principal_components(n, 10, rng),
    "counts": lambda n, rng: rng.poisson(0.5, (n, 40)).astype(float),
    "binary": lambda n, rng: (rng.random((n, 30)) < 0.6).astype(float),
    "sparse": lambda n, rng: rng.random((n, 40)) * (rng.random((n, 40)) < 0.2),
    "composition": lambda n, rng: rng.dirichlet(np.ones(8), n),
    "graph": random_graph,
    "affinities": full_affinity,
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("n", [60, 500])
def test_every_kind_is_recognised_and_says_why(kind, n, rng):
    found = recognize_kind(TABLES[kind](n, rng))
    assert found.name == kind
    assert found.reason.split(":")[0].split()[0] == kind


@pytest.mark.parametrize("kind", ["features", "coordinates", "counts", "binary", "sparse", "composition"])
def test_missing_values_do_not_matter(kind, rng):
    X = TABLES[kind](300, rng)
    assert recognize_kind(np.where(rng.random(X.shape) < 0.02, np.nan, X)).name == kind


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_the_unit_does_not_matter(size, rng):
    for kind in ("features", "coordinates", "composition"):
        assert recognize_kind(TABLES[kind](200, rng) * size).name == kind


def test_sparse_matrices_are_recognised_as_their_dense_tables_are(rng):
    for kind in ("counts", "sparse"):
        assert recognize_kind(sp.csr_array(TABLES[kind](200, rng))).name == kind


def test_corrupted_counts_are_still_counts(rng):
    counts = {"words": TABLES["counts"](300, rng)}
    assert recognize_kinds(corrupt_entries(counts, 0.1, seed=0))["words"].name in ("counts", "sparse")


def test_users_decide(rng):
    X, Y = correlated(90, 8, rng), correlated(90, 6, rng)
    model = OCBR(3, kinds={"rna": "coordinates"}).fit({"rna": X, "adt": Y})
    assert model.view_kinds_["rna"].name == "coordinates"
    assert "as given" in model.view_kinds_["rna"].reason
    assert (model.scaling_["rna"], model.scaling_["adt"]) == ("none", "soft")


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"rna": "pca"}, "Unknown kinds='pca'. Choose one of: 'features', 'coordinates'"),
        ({"dna": "counts"}, "kinds names an unknown view 'dna'; the views are 'rna'"),
        ("counts", "kinds='counts' is a str; give a dict"),
    ],
)
def test_wrong_kinds_are_refused(kinds, message, rng):
    with pytest.raises(InputError, match=message):
        OCBR(2, kinds=kinds).fit({"rna": correlated(30, 4, rng)})


def test_coordinates_and_the_features_behind_them_give_nearly_the_same_clusters(rng):
    digits = load_digits(("profile",))
    X = digits.views.arrays[0].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    by_features, by_coordinates = (OCBR(10).fit(Views({"v": table})) for table in (X, (U * s)[:, :50]))
    assert by_coordinates.view_kinds_["v"].name == "coordinates"
    same = pd.crosstab(by_features.labels_, by_coordinates.labels_).to_numpy()
    assert same.max(axis=0).sum() > 0.9 * len(X)
