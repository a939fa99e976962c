"""Locks between processes, which end with the process, on every system."""

from __future__ import annotations

import importlib
import os
from typing import Any

BEYOND = 0x7FFFFFFE  # Windows keeps others from reading what is locked, so a byte is locked that no file has


def _optional(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


fcntl, msvcrt = _optional("fcntl"), _optional("msvcrt")


def try_lock(handle: int) -> bool:
    """Lock an open file for this process; return whether that worked, or another process has it."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(handle, BEYOND, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True
