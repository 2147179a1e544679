"""What can go wrong. Each message says what is wrong, with the value, and what to do."""

from collections.abc import Sequence


class BequecError(ValueError):
    """Any error that bequec raises on purpose."""


class PlanError(BequecError):
    """The plan is malformed, or cannot identify the memberships."""


class AnswersError(BequecError):
    """The answers are malformed, or do not belong to the plan."""


class ModelError(BequecError):
    """A model cannot be fitted, read or scored as asked."""


class StudyError(BequecError):
    """A study folder lacks something, or must not be overwritten."""


class DataError(BequecError):
    """A data set is not here, or not what it should be."""


class TableError(BequecError):
    """A file is not a table that can be read."""


def shortened(values: Sequence[object], most: int = 8) -> str:
    """A list for an error message: the first few and how many more."""
    text = ", ".join(str(value) for value in values[:most])
    return text if len(values) <= most else f"{text}, … ({len(values)} in all)"
