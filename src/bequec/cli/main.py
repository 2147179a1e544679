"""The door: assembles the commands and turns every outcome into words and an exit code.

0 done · 1 a mistake in the input · 2 wrong usage · 3 a bug in bequec · 130 interrupted.
"""

import functools
import io
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import typer

from bequec import __version__
from bequec.cli.ask import ask
from bequec.cli.compare import compare
from bequec.cli.demo import demo
from bequec.cli.hints import hints_for, in_options
from bequec.cli.learn import learn
from bequec.cli.look import look
from bequec.cli.plan import plan
from bequec.cli.reproduce import reproduce
from bequec.cli.say import warn
from bequec.cli.status import status
from bequec.cli.theory import theory
from bequec.core.errors import BequecError


class _InterruptedError(Exception):
    """Ctrl-C on its way out: typer would turn a KeyboardInterrupt into exit code 1."""


def _spoken(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its errors in words for the command line."""

    @functools.wraps(command)
    def run_command(*args: object, **kwargs: object) -> None:
        group: Any = typer.main.get_command(app)
        with hints_for(command.__name__, group.commands):
            try:
                command(*args, **kwargs)
            except KeyboardInterrupt as stop:
                raise _InterruptedError from stop
            except typer.BadParameter as error:
                error.message = in_options(error.message)
                raise
            except BequecError as error:
                error.args = (in_options(str(error)),)
                raise

    return run_command


app = typer.Typer(
    name="bequec",
    help="Find overlapping clusters in a graph that you can only afford to ask about: plan, ask, learn, look.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (plan, ask, status, learn, look, compare, theory, reproduce, demo):
    app.command()(_spoken(_command))


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bequec {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_say_version, is_eager=True, help="Say the version and stop."
    ),
) -> None:
    """Options that need no command."""


def main() -> None:
    """Run one command and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without █ or → shows a question mark instead
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; every outcome becomes an exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _said_once()
        try:
            app(arguments)
        except SystemExit as done:
            return done.code if isinstance(done.code, int) else 0
        except BequecError as error:
            warn(" ".join(str(error).split()))
            return 1
        except (_InterruptedError, KeyboardInterrupt):
            warn("interrupted; every file is whole, as it was or as it should be")
            return 130
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            warn(f"{error.strerror or error}{where}; check the path, its rights and the free space")
            return 1
        except Exception:  # the last door: a bug becomes a log file and a plain sentence
            warn(f"this is a bug in bequec, sorry; the details are in {_write_log()}")
            return 3
    return 0


def _said_once() -> Callable[..., None]:
    """A way to show warnings that says each sentence once, however many fits of a command earn it."""
    said: set[str] = set()

    def show(message: Warning | str, *_args: object, **_kwargs: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            warn(in_options(str(message)))

    return show


def _write_log() -> str:
    with tempfile.NamedTemporaryFile("w", prefix="bequec-", suffix=".log", delete=False, encoding="utf-8") as log:
        log.write(f"bequec {__version__}\n{sys.argv}\n{traceback.format_exc()}")
    return log.name
