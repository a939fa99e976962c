"""The command line. Exit codes: 0 done, 2 usage or bad input, 130 interrupted."""

from __future__ import annotations

import json
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import manyview
from manyview.checks import InputError, quoted
from manyview.experiments.commands import register
from manyview.io import FORMATS, check_output, read_labels, read_views, write_files
from manyview.methods import METHODS, MultiViewClusterer, get_method
from manyview.metrics import score_labels
from manyview.views import Views

app = typer.Typer(
    help="Cluster samples that are described by several views.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out, err = Console(soft_wrap=True), Console(stderr=True, soft_wrap=True)
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # of the click that typer carries, or of click itself
RESULT_FILES = ("labels.csv", "summary.json")


def main(words: list[str] | None = None) -> None:
    """Run the command line; mistakes in words or input are told in one line, without a traceback."""
    try:
        code = app(words, standalone_mode=False)
    except UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        if not message:  # no words at all: the help has been shown
            sys.exit(2)
        fail(f"{message} See 'manyview --help'.")
    except (InputError, OSError) as error:
        fail(str(error))
    sys.exit(code if isinstance(code, int) else 0)


def fail(message: str, code: int = 2) -> NoReturn:
    """Print a one-line error and exit."""
    err.print(f"error: {' '.join(message.split())}", style="red", markup=False, highlight=False)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Cluster samples that are described by several views."""
    if show_version:
        out.print(f"manyview {manyview.__version__}", highlight=False)
        raise typer.Exit


@app.command()
def cluster(
    files: Annotated[list[Path], typer.Argument(help=f"One table per view ({', '.join(FORMATS)}), or one npz.")],
    n_clusters: Annotated[int, typer.Option("-k", "--clusters", help="Number of clusters.")],
    out_dir: Annotated[Path, typer.Option("--out", "-o", help="Folder for labels.csv and summary.json.")],
    method: Annotated[str, typer.Option("--method", "-m", help="See 'manyview methods'.")] = "ocbr",
    params: Annotated[list[str], typer.Option("--param", "-p", help="A parameter of the method, name=value.")] = [],  # noqa: B006
    truth: Annotated[Path | None, typer.Option(help="True labels, to score the result against.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite results in the folder.")] = False,
) -> None:
    """Cluster the samples of some files, and write the label of each."""
    check_output(out_dir, RESULT_FILES, force=force)
    model = make_model(method, n_clusters, seed, params)
    with progress() as say:
        say("reading")
        seconds = {}
        views, seconds["read"] = timed(lambda: read_views(files))
        labels = None if truth is None else read_labels(truth, views.sample_ids, views.n_samples)
        say(f"clustering {views.n_samples} samples, {views.n_views} views, with {method}")
        if "callback" in model.get_params():
            model.set_params(callback=lambda record: say(f"{method}: sweep {int(record['iteration'])}"))
        _, seconds["fit"] = timed(lambda: model.fit(views))
        summary = describe(model, method, views, files, seconds, labels)
        table = model.to_frame().to_csv(index_label="sample")
        written = write_files(
            out_dir, {RESULT_FILES[0]: table, RESULT_FILES[1]: json.dumps(summary, indent=2) + "\n"}, force=force
        )
    scores = "".join(f", {name.upper()} {value:.3f}" for name, value in summary.get("metrics", {}).items())
    out.print(f"{n_clusters} clusters of {views.n_samples} samples in {seconds['fit']:.1f} s{scores}", highlight=False)
    out.print("wrote " + ", ".join(map(str, written)), highlight=False, markup=False)


@app.command()
def methods() -> None:
    """List the clustering methods."""
    show(("key", "name", "what it does"), [(key, cls.__name__, first_line(cls)) for key, cls in METHODS.items()])


@app.command()
def datasets(
    export: Annotated[Path | None, typer.Option(help="Write the digits there: a CSV per view, and labels.csv.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in the folder.")] = False,
) -> None:
    """List the embedded data sets, or write the digits as CSV files to try things on."""
    digits = manyview.load_digits(tuple(manyview.DIGITS_VIEWS))
    if export is not None:
        written = write_files(export, as_csv(digits), force=force)
        out.print("wrote " + ", ".join(map(str, written)), highlight=False, markup=False)
        return
    views = ", ".join(f"{name} {X.shape[1]}" for name, X in digits.views.items())
    shape = f"{digits.views.n_samples} samples, {digits.n_classes} classes; views: {views}"
    show(("name", "shape", "description"), [(digits.name, shape, digits.description)])


@app.command()
def demo(
    out_dir: Annotated[Path, typer.Option("--out", "-o", help="Folder for the labels and the picture.")] = Path(
        "manyview-demo"
    ),
) -> None:
    """Run the main job on embedded data: the UCI digits with a fifth of the entries corrupted."""
    from manyview.demo import NOISE, run_demo, write_demo

    with progress() as say:
        rows = run_demo(on_row=lambda row: say(f"{row.name}: ACC {row.acc:.3f}"))
        written = write_demo(rows, out_dir)
    out.print(f"UCI digits, views Fourier + profile correlations, {NOISE:.0%} of the entries corrupted")
    show(
        ("clustered", "ACC", "NMI", "seconds"),
        [(row.name, f"{row.acc:.3f}", f"{row.nmi:.3f}", f"{row.seconds:.2f}") for row in rows],
    )
    out.print(f"labels: {written[0]}\npicture: {written[1]}", highlight=False, markup=False)


def as_csv(data: manyview.Dataset) -> dict[str, str]:
    """Return a data set as CSV files with sample ids, one per view and one of labels."""
    ids = pd.Index([f"sample{i:04d}" for i in range(data.views.n_samples)], name="id")
    tables = {name: pd.DataFrame(X, index=ids).add_prefix(f"{name}_") for name, X in data.views.items()}
    tables["labels"] = pd.DataFrame({"label": data.labels}, index=ids)
    return {f"{name}.csv": table.to_csv() for name, table in tables.items()}


register(app)  # bench, reproduce


# What the commands share -----------------------------------------------------------------------------


def make_model(method: str, n_clusters: int, seed: int, params: list[str]) -> MultiViewClusterer:
    """Make the estimator from the command line's words."""
    cls = get_method(method)
    known = cls().get_params()
    given = {}
    for word in params:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise InputError(f"--param {word!r} is not name=value with a parameter of {method}: {quoted(known, 20)}.")
        given[name] = parse_value(value)
    return cls(**{"n_clusters": n_clusters, "random_state": seed, **given})


def parse_value(text: str) -> Any:
    """Read a number, true/false/null or a list as JSON does; anything else is a word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def timed(job: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a job, and its seconds."""
    start = time.perf_counter()
    return job(), time.perf_counter() - start


def describe(
    model: MultiViewClusterer,
    method: str,
    views: Views,
    files: list[Path],
    seconds: dict[str, float],
    labels: np.ndarray | None,
) -> dict[str, Any]:
    """Everything needed to understand and repeat a result, ready for JSON."""
    params = {name: value for name, value in model.get_params().items() if name != "callback"}
    summary = {
        "method": method,
        "parameters": params,
        "seed": params["random_state"],
        "files": [str(path) for path in files],
        "n_samples": views.n_samples,
        "views": {name: {"features": int(X.shape[1]), "scaling": model.scaling_[name]} for name, X in views.items()},
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters).tolist(),
        "converged": model.converged_,
        "iterations": model.n_iter_,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("manyview", "numpy", "scipy", "scikit-learn")},
    }
    if labels is not None:
        summary["metrics"] = score_labels(labels, model.labels_)
    return summary


def first_line(cls: type) -> str:
    """Return the first sentence of a class's docstring."""
    return (cls.__doc__ or "").strip().splitlines()[0]


def show(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table: drawn on a terminal, as plain aligned columns in a pipe."""
    if not out.is_terminal:
        widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        for row in (columns, *rows):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            out.print(line.rstrip(), highlight=False, markup=False)
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    out.print(table)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show what is being done, on a terminal only; warnings become one-line notes on stderr."""
    with (
        warnings.catch_warnings(record=True) as caught,
        Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=not err.is_terminal,
        ) as bar,
    ):
        warnings.simplefilter("always")
        task = bar.add_task("starting")
        yield lambda text: bar.update(task, description=text)
    for warning in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)):
        err.print(f"warning: {warning}", style="yellow", markup=False, highlight=False)
