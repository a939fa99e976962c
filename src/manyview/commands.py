"""The commands `manyview cluster` and `manyview predict`: from users' files to files of results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from manyview.checks import InputError, quoted
from manyview.environment import versions
from manyview.io import (
    FORMATS,
    KEEP,
    Loaded,
    TableOptions,
    check_output,
    read_labels,
    read_metadata,
    read_views,
    write_files,
)
from manyview.methods import MultiViewClusterer, get_method
from manyview.methods.base import AUTO
from manyview.metrics import score_labels
from manyview.persistence import load, to_bytes
from manyview.report import render_report
from manyview.stability import Stability, assess_stability
from manyview.terminal import note, progress, say
from manyview.views import Views

LABELS, SUMMARY, REPORT, MODEL = "labels.csv", "summary.json", "report.html", "model.manyview"

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...",
        help=f"One table per view, or files that hold several ({', '.join(FORMATS)}). FILE::KEY picks what is in a "
        "file, NAME=FILE names the view.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")]
Truth = Annotated[Path | None, typer.Option(help="True labels, to score the result against.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite results in the folder.")]
Delimiter = Annotated[str, typer.Option(help="Of text files: a character, or tab, comma, semicolon, pipe, space.")]
Header = Annotated[str, typer.Option(help="Whether text files have a line of column names: yes, no, or auto.")]
IdColumn = Annotated[str, typer.Option(help="Column of sample ids: its name, its number from 1, none, or auto.")]
DropText = Annotated[bool, typer.Option("--drop-text", help="Leave out columns of text.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(cluster)
    app.command()(predict)


def cluster(
    files: Files,
    n_clusters: Annotated[str, typer.Option("-k", "--clusters", help="Number of clusters, or auto.")],
    out_dir: Out,
    method: Annotated[str, typer.Option("--method", "-m", help="See 'manyview methods'.")] = "ocbr",
    params: Annotated[list[str], typer.Option("--param", "-p", help="A parameter of the method, name=value.")] = [],  # noqa: B006
    scaling: Annotated[
        list[str], typer.Option(help="standard, robust, unit, none or auto; for one view: VIEW=WAY. May be repeated.")
    ] = [],  # noqa: B006
    samples: Annotated[str, typer.Option(help="Keep all samples of any file, or only the common ones.")] = KEEP[0],
    truth: Truth = None,
    report: Annotated[bool, typer.Option("--report", help=f"Write {REPORT}, a page to look at.")] = False,
    metadata: Annotated[Path | None, typer.Option(help="Table about the samples, to colour the report by.")] = None,
    repeats: Annotated[
        int, typer.Option(min=0, help="Cluster that many random 80 % of the samples again, to see what is stable.")
    ] = 0,
    save: Annotated[bool, typer.Option("--save", help=f"Write {MODEL}, for 'manyview predict'.")] = False,
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    id_column: IdColumn = "auto",
    drop_text: DropText = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    force: Force = False,
) -> None:
    """Cluster the samples of some files, and write the label of each."""
    wanted = [LABELS, SUMMARY, *([REPORT] if report else []), *([MODEL] if save else [])]
    check_output(out_dir, wanted, force=force)
    options = TableOptions(delimiter, header, id_column, drop_text)
    model = make_model(method, n_clusters, seed, params, scaling)
    if metadata is not None and not report:
        raise InputError(f"--metadata {metadata} is for the report; add --report.")
    seconds: dict[str, float] = {}
    with progress() as tell:
        tell("reading")
        loaded = timed("read", seconds, lambda: read_views(files, keep=samples, options=options))
        views = loaded.views
        labels = None if truth is None else read_labels(truth, views.sample_ids, views.n_samples)
        about = None if metadata is None else read_metadata(metadata, views.sample_ids, views.n_samples)
        tell(f"clustering {views.n_samples} samples, {views.n_views} views, with {method}")
        watch(model, lambda sweep: tell(f"{method}: sweep {sweep}"))
        timed("fit", seconds, lambda: model.fit(views))
        watch(model, None)
        stability = None
        if repeats:
            on_repeat: Callable[[int], object] = lambda done: tell(f"repeat {done} of {repeats}")  # noqa: E731
            stability = timed(
                "repeats", seconds, lambda: assess_stability(model, views, repeats, seed=seed, on_repeat=on_repeat)
            )
        summary = describe(model, method, loaded, files, seconds, labels, stability)
        contents: dict[str, str | bytes] = {
            LABELS: label_table(model, stability),
            SUMMARY: json.dumps(summary, indent=2) + "\n",
        }
        if report:
            tell("writing the report")
            contents[REPORT] = render_report(
                model, views, metadata=about, stability=stability, unmatched=loaded.unmatched, seed=seed
            )
        if save:
            contents[MODEL] = to_bytes(model)
        written = write_files(out_dir, contents, force=force)
    tell_unmatched(loaded)
    say(outcome_line(model, summary))
    say("wrote " + ", ".join(map(str, written)))


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL", help=f"A {MODEL} written by 'manyview cluster --save'.")
    ],
    files: Files,
    out_dir: Out,
    truth: Truth = None,
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    id_column: IdColumn = "auto",
    drop_text: DropText = False,
    force: Force = False,
) -> None:
    """Put new samples into the clusters of a saved model. Views are matched by name; some may be missing."""
    check_output(out_dir, (LABELS, SUMMARY), force=force)
    options = TableOptions(delimiter, header, id_column, drop_text)
    model = load(model_file)
    with progress() as tell:
        tell("reading")
        loaded = read_views(files, options=options)
        views = loaded.views
        labels = None if truth is None else read_labels(truth, views.sample_ids, views.n_samples)
        tell(f"placing {views.n_samples} samples")
        found = model.predict(views)
        summary: dict[str, Any] = {
            "model": str(model_file),
            "files": list(files),
            "n_samples": views.n_samples,
            "views": list(views.names),
            "views_missing": [name for name in model.view_names_ if name not in views.names],
            "cluster_sizes": np.bincount(found, minlength=model.n_clusters_).tolist(),
            "unmatched": unmatched_counts(loaded),
            "versions": versions(),
        }
        if labels is not None:
            summary["metrics"] = score_labels(labels, found)
        contents: dict[str, str | bytes] = {
            LABELS: frame_of(views, {"label": found}).to_csv(index_label="sample"),
            SUMMARY: json.dumps(summary, indent=2) + "\n",
        }
        written = write_files(out_dir, contents, force=force)
    tell_unmatched(loaded)
    say(f"{views.n_samples} samples placed in {model.n_clusters_} clusters{scores_text(summary)}")
    say("wrote " + ", ".join(map(str, written)))


# The model -------------------------------------------------------------------------------------------


def make_model(
    method: str, n_clusters: str, seed: int, params: Sequence[str], scaling: Sequence[str]
) -> MultiViewClusterer:
    """Make the estimator from the command line's words."""
    cls = get_method(method)
    known = cls().get_params()
    given = {}
    for word in params:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise InputError(f"--param {word!r} is not name=value with a parameter of {method}: {quoted(known, 20)}.")
        given[name] = parse_value(value)
    if scaling:
        given["scaling"] = parse_scaling(scaling)
    if n_clusters != AUTO and not n_clusters.isdecimal():
        raise InputError(f"-k {n_clusters} is no number of clusters; give a whole number of at least 1, or {AUTO}.")
    return cls(**{"n_clusters": parse_value(n_clusters), "random_state": seed, **given})


