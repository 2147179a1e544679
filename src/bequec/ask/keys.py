"""Which rows are the same answer: the keys that an answer is known by.

- A row that names its worker is known by its pair and worker: one person has one answer per pair.
- A row that names only its sheet is known by its pair and sheet; sheet 01 is sheet 1. A sheet is the same sheet
  whether its worker is told or not.
- A row that names neither, but how many answers it stands for, is known by its pair.
- Any other row is known by what it says: the n-th row of a file that says the same of a pair is the n-th such row of
  the record. With ``replace`` it is known by its place: the n-th row of a file about a pair.

A pair is one whole number here, and so is every key.
"""

import numpy as np
import pandas as pd

from bequec.ask.answer_table import AnswerTable
from bequec.ask.columns import sheet_name
from bequec.core.arrays import BoolArray, FloatArray, IntArray

LABEL_STEPS = 1e12  # labels that agree to twelve decimals are the same: earlier versions wrote no more


def first_rows(table: AnswerTable, n_recorded: int, file_of_row: IntArray, *, replace: bool) -> IntArray:
    """For every row the row that holds its answer in the record: itself where the answer is new.

    Parameters
    ----------
    table : AnswerTable
        The record, then the rows that are handed in.
    n_recorded : int
        How many rows the record has; each of them holds an answer, even where earlier versions let one person
        answer a pair twice.
    file_of_row : (n,) whole numbers, never decreasing
        Which file each row is from; the record is a file of its own.
    replace : bool
        Whether rows that do not say whose they are correct those at the same place.
    """
    low, high = np.minimum(table.left, table.right), np.maximum(table.left, table.right)
    pair = _codes(low * (high.max(initial=0) + 1) + high)
    first = np.arange(len(table))
    again = np.flatnonzero(np.bincount(pair)[pair] > 1)  # only where a pair comes twice is there anything to find
    if len(again) == 0 or again[-1] < n_recorded:
        return first
    pair, label, file, recorded = pair[again], table.label[again], file_of_row[again], again < n_recorded
    worker, sheet = (codes.astype(np.int64)[again] for codes in (table.texts("worker").codes, _sheet_codes(table)))
    has_name = (worker >= 0) | (sheet >= 0)
    is_sum = ~has_name & table.says_n_answers[again]
    found = np.arange(len(again))
    at = np.flatnonzero(has_name)
    found[at] = at[_by_name(pair[at], worker[at], sheet[at], recorded[at])]
    at = np.flatnonzero(is_sum)
    found[at] = at[_first_of(pair[at])]
    at = np.flatnonzero(~has_name & ~is_sum)
    found[at] = at[_by_words(pair[at], label[at], file[at], replace)]
    first[again] = again[found]
    first[:n_recorded] = np.arange(n_recorded)
    return first


def _sheet_codes(table: AnswerTable) -> IntArray:
    """The sheet of each row as a whole number, −1 where none is given; 01 is sheet 1."""
    sheets = table.texts("sheet")
    codes, _ = pd.factorize(np.array([sheet_name(text) for text in sheets.categories], dtype=object))
    return np.asarray(np.append(codes, -1)[sheets.codes])


def _by_name(pair: IntArray, worker: IntArray, sheet: IntArray, recorded: BoolArray) -> IntArray:
    """For rows that name a worker or a sheet, the row that holds their answer.

    A row with a worker is known by the first row that holds an answer of this worker, preferably on the same sheet;
    else by the row of its sheet that came without a worker. A row without a worker is known by the first of its
    sheet. Whether a row holds an answer of its own depends in turn on the rows before it, hence the repetition: it
    ends when nothing changes, for most tables at the second look.
    """
    row, named = np.arange(len(pair)), worker >= 0
    of_worker = _codes(_combined(pair, worker))
    of_sheet = of_worker if named.all() else _codes(_combined(pair, sheet))  # not looked at where all have a worker
    # Version 0.1 let one worker answer a pair on two sheets; otherwise the sheet need not be looked at.
    on_two_sheets = np.bincount(of_worker[recorded & named]).max(initial=0) > 1
    of_both = _codes(_combined(of_worker, sheet)) if on_two_sheets else of_worker
    holds = np.ones(len(pair), dtype=bool)
    while True:
        found = _first_among(of_sheet, holds & ~named)
        for known in (
            np.where(named, len(pair), _first_among(of_sheet, holds)),
            _first_among(of_worker, holds & named),
            _first_among(of_both, holds & named),
        ):
            found = np.where(known < row, known, found)
        found = np.where((found < row) & ~recorded, found, row)
        if ((found == row) == holds).all():
            return found
        holds = found == row


