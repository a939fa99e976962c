"""Animals with Attributes: 50 kinds of animals in six views, from the files of the distribution."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from manyview.checks import InputError, check_int
from manyview.datasets.folder import MissingDataError, data_folder, find_folder
from manyview.datasets.record import Dataset
from manyview.io.matlab import read_labelled
from manyview.views.container import Views

AWA_VIEWS = {
    "cq-hist": "2688 colours",
    "lss-hist": "2000 local self-similarities",
    "phog-hist": "252 pyramid HOG",
    "rgsift-hist": "2000 colour SIFT",
    "sift-hist": "2000 SIFT",
    "surf-hist": "2000 SURF",
}
SAMPLE, MAT_FILES = "awa_4000_5view.npz", ("AwA_fea.mat", "AwA.mat", "awa.mat")
DESCRIPTION = (
    "Photographs of 50 kinds of animals. C. Lampert, H. Nickisch, S. Harmeling, Learning to detect unseen object "
    "classes by between-class attribute transfer, CVPR 2009. For research; not shipped."
)
HOW_TO = (
    "Animals with Attributes (AwA) was not found. Get the feature archives of version 1 (AwA-features-cq.tar.bz2, "
    "-lss, -phog, -rgsift, -sift, -surf; http://attributes.kyb.tuebingen.mpg.de, now https://cvml.ista.ac.at/AwA) and "
    "unpack them all in the data folder, so that it contains "
    "Animals_with_Attributes/Features/cq-hist/antelope/antelope_0001.txt and so on; or put "
    f"{MAT_FILES[0]} (cell array X, classes Y) or {SAMPLE} (arrays view_0, ..., labels) there."
)


def load_awa(folder: str | Path | None = None, per_class: int = 80, seed: int = 0) -> Dataset:
    """Load AwA from the data folder: 80 random images of each class, as in the paper.

    Parameters
    ----------
    folder : path, optional
        The data folder; by default the environment variable MANYVIEW_DATA. The first of these that exists is read: the
        sample of 4000 images in 5 views (an npz file, used whole), a .mat file, or the folders of the distribution,
        ``Features/<feature>/<class>/<class>_0001.txt``.
    per_class : int, default=80
        Number of images to draw from each class.
    seed : int, default=0
        Seed of the draw; the same seed gives the same images.

    Returns
    -------
    Dataset
        The images and their classes.
    """
    check_int("per_class", per_class, minimum=1)
    where = data_folder(folder, HOW_TO)
    if (where / SAMPLE).is_file():
        return _read_sample(where / SAMPLE)
    for name in MAT_FILES:
        if (where / name).is_file():
            tables, labels = read_labelled(where / name)
            return _thin(Dataset("awa", Views(tables), labels, DESCRIPTION), per_class, seed)
    features = find_folder(where, "Features")
    if features is None or not any((features / view).is_dir() for view in AWA_VIEWS):
        raise MissingDataError(f"{HOW_TO} Looked in {where}.")
    return _read_features(features, per_class, seed)


def _read_sample(path: Path) -> Dataset:
    with np.load(path, allow_pickle=False) as archive:
        keys = sorted(key for key in archive.files if key.startswith("view_") and key[5:].isdigit())
        names = archive["view_names"].tolist() if "view_names" in archive.files else keys
        views = Views([archive[key] for key in keys], names=names)
        return Dataset("awa", views, archive["labels"], f"{DESCRIPTION} Sample of 4000 images, without the CQ view.")


def _thin(data: Dataset, per_class: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    rows = [_draw(np.flatnonzero(data.labels == one), per_class, rng) for one in np.unique(data.labels)]
    chosen = np.concatenate(rows)
    return Dataset(data.name, data.views[chosen], data.labels[chosen], data.description)


def _draw(items: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.choice(items, min(size, len(items)), replace=False))


def _read_features(folder: Path, per_class: int, seed: int) -> Dataset:
    """Draw from the images present in every view, and read only those."""
    missing = [view for view in AWA_VIEWS if not (folder / view).is_dir()]
    if missing:
        raise InputError(f"{folder} lacks the views {', '.join(missing)}; unpack their archives as well.")
    first = folder / next(iter(AWA_VIEWS))
    rng = np.random.default_rng(seed)
    drawn, labels = [], []
    for label, kind in enumerate(sorted(path.name for path in first.iterdir() if path.is_dir())):
        images = [{path.stem for path in (folder / view / kind).glob("*.txt")} for view in AWA_VIEWS]
        shared = sorted(set.intersection(*images))
        if not shared:
            raise InputError(f"{folder}: the class {kind!r} has no image in all of the views {', '.join(AWA_VIEWS)}.")
        chosen = _draw(np.array(shared), per_class, rng)
        drawn += [(kind, str(stem)) for stem in chosen]
        labels += [label] * len(chosen)
    tables = {view: _read_view(folder / view, drawn) for view in AWA_VIEWS}
    return Dataset("awa", Views(tables, sample_ids=[stem for _, stem in drawn]), np.array(labels), DESCRIPTION)


def _read_view(folder: Path, images: list[tuple[str, str]]) -> np.ndarray:
    rows = [_read_vector(folder / kind / f"{stem}.txt") for kind, stem in images]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        odd = next(image for image, row in zip(images, rows, strict=True) if len(row) != len(rows[0]))
        raise InputError(
            f"{folder / odd[0] / odd[1]}.txt does not have {len(rows[0])} values, as {images[0][1]}.txt does."
        )
    return np.stack(rows)


def _read_vector(path: Path) -> np.ndarray:
    try:
        return np.array(path.read_text(encoding="ascii").split(), dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{path} contains values that are not numbers: {error}") from error
