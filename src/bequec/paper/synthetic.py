"""Tables I to IV and the supplement's: G(ε, ν), subspace distances, and memberships of planted graphs."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bequec.evaluate.scores import mean_squared_error, rank_correlation, relative_error, subspace_distance
from bequec.learn.bequec import BeQuec
from bequec.paper.methods import KEYS, PLANTED_METHODS, chosen_titles
from bequec.paper.table import Cell, Options, Table
from bequec.plan.planning import plan_queries
from bequec.plan.theory import separability_constant
from bequec.simulate.mixed_membership import Planted, expected_answers, simulate_mixed_memberships

K, L = 5, 10
SIZES = (2000, 4000, 8000, 10_000)
COMPARED = (
    *("bequec-paper", "geonmf", "mvsi-published", "bnmf-published"),
    *("spacl", "bequec-subspace", "bequec"),
)


@dataclass(frozen=True)
class SeparabilityTable(Table):
    """Table I: the value of G(ε, ν)."""

    options_used = frozenset[str]()
    is_random = False

    def cells(self, options: Options) -> list[Cell]:
        del options
        return [Cell(row, column) for row, column, _ in self.printed]

    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        del seed, options
        return {"G": separability_constant(0.1, [float(nu) for nu in cell.row.split(", ")])}


@dataclass(frozen=True)
class SubspaceTable(Table):
    """Table II: how far the estimated range is from the true one, in the ideal and the binary case."""

    options_used = frozenset({"sizes"})

    def cells(self, options: Options) -> list[Cell]:
        columns = ("Ideal case", "Binary observations", "Binary observations, subspace")
        return [Cell(str(n), column) for n in options.sizes or SIZES for column in columns]

    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        del options
        planted = draw(int(cell.row), (0.2,) * K, 0.1, seed, "random")
        answers, truth, interactions = planted
        if cell.column == "Ideal case":
            # Algorithm 1 needs one pure node of each cluster only for its corners; the range needs none.
            answers = expected_answers(answers.plan, truth, interactions)
        refine = "subspace" if cell.column.endswith("subspace") else None
        started = time.perf_counter()
        model = BeQuec(K, refine=refine, random_state=seed).fit(answers)
        return {"Dist": subspace_distance(model.basis_, truth), "seconds": time.perf_counter() - started}


@dataclass(frozen=True)
class MembershipTable(Table):
    """Tables III, IV and X to XII: errors of the memberships for one ν and η."""

    options_used = frozenset({"sizes", "methods"})
    concentration: tuple[float, ...] = (0.2,) * K
    between: float = 0.1

    def cells(self, options: Options) -> list[Cell]:
        titles = chosen_titles(options.methods, COMPARED)
        return [Cell(str(n), title) for n in options.sizes or SIZES for title in titles]

    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        del options
        answers, truth, _ = draw(int(cell.row), self.concentration, self.between, seed, "diagonal")
        estimator = PLANTED_METHODS[KEYS[cell.column]].make(K, seed)
        started = time.perf_counter()
        learned = estimator.fit(answers).memberships_
        seconds = time.perf_counter() - started
        return {
            "MSE": mean_squared_error(learned, truth),
            "RE": relative_error(learned, truth),
            "SRC": rank_correlation(learned, truth),
            "seconds": seconds,
        }


@lru_cache(maxsize=1)
def draw(n_nodes: int, concentration: tuple[float, ...], between: float, seed: int, pattern: str) -> Planted:
    """One planted graph, the same for all methods."""
    plan = plan_queries(n_nodes, K, n_groups=L, pattern=pattern, random_state=np.random.default_rng([seed, 0]))
    rng = np.random.default_rng([seed, 1])
    return simulate_mixed_memberships(plan, K, concentration=concentration, between=between, random_state=rng)


def by_size(
    columns: Sequence[str], figures: Mapping[int, Mapping[str, Sequence[float]]]
) -> dict[tuple[str, str, str], float]:
    """Printed figures, written as {size: {metric: one figure per column}}, by (row, column, metric)."""
    return {
        (str(size), column, metric): value
        for size, metrics in figures.items()
        for metric, values in metrics.items()
        for column, value in zip(columns, values, strict=True)
    }
