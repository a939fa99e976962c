"""NUS-WIDE-Object: 30000 web images of 31 kinds of objects in five views, from the files of the distribution."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from manyview.checks import InputError, quoted
from manyview.datasets.folder import MissingDataError, data_folder
from manyview.datasets.record import Dataset
from manyview.io.matlab import read_labelled
from manyview.views.container import Views

NUS_VIEWS = {
    "CH": "64 colour histogram",
    "CM55": "225 block-wise colour moments",
    "CORR": "144 colour correlogram",
    "EDH": "73 edge directions",
    "WT": "128 wavelet texture",
}
PARTS = ("Train", "Test")
MAT_FILES = ("NUS-WIDE-OBJECT_fea.mat", "NUS-WIDE-OBJECT.mat", "nus.mat")
FOLDERS = ("NUS-WIDE-OBJECT", "NUSWIDEOBJ", "nus", ".")
DESCRIPTION = (
    "Flickr images of 31 kinds of objects. T.-S. Chua et al., NUS-WIDE: a real-world web image database, CIVR 2009. "
    "For research; not shipped."
)
HOW_TO = (
    "NUS-WIDE-Object was not found. Get NUS-WIDE-OBJECT.zip (62 MB, "
    "https://lms.comp.nus.edu.sg/wp-content/uploads/2019/research/nuswide/NUS-WIDE.html) and unpack it into the data "
    "folder, so that NUS-WIDE-OBJECT/low level features/ contains a file for each part (Train, Test) and view "
    f"({', '.join(NUS_VIEWS)}), such as Train_Normalized_CH.dat, and NUS-WIDE-OBJECT/ground truth/ a file for each "
    f"concept and part, such as Labels_zebra_Train.txt; or put {MAT_FILES[0]} (cell array X, classes Y) there."
)
LABEL_FILE = re.compile(r"(?:labels?_)?(?P<concept>.+?)_?(?P<part>train|test)\.txt", re.IGNORECASE)


def load_nus(folder: str | Path | None = None) -> Dataset:
    """Load NUS-WIDE-Object from the data folder.

    Training images come first, then test images. An image with several concepts belongs to the first in alphabetical
    order; images without a concept are left out. The views have 64, 225, 144, 73 and 128 features; papers that report
    one more for each view also count the empty column after the trailing space of every line.

    Parameters
    ----------
    folder : path, optional
        The data folder; by default that of the environment variable MANYVIEW_DATA.
    """
    where = data_folder(folder, HOW_TO)
    for name in MAT_FILES:
        if (where / name).is_file():
            cells, classes = read_labelled(where / name)
            return Dataset("nus", Views(cells), classes, DESCRIPTION)
    home = next((where / name for name in FOLDERS if _feature_files(where / name)), None)
    if home is None:
        raise MissingDataError(f"{HOW_TO} Looked in {where}.")
    tables = _read_features(home)
    labels = _read_labels(home, len(next(iter(tables.values()))))
    known = labels >= 0
    return Dataset("nus", Views(tables)[known], labels[known], DESCRIPTION)


def _files(home: Path) -> list[Path]:
    levels = [*home.glob("*"), *home.glob("*/*"), *home.glob("*/*/*")] if home.is_dir() else []
    return sorted(path for path in levels if path.suffix.lower() in (".dat", ".txt") and path.is_file())


def _feature_files(home: Path) -> dict[tuple[str, str], Path]:
    """Map (view, part) to the file whose name contains both words, in any order and case."""
    found = {}
    for path in _files(home):
        words = [word.lower() for word in re.split(r"[^A-Za-z0-9]+", path.stem)]
        if "labels" in words:
            continue
        for view in NUS_VIEWS:
            for part in PARTS:
                # the moments are called CM55 in the archive, CM elsewhere
                if part.lower() in words and {view.lower(), view.lower().rstrip("5")} & set(words):
                    found[view, part] = path
    return found


def _read_features(home: Path) -> dict[str, np.ndarray]:
    files = _feature_files(home)
    missing = [f"{part} {view}" for view in NUS_VIEWS for part in PARTS if (view, part) not in files]
    if missing:
        raise InputError(f"{home} lacks the feature files of {quoted(missing, 10)}. {HOW_TO}")
    tables = {view: [_read_table(files[view, part]) for part in PARTS] for view in NUS_VIEWS}
    for i, part in enumerate(PARTS):
        sizes = {view: len(parts[i]) for view, parts in tables.items()}
        if len(set(sizes.values())) > 1:
            raise InputError(f"{home}: the {part} files have different numbers of images: {sizes}.")
    return {view: np.vstack(parts) for view, parts in tables.items()}


def _read_table(path: Path) -> np.ndarray:
    """Read numbers separated by blanks or tabs; a trailing separator does not add a column."""
    try:
        return np.loadtxt(path, dtype=np.float32, ndmin=2)
    except ValueError as error:
        raise InputError(f"{path} cannot be read as a table of numbers: {error}") from error


def _read_labels(home: Path, n: int) -> np.ndarray:
    """Return the number of the first concept of each image, -1 if it has none."""
    features = set(_feature_files(home).values())
    found: dict[str, dict[str, Path]] = {part.lower(): {} for part in PARTS}
    for path in _files(home):
        match = LABEL_FILE.fullmatch(path.name)
        if match and path not in features and "label" in str(path.relative_to(home)).lower() + _parent(path):
            found[match["part"].lower()][match["concept"].lower()] = path
    concepts = sorted(set(found["train"]) | set(found["test"]))
    lacking = [f"{c} {part}" for c in concepts for part in found if c not in found[part]]
    if not concepts or lacking:
        raise InputError(f"{home} lacks label files{': ' + quoted(lacking) if lacking else ''}. {HOW_TO}")
    members = [np.concatenate([_read_flags(found[part][c]) for part in ("train", "test")]) for c in concepts]
    for concept, flags in zip(concepts, members, strict=True):
        if len(flags) != n:
            raise InputError(f"{home}: there are labels of {concept!r} for {len(flags)} images, but features for {n}.")
    table = np.stack(members, axis=1)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def _parent(path: Path) -> str:
    """Return "label" for files in a folder "ground truth", whose own names may lack that word."""
    return "label" if "truth" in path.parent.name.lower() else ""


def _read_flags(path: Path) -> np.ndarray:
    words = path.read_text(encoding="ascii").split()
    if not set(words) <= {"0", "1"}:
        raise InputError(f"{path} contains values other than 0 and 1; give one line per image.")
    return np.array(words) == "1"
