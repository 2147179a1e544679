"""ask: collect the answers."""

from bequec.ask.answer_table import AnswerTable
from bequec.ask.answers import Answers
from bequec.ask.graph import ask_graph
from bequec.ask.sorts import SortTable
from bequec.ask.tables import answers_from_table, answers_from_tables, answers_to_table
from bequec.core.tables import read_table

__all__ = [
    "AnswerTable",
    "Answers",
    "SortTable",
    "answers_from_table",
    "answers_from_tables",
    "answers_to_table",
    "ask_graph",
    "read_table",
]
