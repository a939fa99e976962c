"""`manyview cluster`: from users' files to files of results."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from manyview.checks import InputError, check_choice, check_parameters, quoted
from manyview.cli.options import RESULTS, Delimiter, DropText, Files, Force, Header, IdColumn, Out, Truth
from manyview.cli.results import (
    ASSOCIATIONS,
    FEATURES,
    MODEL,
    REPORT,
    RESULT_FILES,
    build_summary,
    label_table,
    outcome_line,
    print_unmatched,
    to_csv,
    to_json,
)
from manyview.cli.terminal import print_line, print_written, progress
from manyview.evaluation.findings import Questions, relate
from manyview.evaluation.markers import find_markers
from manyview.evaluation.noise import CLEARLY_ABOVE, score_and_noise
from manyview.evaluation.overlap import clustered_columns
from manyview.evaluation.stability import Stability, assess_stability
from manyview.evaluation.survival import require_lifelines
from manyview.graphs.affinity import PRECOMPUTED
from manyview.io import (
    SAMPLES,
    TableOptions,
    check_output,
    read_labels,
    read_metadata,
    read_views,
    unused_folder,
    write_files,
)
from manyview.io.models import to_bytes
from manyview.io.results import LABELS, SUMMARY
from manyview.methods import MultiViewClusterer, get_method
from manyview.methods.base import AUTO
from manyview.preprocessing.kinds import KINDS
from manyview.report import render_report
from manyview.report.words import findings_sentences
from manyview.views.container import Views


def cluster(
    files: Files,
    n_clusters: Annotated[str, typer.Option("-k", "--clusters", help="Number of clusters, or auto.")],
    out_dir: Out = None,
    method: Annotated[str, typer.Option("--method", "-m", help="See 'manyview methods'.")] = "ocbr",
    params: Annotated[list[str], typer.Option("--param", "-p", help="A parameter of the method, name=value.")] = [],  # noqa: B006
    scaling: Annotated[
        list[str],
        typer.Option(help="standard, soft, robust, unit, none or auto; VIEW=SCALING for one view. May be repeated."),
    ] = [],  # noqa: B006
    kinds: Annotated[
        list[str],
        typer.Option("--kind", help=f"What a view is, VIEW=KIND: {', '.join(KINDS)}. By default recognised."),
    ] = [],  # noqa: B006
    samples: Annotated[
        str, typer.Option(help="Samples to keep: all, or the common ones, which are in every file.")
    ] = SAMPLES[0],
    truth: Truth = None,
    report: Annotated[bool, typer.Option("--report", help=f"Write {REPORT}, a page with figures and tables.")] = False,
    features: Annotated[
        bool, typer.Option("--features", help=f"Write {FEATURES}: how every feature differs in every cluster.")
    ] = False,
    metadata: Annotated[
        Path | None,
        typer.Option(help=f"Table about the samples: its columns are tested against the clusters ({ASSOCIATIONS})."),
    ] = None,
    survival: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="TIME EVENT", help="Columns of the metadata, to compare the survival of the clusters."),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of the metadata, to show how batches mix in the clusters."),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=0, help="Cluster random 80 % of the samples this many times, to assess the stability.")
    ] = 0,
    save: Annotated[bool, typer.Option("--save", help=f"Write {MODEL}, for 'manyview predict'.")] = False,
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    id_column: IdColumn = "auto",
    drop_text: DropText = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    force: Force = False,
) -> None:
    """Cluster the samples of one or more files, and write a label for each."""
    out_dir = out_dir or unused_folder(RESULTS)
    check_output(out_dir, RESULT_FILES, force=force)
    options = TableOptions(delimiter, header, id_column, drop_text)
    check_choice("samples", samples, SAMPLES)
    model = make_model(method, n_clusters, seed, params, scaling, kinds)
    questions = ask(metadata, survival, batch)
    if features:
        check_has_features(model)
    seconds: dict[str, float] = {}
    with progress() as show_status:
        show_status("reading")
        loaded = timed("read", seconds, lambda: read_views(files, samples=samples, options=options))
        views = loaded.views
        labels = None if truth is None else read_labels(truth, views.sample_ids, views.n_samples)
        about = None if metadata is None else read_metadata(metadata, views.sample_ids, views.n_samples)
        questions.check(about)
        timed("fit", seconds, lambda: fit(model, views, method, show_status))
        timed("noise", seconds, lambda: caution(model, views, seed, show_status))
        stability = None
        if repeats:
            stability = timed("repeats", seconds, lambda: repeat(model, views, repeats, seed, show_status))
        findings = relate(model.labels_, about, questions, seed=seed)
        summary = build_summary(model, method, loaded, files, seconds, labels, stability, findings)
        contents: dict[str, str | bytes] = {LABELS: label_table(model, stability), SUMMARY: to_json(summary)}
        if findings.associations is not None:
            contents[ASSOCIATIONS] = to_csv(findings.associations)
        if features:
            show_status("comparing features")
            contents[FEATURES] = to_csv(find_markers(model.labels_, views))
        if report:
            show_status("writing the report")
            contents[REPORT] = render_report(
                model,
                views,
                metadata=about,
                findings=findings,
                stability=stability,
                unmatched=loaded.unmatched,
                seed=seed,
            )
        if save:
            contents[MODEL] = to_bytes(model)
        written = write_files(out_dir, contents, force=force, replaces=RESULT_FILES)
    print_unmatched(loaded)
    print_line(outcome_line(model, summary))
    for sentence in findings_sentences(findings, clustered_columns(about, views)):
        print_line(sentence)
    print_written(written)


def ask(metadata: Path | None, survival: tuple[str, str] | None, batch: str | None) -> Questions:
    """Return what to ask of the metadata; refuse options that need these, or a library that is not installed."""
    if metadata is None and (survival is not None or batch is not None):
        option = f"--survival {' '.join(survival)}" if survival is not None else f"--batch {batch}"
        raise InputError(f"{option} names columns of the metadata; add --metadata TABLE.")
    if survival is not None:
        require_lifelines()
    return Questions(survival, batch)


def check_has_features(model: MultiViewClusterer) -> None:
    """Raise if the views are affinities, which have no features to compare."""
    if model.get_params().get("affinity") == PRECOMPUTED:
        raise InputError(f"--features cannot be combined with affinity={PRECOMPUTED}: affinities have no features.")


def make_model(
    method: str, n_clusters: str, seed: int, params: Sequence[str], scaling: Sequence[str], kinds: Sequence[str]
) -> MultiViewClusterer:
    """Make the estimator from the words of the command line."""
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
    if kinds:
        if "kinds" not in known:
            raise InputError(f"--kind {kinds[0]!r} is for ocbr, which treats views by their kind; {method} does not.")
        given["kinds"] = parse_kinds(kinds)
    if n_clusters != AUTO and not n_clusters.isdecimal():
        raise InputError(
            f"-k {n_clusters} is not a valid number of clusters; give a whole number of at least 1, or {AUTO}."
        )
    model = cls(**{"n_clusters": parse_value(n_clusters), "random_state": seed, **given})
    check_parameters(model._rules, model.get_params(deep=False))  # before files are read
    return model


def parse_value(text: str) -> Any:
    """Read a number, true, false, null or a list as JSON; anything else is a string."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def parse_scaling(words: Sequence[str]) -> str | dict[str, str]:
    """Read one scaling for all views, or VIEW=SCALING for some of them."""
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    odd = [word for word in words if not word.rpartition("=")[0]]
    if odd:
        raise InputError(
            f"--scaling {odd[0]!r} is not VIEW=SCALING, but others are; give one scaling for all views, or "
            "VIEW=SCALING each time."
        )
    return {view: way for view, _, way in (word.rpartition("=") for word in words)}


