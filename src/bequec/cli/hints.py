"""Library messages name Python parameters; on the command line each becomes the option that says the same."""

import ast
import re
import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# A name that is also an ordinary word, or a symbol of formulas, counts only where "=" follows it.
OPTIONS = {
    "again=": "--again",
    "also=": "--also",
    "answers_per_pair=": "--answers-per-pair",
    "as_published=": "--as-published",
    "balance=": "--balance",
    "budget=": "--budget",
    "confusion=": "--confusion",
    "cost=": "--cost",
    "degree=": "--degree",
    "epsilon=": "--epsilon",
    "failure=": "--failure",
    "folder=": "--study",
    "groups=": "--group-column",
    "hourly_pay": "--hourly-pay",
    "hours_per_day": "--hours-per-day",
    "max_iter": "--max-iter",
    "methods=": "--methods",
    "mixing=": "--mixing",
    "n_clusters=": "-k",
    "n_groups=": "--groups",
    "n_jobs=": "--jobs",
    "n_references": "--references",
    "n_runs=": "--seeds",
    "n_trials=": "--trials",
    "nu=": "--nu",
    "outside=": "--outside",
    "overwrite=": "--overwrite",
    "pattern=": "--pattern",
    "pay_per_answer": "--pay-per-answer",
    "platform_fee": "--fee",
    "random_state=": "--seed",
    "refine=": "--refine",
    "replace=": "--replace",
    "seconds_per_pair": "--seconds-per-pair",
    "sizes=": "--sizes",
    "time_limit": "--time-limit",
    "tol": "--tol",
    "unaskable=": "--unaskable",
    "unlisted=": "--graph",
    "unsure=": "--unsure",
    "workers=": "--workers",
}
"""The option of each Python parameter, as the parameter is written in messages."""
TAKE_A_FILE = {"--cost", "--group-column", "--graph", "--unaskable"}  # where Python takes the value itself

_VALUE = r"""(?:\[[^\]]*\]|'[^']*'|"[^"]*"|(?:None|True|False)\b|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)?"""
_NAMES = "|".join(name if name.endswith("=") else rf"{name}(?:=|\b(?!=))" for name in OPTIONS)
_PARAMETER = re.compile(rf"(?<![\w.-])(?<!\w\()(?P<name>{_NAMES})(?P<value>(?<==){_VALUE})?")


_running: ContextVar[tuple[Collection[str], Collection[str]]] = ContextVar("_running", default=((), ()))


@contextmanager
def hints_for(name: str, commands: dict[str, Any]) -> Iterator[None]:
    """While a command runs, ``in_options`` speaks of its options and those of `bequec plan`."""
    of = {each: {option for one in commands[each].params for option in one.opts} for each in (name, "plan")}
    token = _running.set((of[name], of["plan"]))
    try:
        yield
    finally:
        _running.reset(token)


def in_options(message: str) -> str:
    """The message with the options of the running command in place of Python parameters."""
    return rewritten(message, *_running.get())


def rewritten(message: str, options: Collection[str], of_plan: Collection[str] = ()) -> str:
    """The message for a command with these options.

    What only `bequec plan` takes is said with that command's name, as advice is often to plan otherwise. A parameter
    of neither stays, and so does one whose option the message names already.
    """

    def said(found: re.Match[str]) -> str:
        name = found["name"].removesuffix("=")
        option = OPTIONS.get(f"{name}=") or OPTIONS[name]
        if option not in {*options, *of_plan} or re.search(rf"(?<!\S){option}\b|[(`]{option}\b", message):
            return found[0]
        written = _written(option, found["value"] or "")
        if written is None:
            return found[0]
        return written if option in options else f"`bequec plan … {written}`"

    return _PARAMETER.sub(said, message)


def _written(option: str, value: str) -> str | None:
    """An option with its value as it is typed; None if the value cannot be typed."""
    if option in TAKE_A_FILE or value in ("", "True", "[…]", "[...]"):
        return option
    try:
        meant = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return None
    if meant is None:
        return f"{option} none"
    if isinstance(meant, list) and meant and isinstance(meant[0], tuple):
        return " ".join(f"{option} {shlex.quote(','.join(map(str, one)))}" for one in meant)
    return f"{option} {shlex.quote(','.join(map(str, meant)) if isinstance(meant, list) else str(meant))}"