def parse_value(text: str) -> Any:
    """Read a number, true/false/null or a list as JSON does; anything else is a word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def parse_scaling(words: Sequence[str]) -> str | dict[str, str]:
    """Read one way for all views, or VIEW=WAY for some of them."""
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    odd = [word for word in words if "=" not in word]
    if odd:
        raise InputError(f"--scaling {odd[0]!r} is not VIEW=WAY, but others are; give one way, or VIEW=WAY each time.")
    return {view: way for view, _, way in (word.rpartition("=") for word in words)}


def watch(model: MultiViewClusterer, on_sweep: Callable[[int], None] | None) -> None:
    """Have the model tell its sweeps, where it has any."""
    if "callback" in model.get_params():
        model.set_params(callback=None if on_sweep is None else lambda record: on_sweep(int(record["iteration"])))


def timed(name: str, seconds: dict[str, float], job: Callable[[], Any]) -> Any:
    """Do a job, and note its seconds."""
    start = time.perf_counter()
    result = job()
    seconds[name] = round(time.perf_counter() - start, 4)
    return result


# The results -----------------------------------------------------------------------------------------


def describe(
    model: MultiViewClusterer,
    method: str,
    loaded: Loaded,
    files: Sequence[str],
    seconds: dict[str, float],
    labels: np.ndarray | None,
    stability: Stability | None,
) -> dict[str, Any]:
    """Everything needed to understand and repeat a result, ready for JSON."""
    params = {name: value for name, value in model.get_params().items() if name != "callback"}
    views = loaded.views
    present = views.present.sum(axis=0)
    summary = {
        "method": method,
        "parameters": params,
        "seed": params["random_state"],
        "files": list(files),
        "n_samples": views.n_samples,
        "n_clusters": model.n_clusters_,
        "views": {
            name: {
                "features": int(X.shape[1]),
                "scaling": model.scaling_[name],
                "samples": int(present[i]),
                "missing_values": model.n_missing_[name],
            }
            for i, (name, X) in enumerate(views.items())
        },
        "imputation": model.imputation_,
        "unmatched": unmatched_counts(loaded),
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters_).tolist(),
        "converged": model.converged_,
        "iterations": model.n_iter_,
        "seconds": seconds,
        "versions": versions(),
    }
    weights = getattr(model, "view_weights_", None)
    if weights is not None:
        summary["view_weights"] = dict(zip(views.names, np.round(weights, 4).tolist(), strict=True))
    if model.selection_ is not None:
        summary["selection"] = {
            name: as_json(getattr(model.selection_, name)) for name in ("candidates", "eigengap", "stability", "chosen")
        }
    if stability is not None:
        summary["stability"] = {
            name: as_json(getattr(stability, name))
            for name in ("repeats", "fraction", "together", "apart", "clusters", "agreement")
        }
    if labels is not None:
        summary["metrics"] = score_labels(labels, model.labels_)
    return summary


def as_json(values: Any) -> Any:
    """Round numbers for a file that is read by people; NaN becomes null."""
    if np.ndim(values):
        return [as_json(value) for value in values]
    number = values.item() if isinstance(values, np.generic) else values
    return (None if np.isnan(number) else round(number, 4)) if isinstance(number, float) else number


def unmatched_counts(loaded: Loaded) -> dict[str, Any]:
    """Return what did not match, ready for JSON."""
    return {name: {"count": some.count, "first": list(some.first)} for name, some in loaded.unmatched.items()}


def tell_unmatched(loaded: Loaded) -> None:
    """Say which samples are not in which view."""
    for name, some in loaded.unmatched.items():
        note(f"note: view {name!r} lacks {some} of the samples")


def label_table(model: MultiViewClusterer, stability: Stability | None) -> str:
    """Return the labels as CSV, with the stability of each sample where it is known."""
    frame = model.to_frame()
    if stability is not None:
        frame["stability"] = stability.samples.round(4)
    return frame.to_csv(index_label="sample")


def frame_of(views: Views, columns: dict[str, Any]) -> Any:
    """Return columns as a DataFrame over the samples."""
    import pandas as pd

    return pd.DataFrame(columns, index=views.sample_ids)


def outcome_line(model: MultiViewClusterer, summary: dict[str, Any]) -> str:
    """Say in a line what came out."""
    chosen = " (chosen)" if model.selection_ is not None else ""
    stable = f", {summary['stability']['together']:.1%} of pairs stay together" if "stability" in summary else ""
    return (
        f"{model.n_clusters_} clusters{chosen} of {summary['n_samples']} samples in {summary['seconds']['fit']:.1f} s"
        f"{scores_text(summary)}{stable}"
    )


def scores_text(summary: dict[str, Any]) -> str:
    """Return the scores, if there are any, to go on a line."""
    return "".join(f", {name.upper()} {value:.3f}" for name, value in summary.get("metrics", {}).items())