def parse_kinds(words: Sequence[str]) -> dict[str, str]:
    """Read VIEW=KIND for some views."""
    odd = [word for word in words if "=" not in word]
    if odd:
        raise InputError(f"--kind {odd[0]!r} is not VIEW=KIND; the kinds are {quoted(KINDS)}.")
    return {view: kind for view, _, kind in (word.rpartition("=") for word in words)}


def fit(model: MultiViewClusterer, views: Views, method: str, show_status: Callable[[str], None]) -> None:
    """Fit the model, and show its iterations if it reports them."""
    show_status(f"clustering {views.n_samples} samples, {views.n_views} views, with {method}")
    watched = "callback" in model.get_params()
    if watched:
        model.set_params(callback=lambda record: show_status(f"{method}: iteration {int(record['iteration'])}"))
    model.fit(views)
    if watched:
        model.set_params(callback=None)


def caution(model: MultiViewClusterer, views: Views, seed: int, show_status: Callable[[str], None]) -> None:
    """Warn if the number of clusters was chosen by a score that data without clusters reach as well."""
    if model.selection_ is None or model.get_params().get("affinity") == PRECOMPUTED:  # no features to shuffle
        return
    show_status("comparing with shuffled data")
    score, noise = score_and_noise(model, views, seed)
    if score < CLEARLY_ABOVE * noise:
        warnings.warn(
            f"the score of {model.n_clusters_} clusters ({score:.3f}) is no better than on shuffled data "
            f"({noise:.3f}): there may be no clusters, or another number of them.",
            stacklevel=2,
        )


def repeat(
    model: MultiViewClusterer, views: Views, repeats: int, seed: int, show_status: Callable[[str], None]
) -> Stability:
    """Assess the stability of the clusters, and show the number of repeats that are done."""
    return assess_stability(
        model, views, repeats, seed=seed, on_repeat=lambda done: show_status(f"repeat {done} of {repeats}")
    )


def timed(name: str, seconds: dict[str, float], job: Callable[[], Any]) -> Any:
    """Run a job, and record how long it took."""
    start = time.perf_counter()
    result = job()
    seconds[name] = round(time.perf_counter() - start, 4)
    return result
