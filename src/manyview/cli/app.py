"""The command line. Exit codes: 0 success, 2 wrong usage or bad input, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from manyview._version import __version__
from manyview.checks import InputError, help_line, printable
from manyview.cli import INTERRUPTED
from manyview.cli.bench import bench
from manyview.cli.cluster import EXAMPLES, cluster
from manyview.cli.compare import compare
from manyview.cli.datasets import datasets
from manyview.cli.demo import demo
from manyview.cli.explain import explain
from manyview.cli.methods import methods
from manyview.cli.predict import predict
from manyview.cli.reproduce import reproduce
from manyview.cli.terminal import err, out, print_note

COMMANDS = (methods, datasets, demo, cluster, predict, compare, explain, bench, reproduce)
EPILOGS = {"cluster": EXAMPLES}

app = typer.Typer(
    help="Cluster samples described by several views.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
LONGEST_WORD = 100  # characters that a message shows
COMPLETING = "_MANYVIEW_COMPLETE"  # set by a shell that asks for completions
LONG_LINE = "10000"  # characters
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # from the click inside typer, or from click itself


def main(words: list[str] | None = None) -> None:
    """Run the command line; errors in arguments or input are printed on one line, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # replaced by an object that is not a system stream
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # code pages on Windows lack some characters
    if COMPLETING in os.environ:
        os.environ["COLUMNS"] = LONG_LINE  # a help text that is wrapped would complete to its second line
    try:
        code = app(words, standalone_mode=False)
    except UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        if not message:  # no arguments: the help has been shown
            sys.exit(2)
        fail(f"{' '.join(map(shortened, message.split()))} See '{command_of(error)} --help'.")
    except InputError as error:
        notes = getattr(error, "__notes__", ())
        fail(" ".join((sentence(str(error)) if notes else str(error), *notes)))
    except OSError as error:
        fail(words_of(error))
    except MemoryError as error:
        fail(f"not enough memory; use fewer samples or features, or another method. {error} {help_line('large-data')}")
    sys.exit(code if isinstance(code, int) else 0)


def sentence(message: str) -> str:
    """Return a message that ends like a sentence, also if it quotes a library that ends otherwise."""
    return message if message.endswith((".", "?", "!")) else f"{message}."


def words_of(error: OSError) -> str:
    """Say what the system refused and why, without the number of its error."""
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{shortened(str(error.filename))}: {error.strerror}"


def shortened(word: str) -> str:
    """Return a word, such as a path, with its middle left out if it is longer than a line."""
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD // 2]}...{word[-LONGEST_WORD // 2 :]}"


def command_of(error: Exception) -> str:
    """Return the command that the error is about, as users write it."""
    context = getattr(error, "ctx", None)
    return "manyview" if context is None or context.parent is None else f"manyview {context.info_name}"


def fail(message: str, code: int = 2) -> NoReturn:
    """Print a one-line error and exit."""
    err.print(f"error: {printable(message)}", style="red", markup=False, highlight=False)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def options(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Cluster samples described by several views."""
    if show_version:
        out.print(f"manyview {__version__}", highlight=False)
        raise typer.Exit


class Command(TyperCommand):
    """A command that refuses empty words: as a path, "" would mean the current folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words as usual, unless one of them is empty."""
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        for parameter in self.params:
            words = given.get(parameter.name)
            if words == "" or (isinstance(words, list | tuple) and "" in words):
                option = parameter.param_type_name == "option"
                name = parameter.opts[0] if option else (parameter.metavar or str(parameter.name).upper()).rstrip(".")
                what = "give a value, or leave it out" if option else "leave out the empty word"
                raise UsageError(f"{name} is empty (''); {what}. A variable of the shell may be unset.", ctx)
        return super().parse_args(ctx, args)


def interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that says so when Ctrl-C ends it; those with something to resume say more themselves."""

    @wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            command(*args, **options)
        except KeyboardInterrupt:
            print_note("interrupted")
            raise typer.Exit(INTERRUPTED) from None

    return run


for command in COMMANDS:
    app.command(cls=Command, epilog=EPILOGS.get(command.__name__))(interruptible(command))
