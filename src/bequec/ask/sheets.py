"""Question sheets out, as the paper dispatched its pairs: each question on one sheet only."""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from bequec.ask.answer_table import AnswerTable
from bequec.ask.answers import Answers
from bequec.core.arrays import IntArray
from bequec.core.errors import AnswersError
from bequec.plan.pairs import pair_numbers, pairs_numbered, question_numbers
from bequec.plan.query_plan import QueryPlan

MOST_QUESTIONS = 20_000_000
QUESTIONS_AT_ONCE = 2_000_000
COLUMNS = ("sheet", "question", "left", "right", "label")


def unanswered_questions(plan: QueryPlan, answers: Answers | None) -> IntArray:
    """The numbers of the questions that still have no answer."""
    if plan.n_pairs > MOST_QUESTIONS:
        raise AnswersError(
            f"the plan asks {plan.n_pairs} questions, too many for sheets (at most {MOST_QUESTIONS}); "
            "plan with more groups, or ask a graph"
        )
    if answers is None:
        return question_numbers(plan)
    numbers = question_numbers(plan)
    parts = np.array_split(numbers, -(-len(numbers) // QUESTIONS_AT_ONCE) or 1)
    return np.concatenate([part[answers.totals_of(*pairs_numbered(plan, part)) == 0] for part in parts])


def write_sheets(
    folder: str | os.PathLike[str],
    plan: QueryPlan,
    questions: IntArray,
    questions_each: int,
    rng: np.random.Generator,
    first_sheet: int = 1,
) -> int:
    """Deal the questions at random on sheets sheet-0001.csv …, all of them or none; says how many there are.

    At random, so that however few sheets come back, all blocks are answered about evenly. A later round goes beside
    the earlier ones and on counting from ``first_sheet``, so that no two sheets of a study have the same number.
    """
    if questions_each < 1:
        raise AnswersError(f"{questions_each} questions a sheet: give at least 1")
    folder = Path(folder)
    questions = rng.permutation(questions)
    left, right = pairs_numbered(plan, questions)
    sheets = pd.DataFrame(
        {
            "sheet": np.arange(len(questions)) // questions_each + first_sheet,
            "question": questions,
            "left": [plan.name(node) for node in left],
            "right": [plan.name(node) for node in right],
            "label": "",
        },
        columns=list(COLUMNS),
    )
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder, prefix=".new."))
    try:
        for sheet, rows in sheets.groupby("sheet"):
            rows.to_csv(temporary / f"sheet-{sheet:04d}.csv", index=False)
        _move_all(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return int(sheets["sheet"].nunique())


def last_sheet_in(folder: str | os.PathLike[str]) -> int:
    """The largest number of a sheet in a folder, 0 if there is none."""
    numbers = [path.stem.removeprefix("sheet-") for path in Path(folder).glob("sheet-*") if path.is_file()]
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def _move_all(source: Path, target: Path) -> None:
    """Move every file, or none if one of them is there already: somebody may have filled it in."""
    moved: list[Path] = []
    try:
        for path in sorted(source.iterdir()):
            if (target / path.name).exists():
                raise AnswersError(f"{target / path.name} is already there; move it away before new sheets are written")
            moved.append(path.rename(target / path.name))
    except BaseException:
        for path in moved:
            path.unlink()
        raise


def check_sheet(answers: AnswerTable, plan: QueryPlan, row_in_file: IntArray) -> None:
    """Refuse a filled sheet whose question numbers do not fit its pairs: it belongs to another plan."""
    if "question" not in answers.rows:
        return
    questions = answers.rows["question"]
    stated = pd.to_numeric(questions, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(stated != pair_numbers(plan, answers.left, answers.right))
    if len(wrong):
        row = int(wrong[0])
        raise AnswersError(
            f"row {row_in_file[row] + 1}: question {questions.iloc[row]} is not about "
            f"({plan.name(answers.left[row])}, {plan.name(answers.right[row])}) in this study; "
            "is the sheet from another one?"
        )
