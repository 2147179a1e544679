"""What adding answers to a study costs, in units of what pandas takes to read the file.

Adding a million rows should stay below five units, whether the study is empty or holds a million rows. CPU time is
compared, so that a busy machine does not change the ratios.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from bequec import QueryPlan
from bequec.plan.pairs import pairs_numbered
from bequec.study import Study

N_NODES, N_GROUPS, QUESTIONS_EACH = 5000, 10, 500


def measure(folder: Path, n_rows: int, columns: list[str]) -> list[tuple[str, float]]:
    """CPU seconds of reading a file of answers, and of each step that adds such files to a study."""
    near = np.abs(np.subtract.outer(np.arange(N_GROUPS), np.arange(N_GROUPS))) <= 1
    names = [f"photo-{node:05d}.jpg" for node in range(N_NODES)]
    plan = QueryPlan(np.arange(N_NODES) % N_GROUPS, near, names=names)
    rng = np.random.default_rng(0)
    left, right = pairs_numbered(plan, rng.permutation(plan.n_numbers)[: 2 * n_rows])
    row = np.arange(2 * n_rows)
    rows = pd.DataFrame(
        {
            "left": np.array(names)[left],
            "right": np.array(names)[right],
            "label": rng.choice(["same", "different", "unsure"], 2 * n_rows, p=[0.3, 0.67, 0.03]),
            "worker": pd.Series(row // QUESTIONS_EACH).map("w{:05d}".format),
            "sheet": row // 120,
        }
    )[["left", "right", "label", *columns]]
    first, second, later = folder / "first.csv", folder / "second.csv", folder / "later.csv"
    rows.iloc[:n_rows].to_csv(first, index=False)
    rows.iloc[n_rows:].to_csv(second, index=False)
    rows.iloc[n_rows:].replace({"label": {"unsure": "same"}}).to_csv(later, index=False)
    study = Study.create(folder / "study", plan, pd.DataFrame({"name": names}), 5)
    unit = min(cpu_seconds(lambda: pd.read_csv(first, dtype=str)) for _ in range(3))
    steps = {
        "to an empty study": lambda: study.add_answers([first]),
        "to as many rows": lambda: study.add_answers([second]),
        "the same file again": lambda: study.add_answers([second]),
        "unsure answered": lambda: study.add_answers([later]),
        "summed for learning": study.answers,
    }
    return [("read_csv", unit), *((what, cpu_seconds(step)) for what, step in steps.items())]


def cpu_seconds(work: Callable[[], object]) -> float:
    """How long the processor works."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    for columns in (["worker", "sheet"], ["sheet"], []):
        print(", ".join(["columns left", "right", "label", *columns]))
        with tempfile.TemporaryDirectory() as folder:
            (_, unit), *steps = measure(Path(folder), arguments.rows, columns)
        print(f"  {unit:5.2f} s to read the file")
        for what, seconds in steps:
            print(f"  {seconds:5.2f} s {seconds / unit:5.1f} x  {what}")


if __name__ == "__main__":
    main()
