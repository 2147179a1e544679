"""How the refinements hold up outside of the paper's cells: erring people, other priors, masks and sizes.

Run by ``python benchmarks/robustness.py [dogs] [prior] [clusters] [masks] [chain]``; all of them by default. The dogs
need ``BEQUEC_DATA``.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

from bequec import Answers, BeQuec, QueryPlan, match_clusters, plan_queries
from bequec.look import accuracy, mean_squared_error
from bequec.simulate import draw_answers, draw_interactions, simulate_mixed_memberships

Row = tuple[str, str, float, float]  # case, refinement, score, seconds


def learn(answers: Answers, n_clusters: int, refine: str, seed: int) -> tuple[BeQuec, float]:
    started = time.perf_counter()
    model = BeQuec(n_clusters, refine=refine, random_state=seed).fit(answers)
    return model, time.perf_counter() - started


def dogs(trials: int) -> Iterator[Row]:
    """Accuracy with whole pairs flipped up to an error rate, and with part of the answers kept."""
    from bequec.datasets import load_dogs

    data = load_dogs()
    plan, labels = data.answers.plan, data.labels
    yes = np.zeros((900, 900))
    yes[np.ix_(plan.order, plan.order)] = data.answers.yes.toarray()
    asked = np.triu(plan.asked[np.ix_(plan.group_of, plan.group_of)], k=1)
    right = asked & ((labels[:, None] == labels) == (yes > 0))
    for refine in ("subspace", "posterior"):
        for rate in (0.0963, 0.15, 0.20, 0.25):
            rows = []
            for seed in range(trials if rate > 0.1 else 1):
                rng = np.random.default_rng(seed)
                n_flips = max(0, round(rate * asked.sum() - (asked & ~right).sum()))
                flips = np.argwhere(right)[rng.choice(int(right.sum()), n_flips, replace=False)]
                flipped = yes.copy()
                for i, j in ((flips[:, 0], flips[:, 1]), (flips[:, 1], flips[:, 0])):
                    flipped[i, j] = 1 - flipped[i, j]
                model, seconds = learn(Answers.from_counts(plan, flipped), 5, refine, seed)
                rows.append((accuracy(model.labels_, labels), seconds))
            yield f"dogs, {100 * rate:.1f} % wrong: ACC", refine, *np.mean(rows, axis=0).tolist()
        for kept in (0.5, 0.3):
            rows = []
            for seed in range(trials):
                keep = asked & (np.random.default_rng(seed).random(asked.shape) < kept)
                total = (keep | keep.T).astype(float)
                model, seconds = learn(Answers.from_counts(plan, yes * total, total), 5, refine, seed)
                rows.append((accuracy(model.labels_, labels), seconds))
            yield f"dogs, {100 * kept:.0f} % kept: ACC", refine, *np.mean(rows, axis=0).tolist()


def prior(trials: int) -> Iterator[Row]:
    """Memberships half pure, half uniform on an edge of the simplex: the Dirichlet prior is wrong."""

    def draw(seed: int) -> tuple[Answers, np.ndarray]:
        rng = np.random.default_rng(seed)
        plan = plan_queries(2000, 5, n_groups=10, random_state=seed)
        ends = np.array([rng.choice(5, 2, replace=False) for _ in range(2000)])
        share = np.where(rng.random(2000) < 0.5, 1.0, rng.random(2000))[:, None]
        memberships = share * np.eye(5)[ends[:, 0]] + (1 - share) * np.eye(5)[ends[:, 1]]
        return draw_answers(plan, memberships, draw_interactions(5, 0.1, rng), rng), memberships

    yield from compare("a wrong prior: MSE", draw, 5, trials)


def clusters(trials: int) -> Iterator[Row]:
    """Many clusters."""
    for K, L, N, nu in ((10, 20, 6000, 0.2), (12, 8, 3000, 0.1), (16, 5, 3000, 0.15), (20, 4, 3000, 0.1)):

        def draw(seed: int, K: int = K, L: int = L, N: int = N, nu: float = nu) -> tuple[Answers, np.ndarray]:
            plan = plan_queries(N, K, n_groups=L, random_state=seed)
            planted = simulate_mixed_memberships(plan, K, concentration=nu, random_state=seed)
            return planted.answers, planted.memberships

        yield from compare(f"K = {K}, L = {L}, N = {N}, ν = {nu}: MSE", draw, K, trials)


def masks(trials: int) -> Iterator[Row]:
    """Other patterns, random trees with a loop, groups of sizes 1:10, and a wide spread."""

    def planned(pattern: str, n_nodes: int, n_groups: int) -> Callable[[int], QueryPlan]:
        return lambda seed: plan_queries(n_nodes, 5, n_groups=n_groups, pattern=pattern, random_state=seed)

    def tree(seed: int) -> QueryPlan:
        rng = np.random.default_rng(seed)
        blocks = [(int(rng.integers(l)), l) for l in range(1, 10)]
        return QueryPlan(np.arange(2000) % 10, [*blocks, (0, 0)])

    def uneven(seed: int) -> QueryPlan:
        sizes = np.linspace(1, 10, 10)
        group_of = np.random.default_rng(seed).choice(10, 2000, p=sizes / sizes.sum())
        return QueryPlan(group_of, [(l, l) for l in range(10)] + [(l, l + 1) for l in range(9)])

    cases = {
        "reference": planned("reference", 2000, 10),
        "spread": planned("spread", 2000, 10),
        "tree with a loop": tree,
        "groups 1:10": uneven,
        "spread, L = 80, N = 8000": planned("spread", 8000, 80),
    }
    for name, plan_for in cases.items():

        def draw(seed: int, plan_for: Callable[[int], QueryPlan] = plan_for) -> tuple[Answers, np.ndarray]:
            planted = simulate_mixed_memberships(plan_for(seed), 5, random_state=[seed, 1])
            return planted.answers, planted.memberships

        yield from compare(f"{name}: MSE", draw, 5, trials)


def chain(trials: int) -> Iterator[Row]:
    """300 groups of 300 nodes in a chain: relative error at the ends over that of the middle."""
    del trials
    plan = plan_queries(90_000, 5, n_groups=300, random_state=0)
    planted = simulate_mixed_memberships(plan, 5, random_state=0)
    model, seconds = learn(planted.answers, 5, "subspace", 0)
    off = match_clusters(model.memberships_, planted.memberships) - planted.memberships
    errors = [
        float(np.linalg.norm(off[near]) / np.linalg.norm(planted.memberships[near]))
        for near in (plan.group_of < 30, np.abs(plan.group_of - 150) < 15, plan.group_of >= 270)
    ]
    for place, error in zip(("one end", "middle", "other end"), errors, strict=True):
        yield f"chain of 300 groups, {place}: RE", "subspace", error, seconds


def compare(
    case: str, draw: Callable[[int], tuple[Answers, np.ndarray]], n_clusters: int, trials: int
) -> Iterator[Row]:
    scores: dict[str, list[tuple[float, float]]] = {"subspace": [], "posterior": []}
    for seed in range(trials):
        answers, truth = draw(seed)
        for refine, found in scores.items():
            model, seconds = learn(answers, n_clusters, refine, seed)
            found.append((mean_squared_error(model.memberships_, truth), seconds))
    for refine, found in scores.items():
        yield case, refine, *np.mean(found, axis=0).tolist()


CASES = {"dogs": dogs, "prior": prior, "clusters": clusters, "masks": masks, "chain": chain}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--trials", type=int, default=5)
    options = parser.parse_args()
    print(f"{'case':<38} {'refine':>10} {'score':>8} {'s':>7}")
    for name in options.cases:
        for case, refine, score, seconds in CASES[name](options.trials):
            print(f"{case:<38} {refine:>10} {score:>8.4f} {seconds:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
