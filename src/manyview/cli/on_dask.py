"""`manyview cluster` and `manyview predict` on a Dask cluster: workers read the files and write the labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from manyview.checks import InputError, helped_by, plural
from manyview.cli import INTERRUPTED
from manyview.cli.by_rows import row_facts
from manyview.cli.results import MODEL, RESULT_FILES, build_summary, outcome_line, reading_facts, to_json
from manyview.cli.terminal import print_line, print_note, print_written, progress
from manyview.environment import versions
from manyview.evaluation.findings import Findings
from manyview.io import TableOptions, check_output, write_files
from manyview.io.models import to_bytes
from manyview.io.results import LABELS, SUMMARY
from manyview.io.row_tables import RowTable, group_by_folder, open_row_tables
from manyview.methods import MultiViewClusterer
from manyview.methods.landmarks.strategy import LandmarkStrategy
from manyview.typing import Labels


@dataclass(frozen=True)
class DaskJob:
    """Where to run, on which files, and where the results go."""

    address: str | None
    files: Sequence[str]
    out_dir: Path
    options: TableOptions
    workers: int | None
    tls: tuple[Path, Path, Path] | None
    force: bool

    def __post_init__(self) -> None:
        given = {"--workers": self.workers, "--tls": " ".join(map(str, self.tls or ()))}
        alone = next((f"{option} {value}" for option, value in given.items() if value), None)
        if self.address is None and alone:
            raise InputError(f"{alone} is for a Dask cluster; add --dask local, or the scheduler's address.")

    def cluster(
        self, model: MultiViewClusterer, method: str, *, truth: Path | None, save: bool, resume: bool, whole: bool
    ) -> None:
        """Cluster the samples of the files."""
        self._check(model, method, truth, whole)
        with progress() as show_status, self._ready(show_status) as (client, tables):
            from manyview.distributed.jobs import cluster_files

            show_status(f"clustering {n_samples(tables)} samples, {len(tables)} views, with {method} on {self.address}")
            start = time.perf_counter()
            sizes, labels = cluster_files(model, tables, client, self.out_dir, resume=resume)
            seconds = {"fit": round(time.perf_counter() - start, 4)}
            alone = model.on_landmarks()
            summary = build_summary(
                alone, method, row_facts(model, tables), self.files, seconds, None, None, Findings()
            )
            summary["cluster_sizes"] = padded(sizes, model.n_clusters_)
            written = self._write(summary, {MODEL: to_bytes(alone)} if save else {})
        print_line(outcome_line(alone, summary))
        print_written([labels, *written])

    def predict(self, model: MultiViewClusterer, model_file: Path, *, truth: Path | None) -> None:
        """Assign the samples in the files to the clusters of a model."""
        self._check(model, "", truth, whole=False)
        with progress() as show_status, self._ready(show_status) as (client, tables):
            from manyview.distributed.jobs import predict_files

            show_status(f"assigning {n_samples(tables)} samples on {self.address}")
            sizes, labels = predict_files(model, tables, client, self.out_dir)
            summary: dict[str, Any] = {
                "model": str(model_file),
                "files": list(self.files),
                "n_samples": n_samples(tables),
                "views": list(tables),
                "views_missing": [name for name in model.view_names_ if name not in tables],
                "cluster_sizes": padded(sizes, model.n_clusters_),
                "versions": versions(),
            }
            written = self._write(summary, {})
        print_line(f"{plural(summary['n_samples'], 'sample')} assigned to {plural(model.n_clusters_, 'cluster')}")
        print_written([labels, *written])

    @helped_by("distributed")
    def _check(self, model: MultiViewClusterer, method: str, truth: Path | None, whole: bool) -> None:
        """Refuse what cannot be done on a cluster before anything starts."""
        if self.address is None:
            raise InputError("--resume continues a run on a cluster; add --dask local, or the scheduler's address.")
        if method and not isinstance(model, LandmarkStrategy):
            raise InputError(
                f"--dask works with the methods ocbr and mfmsc, which support landmarks; {method} does not."
            )
        if whole or truth is not None:
            raise InputError(
                "--report, --features, --metadata, --repeats and --truth need all samples in one process; remove them "
                "or --dask."
            )
        if isinstance(model, LandmarkStrategy) and model.strategy == "auto":
            model.set_params(strategy="landmarks")
        from manyview.io.guards import require

        require("distributed", "dask")
        from manyview.distributed.jobs import LABEL_PARTS

        check_output(self.out_dir, (*RESULT_FILES, LABEL_PARTS), force=self.force)

    @contextmanager
    def _ready(self, show_status: Callable[[str], None]) -> Iterator[tuple[Any, dict[str, RowTable]]]:
        """Open the files and connect to the cluster; after an interruption, say how to resume."""
        from manyview.distributed import connect

        assert self.address is not None
        show_status("opening files")
        with helped_by("distributed#supported-input"):
            tables = open_row_tables(group_by_folder(self.files), self.options)
        show_status(f"connecting to {self.address}")
        try:
            with connect(self.address, n_workers=self.workers, tls=self.tls) as client:
                yield client, tables
        except KeyboardInterrupt:
            print_note("interrupted; all tasks were cancelled. Run the same command with --resume to continue")
            raise typer.Exit(INTERRUPTED) from None

    def _write(self, summary: dict[str, Any], more: Mapping[str, bytes]) -> list[Path]:
        replaced = [name for name in RESULT_FILES if name != LABELS]
        (self.out_dir / LABELS).unlink(missing_ok=True)
        return write_files(
            self.out_dir,
            {SUMMARY: to_json(summary | reading_facts(self.options)), **more},
            force=True,
            replaces=replaced,
        )


def n_samples(tables: Mapping[str, RowTable]) -> int:
    """Return the number of samples."""
    return next(iter(tables.values())).shape[0]


def padded(sizes: Labels, n_clusters: int) -> list[int]:
    """Return the size of every cluster, 0 if it is empty."""
    return [int(sizes[k]) if k < len(sizes) else 0 for k in range(n_clusters)]
