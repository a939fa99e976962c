"""Tables of text, written as Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """Column names and rows of text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


def to_markdown(table: TextTable) -> str:
    """Write a table in Markdown, padded so that it also reads well as text; only the first column is left-aligned."""
    cells = [[_escape(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    rule = [("-" * width if i == 0 else "-" * (width - 1) + ":") for i, width in enumerate(widths)]
    lines = [_line(row, widths) for row in (cells[0], rule, *cells[1:])]
    return "\n".join(lines) + "\n"


def to_csv(table: TextTable) -> str:
    """Write a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def to_latex(table: TextTable) -> str:
    """Write a table in LaTeX; it needs no packages."""
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in (table.columns, *table.rows)]
    lines = [
        r"\begin{table}",
        rf"\caption{{{_latex(table.caption)}}}",
        r"\begin{center}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
        r"\hline",
        rows[0],
        r"\hline",
        *rows[1:],
        r"\hline",
        r"\end{tabular}",
        r"\end{center}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _escape(cell: str) -> str:
    return cell.replace("|", r"\|").replace("\n", " ")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _latex(cell: str) -> str:
    for plain, escaped in (("\\", r"\textbackslash "), ("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#")):
        cell = cell.replace(plain, escaped)
    for sign, command in (("±", r"$\pm$"), ("−", "$-$"), ("–", "--")):
        cell = cell.replace(sign, command)
    return cell
