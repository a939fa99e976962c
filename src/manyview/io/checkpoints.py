"""Stores the results of each stage of a long fit in files, so that it can resume after an interruption. No pickles."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from manyview.checks import InputError, quoted
from manyview.io.models import load_record, record_bytes, to_bytes
from manyview.io.writing import write_files
from manyview.methods import MultiViewClusterer
from manyview.methods.landmarks.fitting import Stages

IDENTITY, ENDING = "identity.json", ".stage"
T = TypeVar("T")


class FileStages(Stages):
    """Keeps results in a folder: one file per stage, which appears once it is complete.

    Parameters
    ----------
    folder : folder of the checkpoint
    identity : what the results depend on: data, parameters, versions
    resume : whether to use results of an earlier run; raises if that run had a different identity
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = folder
        if not resume:
            shutil.rmtree(folder, ignore_errors=True)
        self._check_identity(json.loads(json.dumps(dict(identity))))

    def once(self, stage: str, compute: Callable[[], T]) -> T:
        """Return the result of a stage from its file, or compute and store it."""
        path = self._path(stage)
        if not path.is_file():
            self.keep(stage, compute())
        return load_record(path)  # even if just written, so that a fit continues from the same numbers either way

    def keep(self, stage: str, result: object) -> None:
        """Write the result of a stage."""
        content = to_bytes(result) if isinstance(result, MultiViewClusterer) else record_bytes(result)
        write_files(self.folder, {self._path(stage).name: content}, force=True)

    @property
    def stages(self) -> list[str]:
        """Return the stages that are done."""
        return sorted(path.stem for path in self.folder.glob(f"*{ENDING}"))

    def remove(self) -> None:
        """Remove the checkpoint: the fit is done."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, stage: str) -> Path:
        return self.folder / f"{stage}{ENDING}"

    def _check_identity(self, identity: dict[str, Any]) -> None:
        path = self.folder / IDENTITY
        if not path.is_file():
            write_files(self.folder, {IDENTITY: json.dumps(identity, indent=2)}, force=True)
            return
        before = json.loads(path.read_text())
        differing = [name for name in {*before, *identity} if before.get(name) != identity.get(name)]
        if differing:
            raise InputError(
                f"{self.folder} belongs to a run with different {quoted(sorted(differing))}; give the same files and "
                "options, or leave out --resume to start again."
            )
