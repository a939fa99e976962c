"""`manyview predict`: assign new samples to the clusters of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from manyview.checks import InputError, plural
from manyview.cli.about_samples import Samples
from manyview.cli.on_dask import DaskJob
from manyview.cli.options import (
    RESULTS,
    Dask,
    Delimiter,
    DropText,
    Files,
    Force,
    Header,
    IdColumn,
    Missing,
    Out,
    Tls,
    Truth,
    Workers,
)
from manyview.cli.results import (
    MODEL,
    RESULT_FILES,
    confidence_facts,
    label_table,
    print_unmatched,
    reading_facts,
    scores_text,
    to_json,
    unmatched_counts,
)
from manyview.cli.terminal import print_line, print_written, progress
from manyview.environment import versions
from manyview.evaluation.metrics import score_labels
from manyview.io import TableOptions, check_output, read_views, unused_folder, write_files
from manyview.io.models import load
from manyview.io.results import LABELS, SUMMARY
from manyview.io.tables import check_files


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help=f"A {MODEL} written by 'manyview cluster --save'.")
    ],
    files: Files,
    out_dir: Out = None,
    truth: Truth = None,
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    id_column: IdColumn = "auto",
    drop_text: DropText = False,
    missing: Missing = [],  # noqa: B006
    dask: Dask = None,
    workers: Workers = None,
    tls: Tls = None,
    force: Force = False,
) -> None:
    """Assign new samples to the clusters of a saved model. Views are matched by name; some may be missing."""
    out_dir = out_dir or unused_folder(RESULTS)
    if model_file.absolute().parent == out_dir.absolute():
        raise InputError(
            f"{out_dir} contains the results of the model {model_file.name}, which would be lost; choose another --out."
        )
    check_output(out_dir, RESULT_FILES, force=force)
    options = TableOptions(delimiter, header, id_column, drop_text, missing)
    check_files(truth)
    job = DaskJob(dask, files, out_dir, options, workers=workers, tls=tls, force=force)
    model = load(model_file)
    if dask is not None:
        job.predict(model, model_file, truth=truth)
        return
    with progress() as show_status:
        show_status("reading")
        loaded = read_views(files, options=options)
        views = loaded.views
        labels = Samples(views.sample_ids, views.n_samples, files).truth(truth)
        show_status(f"assigning {views.n_samples} samples")
        frame = model.to_frame(views)
        found = frame["label"].to_numpy()
        summary: dict[str, Any] = {
            "model": str(model_file),
            "files": list(files),
            "n_samples": views.n_samples,
            "views": list(views.names),
            "views_missing": [name for name in model.view_names_ if name not in views.names],
            "cluster_sizes": np.bincount(found, minlength=model.n_clusters_).tolist(),
            "unmatched": unmatched_counts(loaded),
            "versions": versions(),
            **confidence_facts(frame),
            **reading_facts(options),
        }
        if labels is not None:
            summary["metrics"] = score_labels(labels, found)
        contents = {LABELS: label_table(frame), SUMMARY: to_json(summary)}
        written = write_files(out_dir, contents, force=force, replaces=RESULT_FILES)
    print_unmatched(loaded)
    print_line(
        f"{plural(views.n_samples, 'sample')} assigned to {plural(model.n_clusters_, 'cluster')}{scores_text(summary)}"
    )
    print_written(written)
