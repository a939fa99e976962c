"""Everyone can distinguish the colours from the page and from each other."""

from itertools import combinations

import numpy as np
import pytest

from manyview.report.palette import BACKGROUND, CLUSTERS, STEPS

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
# linear RGB as seen without one kind of cones; Machado, Oliveira and Fernandes 2009, severity 1
SEEN = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# Ottosson's OKLab
TO_CONES = np.array(
    [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069955, 0.10739696], [0.08830246, 0.28171884, 0.6299787]]
)
TO_LAB = np.array(
    [[0.21045426, 0.79361778, -0.00407205], [1.9779985, -2.42859221, 0.45059371], [0.02590404, 0.78277177, -0.80867577]]
)
JUST_TOLD_APART = 0.02


def linear(colour):
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    low, high = sorted(float(linear(colour) @ LUMINANCE) for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def oklab(colour, seen):
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(np.asarray(seen) @ linear(colour), 0, 1))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_clusters_stand_out_from_the_page(theme):
    assert min(contrast(colour, BACKGROUND[theme]) for colour in CLUSTERS[theme]) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("who", SEEN)
def test_clusters_are_told_apart(theme, who):
    seen = [oklab(colour, SEEN[who]) for colour in CLUSTERS[theme]]
    nearest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
    assert nearest > 3 * JUST_TOLD_APART


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_steps_move_away_from_the_page(theme):
    contrasts = [contrast(colour, BACKGROUND[theme]) for colour in STEPS[theme]]
    assert contrasts[0] >= 2
    assert np.all(np.diff(contrasts) > 0.5)
