"""manyview itself, through the same path as the peers."""

from harness import Method, serve

from manyview import METHODS


def fit(key: str) -> Method:
    return lambda views, k, seed: METHODS[key](k, random_state=seed).fit(views).labels_


methods = {key.upper(): fit(key) for key in ("ocbr", "mfmsc", "ccamsc")}
serve(methods, ["manyview", "scikit-learn", "numpy", "scipy"], form="raw")