def _by_words(pair: IntArray, label: FloatArray, file: IntArray, replace: bool) -> IntArray:
    """For rows that do not say whose they are, the row that holds their answer."""
    if replace:
        return _first_of(_combined(pair, _place_in(_codes(_combined(pair, file)))))
    unsure = np.isnan(label)
    said = _codes(_combined(pair, _codes(np.where(unsure, -1, np.rint(label * LABEL_STEPS)))))
    place = _place_in(_codes(_combined(said, file)))
    key = _codes(_combined(said, place))
    first = _first_among(key, np.ones(len(key), dtype=bool))
    touched = np.bincount(pair, weights=unsure)[pair] > 0
    if touched.any() and not unsure[touched].all():
        at = np.flatnonzero(touched)
        first[at] = at[_with_unsure_answered(pair[at], _codes(key[at]), unsure[at], place[at], file[at])]
    return first


def _with_unsure_answered(
    pair: IntArray, key: IntArray, unsure: BoolArray, place: IntArray, file: IntArray
) -> IntArray:
    """Like ``_by_words``, where somebody was unsure of a pair.

    What a file says beyond the record takes the place of an "unsure" of the pair that the file does not repeat, the
    last one first. The files that speak of a pair are taken one after another, all pairs at once.
    """
    first = np.arange(len(pair))
    turn = _turns(pair, file)
    holder = np.full(key.max() + 1, -1)  # the row that holds the answer under each key
    _, unsure_rows = np.unique(key[unsure], return_index=True)
    unsure_rows = np.flatnonzero(unsure)[unsure_rows]
    unsure_rows = unsure_rows[np.lexsort((-place[unsure_rows], pair[unsure_rows]))]
    for rows in np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn))[:-1]):
        known = holder[key[rows]] >= 0
        first[rows[known]] = holder[key[rows[known]]]
        new = rows[~known]
        repeated = np.zeros(len(holder), dtype=bool)
        repeated[key[rows]] = True
        spare = unsure_rows[(holder[key[unsure_rows]] >= 0) & ~repeated[key[unsure_rows]]]
        answers = new[~unsure[new]]
        match = pd.DataFrame({"pair": pair[answers], "place": _place_in(pair[answers]), "answer": answers}).merge(
            pd.DataFrame({"pair": pair[spare], "place": _place_in(pair[spare]), "spare": spare}), on=["pair", "place"]
        )
        answer, answered = match["answer"].to_numpy(), key[match["spare"].to_numpy()]
        first[answer] = holder[answered]
        holder[answered] = -1
        holder[key[new]] = first[new]
    return first


def _turns(pair: IntArray, file: IntArray) -> IntArray:
    """The how-many-th file that speaks of its pair each row is from, counted from 0."""
    both = _codes(_combined(pair, file))
    _, one_each = np.unique(both, return_index=True)
    return _place_in(pair[one_each])[both]


def _codes(keys: IntArray | FloatArray) -> IntArray:
    """Equal numbers for equal keys, counted from 0 from the smallest on."""
    return np.asarray(np.unique(keys, return_inverse=True)[1])  # numpy sorts whole numbers faster than pandas hashes


def _combined(code: IntArray, other: IntArray) -> IntArray:
    """One key of two; ``other`` may be −1, for missing."""
    return code * (int(other.max(initial=-1)) + 2) + other + 1


def _place_in(codes: IntArray) -> IntArray:
    """The place of each row among those with the same code, counted from 0."""
    if np.bincount(codes).max(initial=0) <= 1:
        return np.zeros(len(codes), dtype=np.int64)
    return np.asarray(pd.Series(codes).groupby(codes).cumcount(), dtype=np.int64)


def _first_of(keys: IntArray) -> IntArray:
    """For each row the first with the same key."""
    codes = _codes(keys)
    return _first_among(codes, np.ones(len(codes), dtype=bool))


def _first_among(codes: IntArray, candidates: BoolArray) -> IntArray:
    """For each row the first candidate with the same code; the number of rows where there is none."""
    first = np.full(int(codes.max(initial=-1)) + 1, len(codes))
    rows = np.flatnonzero(candidates)[::-1]
    first[codes[rows]] = rows  # of several the last assignment stays: the first row
    return np.asarray(first[codes])
