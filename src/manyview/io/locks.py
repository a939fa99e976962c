"""Locks between processes, on every system; they are released when the process ends."""

from __future__ import annotations

import importlib
import os
from typing import Any

BEYOND = 0x7FFFFFFE  # Windows blocks reading of locked bytes, so a byte beyond the end of any file is locked


def _optional(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


fcntl, msvcrt = _optional("fcntl"), _optional("msvcrt")


def try_lock(handle: int) -> bool:
    """Lock an open file for this process; return False if another process has locked it."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(handle, BEYOND, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True
