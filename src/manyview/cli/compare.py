"""`manyview compare`: how results differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from manyview.checks import InputError, helped_by
from manyview.cli.options import Force
from manyview.cli.terminal import print_line, print_table, print_written, progress
from manyview.evaluation.comparison import compare_results
from manyview.io import check_output, unused_folder, write_files
from manyview.io.results import LABELS, read_result
from manyview.io.writing import csv_text
from manyview.report.comparison import comparison_sentences, comparison_table, render_comparison

COMPARISON, PAGE, TABLE = "manyview-comparison", "comparison.html", "comparison.csv"


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help=f"Two or more folders written by 'manyview cluster', or tables of sample ids and labels ({LABELS}). "
            "FILE::COLUMN takes one column of a table.",
            show_default=False,
        ),
    ],
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", "-o", help=f"Folder for {PAGE} and {TABLE}; by default a new one.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Compare results: how well they agree, which samples moved where, and which settings differ."""
    out_dir = out_dir or unused_folder(COMPARISON)
    check_output(out_dir, (PAGE, TABLE), force=force)
    names = result_names(results)
    with progress() as show_status:
        show_status("reading")
        read = dict(zip(names, map(read_result, results), strict=True))
        with helped_by("findings#what-changed-since-the-last-result"):
            comparison = compare_results({name: result.labels for name, result in read.items()})
    page = render_comparison(comparison, {name: result.settings for name, result in read.items()})
    table = csv_text(comparison_table(comparison), index_label="sample")
    written = write_files(out_dir, {PAGE: page, TABLE: table}, force=force)
    rows = [
        (row["first"], row["second"], *(f"{row[name]:.3f}" for name in ("ari", "nmi", "acc")), str(row["moved"]))
        for row in comparison.agreement.to_dict("records")
    ]
    print_table(("result", "compared with", "ARI", "NMI", "ACC", "moved"), rows)
    for sentence in comparison_sentences(comparison):
        print_line(sentence)
    print_written(written)


def result_names(paths: Sequence[Path]) -> list[str]:
    """Name each result after its folder or file, or by its whole path if that is not unique."""
    short = [path.name or str(path) for path in paths]
    names = [name if short.count(name) == 1 else str(path) for name, path in zip(short, paths, strict=True)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]} is given twice; give different results to compare.")
    return names
