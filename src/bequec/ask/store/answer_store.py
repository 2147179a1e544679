"""What a study asks of the place where its answers are kept."""

from typing import Literal, NamedTuple, Protocol

from bequec.ask.answer_table import AnswerTable
from bequec.ask.sorts import SortTable
from bequec.plan.query_plan import QueryPlan


class AnswerRecord(NamedTuple):
    """Every answer so far, what an asked pair means that none of them is about, and every sort.

    ``sorts`` is None where nobody sorted.
    """

    table: AnswerTable
    unlisted: Literal["unanswered", "no"]
    sorts: SortTable | None = None


class AnswerStore(Protocol):
    """Keeps one record of answers and sorts."""

    def has_answers(self) -> bool:
        """Whether there is a record."""

    def read(self, plan: QueryPlan) -> AnswerRecord:
        """The record; an error if there is none, or if it does not belong to the plan."""

    def write(self, record: AnswerRecord, plan: QueryPlan) -> None:
        """Put a record in the place of the earlier one, all of it or none."""

    def changed_at(self) -> float:
        """When the record was written last, in seconds since 1970."""
