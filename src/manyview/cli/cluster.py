"""`manyview cluster`: from the user's files to result files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyview.checks import InputError, check_choice, helped_by
from manyview.cli.about_samples import Samples
from manyview.cli.by_rows import cluster_by_rows, reads_by_rows
from manyview.cli.on_dask import DaskJob
from manyview.cli.options import (
    DASK,
    INPUT,
    METHOD,
    OUTPUT,
    REPORT,
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
    Resume,
    Tls,
    Truth,
    Workers,
    complete_method,
    completing,
    examples,
)
from manyview.cli.parameters import make_model
from manyview.cli.results import (
    ASSOCIATIONS,
    FEATURES,
    MODEL,
    REPORT_PAGE,
    RESULT_FILES,
    DataFacts,
    build_summary,
    label_table,
    outcome_line,
    print_unmatched,
    reading_facts,
    to_csv,
    to_json,
)
from manyview.cli.terminal import print_line, print_written, progress
from manyview.evaluation.batches import check_batches, labels_without_batches
from manyview.evaluation.findings import Questions, column, relate
from manyview.evaluation.markers import find_markers
from manyview.evaluation.overlap import clustered_columns
from manyview.evaluation.stability import Stability, assess_stability
from manyview.evaluation.survival import require_lifelines
from manyview.graphs.affinity import PRECOMPUTED
from manyview.io import (
    SAMPLES,
    TableOptions,
    check_output,
    read_views,
    unused_folder,
    write_files,
)
from manyview.io.models import to_bytes
from manyview.io.results import LABELS, SUMMARY
from manyview.io.tables import check_files
from manyview.methods import MultiViewClusterer
from manyview.preprocessing.kinds import KINDS
from manyview.preprocessing.scaling import SCALINGS
from manyview.report import render_report
from manyview.report.words import findings_sentences
from manyview.typing import Labels
from manyview.views.batches import batch_codes
from manyview.views.container import Views

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = examples(
    {
        INPUT: "manyview cluster rna.h5ad protein=adt.csv -k 8 --samples common",
        METHOD: "manyview cluster a.csv b.csv -k auto -p n_neighbors=20",
        OUTPUT: "manyview cluster a.csv b.csv -k 8 --out results --save",
        REPORT: "manyview cluster a.csv b.csv -k 8 --report --repeats 20",
        DASK: "manyview cluster 'rna=rna/*.parquet' 'adt=adt/*.parquet' -k 20 --dask local",
    }
)


def cluster(
    files: Files,
    *,
    samples: Annotated[
        str,
        typer.Option(
            help="Samples to keep: all, or only the common ones, found in every file.",
            autocompletion=completing(SAMPLES),
            rich_help_panel=INPUT,
        ),
    ] = SAMPLES[0],
    delimiter: Delimiter = "auto",
    header: Header = "auto",
    id_column: IdColumn = "auto",
    drop_text: DropText = False,
    missing: Missing = [],  # noqa: B006
    n_clusters: Annotated[
        str, typer.Option("-k", "--clusters", help="Number of clusters, or auto to choose it.", rich_help_panel=METHOD)
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="Method; see 'manyview methods'.",
            autocompletion=complete_method,
            rich_help_panel=METHOD,
        ),
    ] = "ocbr",
    params: Annotated[
        list[str],
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="A parameter of the method: name=value. May be repeated.",
            rich_help_panel=METHOD,
        ),
    ] = [],  # noqa: B006
    scaling: Annotated[
        list[str],
        typer.Option(
            metavar="SCALING",
            help=f"{', '.join(SCALINGS)}; VIEW=SCALING sets it for one view. May be repeated.",
            autocompletion=completing(SCALINGS),
            rich_help_panel=METHOD,
        ),
    ] = [],  # noqa: B006
    kinds: Annotated[
        list[str],
        typer.Option(
            "--kind",
            metavar="VIEW=KIND",
            help=f"The kind of data in a view: {', '.join(KINDS)}. Detected by default. May be repeated.",
            rich_help_panel=METHOD,
        ),
    ] = [],  # noqa: B006
    seed: Annotated[int, typer.Option(help="Random seed.", rich_help_panel=METHOD)] = 0,
    out_dir: Out = None,
    save: Annotated[
        bool, typer.Option("--save", help=f"Write {MODEL}, for 'manyview predict'.", rich_help_panel=OUTPUT)
    ] = False,
    force: Force = False,
    report: Annotated[
        bool,
        typer.Option("--report", help=f"Write {REPORT_PAGE}, a page with figures and tables.", rich_help_panel=REPORT),
    ] = False,
    truth: Truth = None,
    features: Annotated[
        bool,
        typer.Option(
            "--features",
            help=f"Write {FEATURES}: how each feature differs between clusters.",
            rich_help_panel=REPORT,
        ),
    ] = False,
    metadata: Annotated[
        Path | None,
        typer.Option(
            help=f"Table with more columns about the samples, each tested against the clusters ({ASSOCIATIONS}).",
            rich_help_panel=REPORT,
        ),
    ] = None,
    survival: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="TIME EVENT",
            help="Metadata columns with time and event, to compare survival between clusters.",
            rich_help_panel=REPORT,
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Metadata column with the batch: shifts between batches are removed.",
            rich_help_panel=REPORT,
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(
            min=0,
            help="Cluster a random 80% of the samples this many times, to assess stability.",
            rich_help_panel=REPORT,
        ),
    ] = 0,
    dask: Dask = None,
    workers: Workers = None,
    tls: Tls = None,
    resume: Resume = False,
) -> None:
    """Cluster the samples of one or more files, and write a label for each."""
    out_dir = out_dir or unused_folder(RESULTS)
    check_output(out_dir, RESULT_FILES, force=force)
    options = TableOptions(delimiter, header, id_column, drop_text, missing)
    with helped_by("files"):
        check_choice("samples", samples, SAMPLES)
    model = make_model(method, n_clusters, seed, params, scaling, kinds)
    questions = ask(metadata, survival, batch)
    check_files(truth, metadata)  # before the views are read
    check_has_features(model, features)
    whole = report or features or repeats or metadata is not None  # needs all views in memory
    job = DaskJob(dask, files, out_dir, options, workers=workers, tls=tls, force=force)
    if is_done_in_parts(model, method, job, truth=truth, save=save, resume=resume, whole=bool(whole)):
        return
    seconds: dict[str, float] = {}
    with progress() as show_status:
        show_status("reading")
        loaded = timed("read", seconds, lambda: read_views(files, samples=samples, options=options))
        views = loaded.views
        known = Samples(views.sample_ids, views.n_samples, files)
        labels, about = known.truth(truth), known.metadata(metadata, missing)
        questions.check(about)
        views = with_batches(views, about, questions)
        timed("fit", seconds, lambda: fit(model, views, method, show_status))
        stability = None
        if repeats:
            stability = timed("repeats", seconds, lambda: repeat(model, views, repeats, seed, show_status))
        without = refit_without_batches(model, views, seconds, show_status)
        findings = relate(model.labels_, about, questions, without_batches=without, seed=seed)
        facts = DataFacts.of(loaded, model.n_missing_)
        summary = build_summary(model, method, facts, files, seconds, labels, stability, findings)
        summary |= reading_facts(options, samples)
        contents: dict[str, str | bytes] = {LABELS: label_table(model.to_frame(), stability), SUMMARY: to_json(summary)}
        if findings.associations is not None:
            contents[ASSOCIATIONS] = to_csv(findings.associations)
        if features:
            show_status("comparing features")
            contents[FEATURES] = to_csv(find_markers(model.labels_, views))
        if report:
            show_status("writing the report")
            contents[REPORT_PAGE] = render_report(
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


def is_done_in_parts(
    model: MultiViewClusterer, method: str, job: DaskJob, *, truth: Path | None, save: bool, resume: bool, whole: bool
) -> bool:
    """Run on a Dask cluster, or in blocks of rows, if the options ask for it; return whether they did."""
    if job.address is not None or resume:
        job.cluster(model, method, truth=truth, save=save, resume=resume, whole=whole)
        return True
    if whole or not reads_by_rows(model, job.files):
        return False
    cluster_by_rows(model, method, job.files, job.out_dir, options=job.options, truth=truth, save=save, force=job.force)
    return True


@helped_by("findings")
def ask(metadata: Path | None, survival: tuple[str, str] | None, batch: str | None) -> Questions:
    """Return the questions to ask of the metadata; raise if metadata or a library they need are missing."""
    if metadata is None and (survival is not None or batch is not None):
        asked = (
            f"--survival {' '.join(survival)} names columns"
            if survival is not None
            else f"--batch {batch} names a column"
        )
        raise InputError(f"{asked} of the metadata; add --metadata TABLE.")
    if survival is not None:
        require_lifelines()
    return Questions(survival, batch)


@helped_by("findings#batches")
def with_batches(views: Views, metadata: pd.DataFrame | None, questions: Questions) -> Views:
    """Return the views with the requested batches."""
    if metadata is None or questions.batch is None:
        return views
    texts = check_batches(column(metadata, questions.batch), questions.batch)
    return views.with_batch(batch_codes(texts, views.n_samples, repr(questions.batch), views.sample_ids))


def refit_without_batches(
    model: MultiViewClusterer, views: Views, seconds: dict[str, float], show_status: Callable[[str], None]
) -> Labels | None:
    """Return the labels of a fit that ignores the batches, for comparison; None if there are no batches."""
    if views.batch is None:
        return None
    show_status("clustering again without batches, for comparison")
    labels: Labels = timed("without_batches", seconds, lambda: labels_without_batches(model, views))
    return labels


def check_has_features(model: MultiViewClusterer, wanted: bool) -> None:
    """Raise if features are requested, but the views are affinities, which have none."""
    if wanted and model.get_params().get("affinity") == PRECOMPUTED:
        raise InputError(f"--features cannot be combined with affinity={PRECOMPUTED}: affinities have no features.")


def fit(model: MultiViewClusterer, views: Views, method: str, show_status: Callable[[str], None]) -> None:
    """Fit the model, and show that on the terminal."""
    show_status(f"clustering {views.n_samples} samples, {views.n_views} views, with {method}")
    model.fit(views)


def repeat(
    model: MultiViewClusterer, views: Views, repeats: int, seed: int, show_status: Callable[[str], None]
) -> Stability:
    """Assess the stability of the clusters, and show how many repeats are done."""
    return assess_stability(
        model, views, repeats, seed=seed, on_repeat=lambda done: show_status(f"repeat {done} of {repeats}")
    )


def timed(name: str, seconds: dict[str, float], job: Callable[[], Any]) -> Any:
    """Run a job, and record how long it took."""
    start = time.perf_counter()
    result = job()
    seconds[name] = round(time.perf_counter() - start, 4)
    return result
