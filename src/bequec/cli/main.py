"""The door: assembles the commands and turns every error into words and an exit code.

0 done · 1 a mistake in the input · 2 wrong usage · 3 a bug in bequec · 130 interrupted.
"""

import sys
import tempfile
import traceback
import warnings

import click
import typer

from bequec import __version__
from bequec.cli.ask import ask
from bequec.cli.demo import demo
from bequec.cli.learn import learn
from bequec.cli.look import look
from bequec.cli.plan import plan
from bequec.cli.say import warn
from bequec.cli.status import status
from bequec.errors import BequecError

app = typer.Typer(
    name="bequec",
    help="Find overlapping clusters in a graph that you can only afford to ask about: plan, ask, learn, look.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (plan, ask, status, learn, look, demo):
    app.command()(command)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Say the version and stop.")) -> None:
    if version:
        typer.echo(f"bequec {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run one command; every outcome becomes an exit code."""
    warnings.showwarning = lambda message, *_args, **_kwargs: warn(str(message))
    try:
        result = app(arguments, standalone_mode=False)
    except BequecError as error:
        typer.echo(f"bequec: {' '.join(str(error).split())}", err=True)
        return 1
    except click.exceptions.NoArgsIsHelpError as asked_for_help:
        asked_for_help.show()
        return 2
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        typer.echo("bequec: interrupted; files are whole as they were", err=True)
        return 130
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        typer.echo(f"bequec: {error.strerror or error}{where}; check the path, its rights and the free space", err=True)
        return 1
    except Exception:  # the last door: a bug becomes a log file and a plain sentence
        with tempfile.NamedTemporaryFile("w", prefix="bequec-", suffix=".log", delete=False, encoding="utf-8") as log:
            log.write(f"bequec {__version__}\n{sys.argv}\n{traceback.format_exc()}")
        typer.echo(f"bequec: this is a bug in bequec, sorry; the details are in {log.name}", err=True)
        return 3
    return result if isinstance(result, int) else 0
