"""`manyview cluster`: from users' files to files of results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from manyview.checks import InputError, quoted
from manyview.cli.options import Delimiter, DropText, Files, Force, Header, IdColumn, Out, Truth
from manyview.cli.results import (
    LABELS,
    MODEL,
    REPORT,
    SUMMARY,
    describe,
    label_table,
    outcome_line,
    tell_unmatched,
)
from manyview.cli.terminal import progress, say
from manyview.evaluation.stability import assess_stability
from manyview.io import (
    KEEP,
    TableOptions,
    check_output,
    read_labels,
    read_metadata,
    read_views,
    write_files,
)
from manyview.io.models import to_bytes
from manyview.methods import MultiViewClusterer, get_method
from manyview.methods.base import AUTO
from manyview.report import render_report


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
