"""Readers that do what damaged files make parsers do."""

import os
import signal
import warnings

import numpy as np
import pandas as pd

from manyview.checks import InputError
from manyview.io.raw_tables import RawTable


def crash(path, keys, options):
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(path, keys, options):
    while True:
        pass


def sleep(path, keys, options):
    signal.pause()


def swell(path, keys, options):
    kept = [np.zeros(2**27) for _ in range(16)]
    return [RawTable("x", kept[0], str(path))]


def leave(path, keys, options):
    os._exit(3)


def refuse(path, keys, options):
    warnings.warn("it looks odd", stacklevel=2)
    raise InputError(f"{path} is odd; give another.")


def mixed(path, keys, options):
    """A table of every type of column, with keys and options in it."""
    frame = pd.DataFrame(
        {
            "whole": [1, 2**60, 3],
            "float": [0.5, np.nan, np.inf],
            "small": np.array([1, 2, 3], dtype=np.float32),
            "flag": [True, False, True],
            "text": ["a", None, "ü"],
            "mixed": ["a", 1, 2.5],
            "class": pd.Categorical(["p", None, "q"]),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "date": pd.to_datetime(["2026-01-05", None, "2026-01-07"]),
            "asked": [*keys, options.header, None],
        }
    )
    table = RawTable("x", frame, str(path), ids=pd.Index(["i", "j", "k"]), features=pd.Index(["f", 2]))
    return [table.with_row_numbers(np.array([2, 3, 7]))]
