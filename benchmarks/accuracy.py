"""How accurate each refinement is in the paper's synthetic cells: K = 5, L = 10, diagonal pattern.

Run by ``python benchmarks/accuracy.py --nodes 2000 --trials 20 --cells ABCDE``. A run counts as in a wrong basin when
its error is more than twice the median of its cell. Coverage is the share of memberships within 1.645 standard errors.
"""

import argparse
import time

import numpy as np

from bequec import BeQuec, plan_queries
from bequec.learn.matching import best_assignment
from bequec.look import mean_squared_error, rank_correlation, relative_error
from bequec.simulate import simulate_mixed_memberships

CELLS = {
    "A": ([0.2] * 5, 0.1),
    "B": ([0.2] * 4 + [1.0], 0.1),
    "C": ([0.2, 0.5, 1.0, 0.5, 0.2], 0.1),
    "D": ([0.2, 1 / 3, 0.5, 0.2, 1.0], 0.2),
    "E": ([0.2, 1 / 3, 0.5, 0.2, 1.0], 0.3),
}


def trial(cell: str, n_nodes: int, refine: str | None, seed: int) -> dict[str, float]:
    """One draw of a cell, learned once."""
    concentration, between = CELLS[cell]
    plan = plan_queries(n_nodes, 5, n_groups=10, random_state=seed)
    answers, truth, _ = simulate_mixed_memberships(
        plan, 5, concentration=concentration, between=between, random_state=[seed, 1]
    )
    started = time.perf_counter()
    model = BeQuec(5, refine=refine, random_state=seed).fit(answers)
    seconds = time.perf_counter() - started
    learned = model.memberships_
    coverage = np.nan
    if hasattr(model, "memberships_std_"):
        order = best_assignment(learned.T @ truth)
        off = np.abs(learned[:, order] - truth)
        coverage = float(np.mean(off <= 1.645 * model.memberships_std_[:, order]))
    return {
        "MSE": mean_squared_error(learned, truth),
        "RE": relative_error(learned, truth),
        "SRC": rank_correlation(learned, truth),
        "seconds": seconds,
        "coverage": coverage,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--cells", default="ABCDE")
    parser.add_argument("--refine", nargs="+", default=["subspace", "posterior"], help="none, subspace, posterior")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    columns = {
        "cell": 4,
        "refine": 10,
        "MSE": 7,
        "±": 6,
        "median": 7,
        "wrong": 6,
        "RE": 6,
        "SRC": 6,
        "cover": 6,
        "s": 6,
    }
    print(" ".join(f"{name:>{width}}" for name, width in columns.items()))
    for cell in options.cells:
        for name in options.refine:
            refine = None if name == "none" else name
            rows = [trial(cell, options.nodes, refine, options.seed + t) for t in range(options.trials)]
            mse = np.array([row["MSE"] for row in rows])
            mean = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
            print(
                f"{cell:>4} {name:>10} {mse.mean():>7.4f} {mse.std() / len(mse) ** 0.5:>6.4f} {np.median(mse):>7.4f} "
                f"{np.mean(mse > 2 * np.median(mse)):>6.2f} {mean['RE']:>6.3f} {mean['SRC']:>6.3f} "
                f"{mean['coverage']:>6.3f} {mean['seconds']:>6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
