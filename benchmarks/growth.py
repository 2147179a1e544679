"""How ``fit`` grows: time and peak memory against the number of asked edges (yes answers).

Run by ``make bench``; ``--refine subspace`` measures that instead of the paper's algorithm. Peak memory is what ``fit``
itself allocates, beside the answers. Ratios are what to look at: the last three columns should not rise as the graph
grows, i.e. cost is linear in the asked edges. "products" is the time of fit in units of one sparse product over the
same answers, measured in the same run.
"""

import argparse
import json
import subprocess
import sys
import time
import tracemalloc

SPARSE = [(10_000, 10), (30_000, 30), (100_000, 100), (300_000, 300), (1_000_000, 1000)]
DENSE = [(1_000, 10), (2_000, 10), (4_000, 10), (8_000, 10)]


def measure(n_nodes: int, n_groups: int, average_degree: float | None, refine: str | None) -> dict[str, float]:
    """Time and memory of one fit, and of one sparse product over the same answers."""
    import numpy as np

    from bequec import BeQuec, plan_queries
    from bequec.look import accuracy
    from bequec.simulate import simulate_clusters, simulate_mixed_memberships

    plan = plan_queries(n_nodes, 5, n_groups=n_groups, random_state=0)
    simulate = simulate_mixed_memberships if average_degree is None else simulate_clusters
    answers, truth, _ = simulate(plan, 5, average_degree=average_degree, random_state=0)
    vectors = np.random.default_rng(0).standard_normal((n_nodes, 5))
    started = time.perf_counter()
    _ = answers.yes @ vectors
    product = time.perf_counter() - started
    started = time.perf_counter()
    model = BeQuec(5, refine=refine, random_state=0).fit(answers)
    seconds = time.perf_counter() - started
    tracemalloc.start()  # a second fit: the tracing would spoil the first one's time
    BeQuec(5, refine=refine, random_state=0).fit(answers)
    _, peak = tracemalloc.get_traced_memory()
    return {
        "edges": answers.yes.nnz / 2,
        "seconds": seconds,
        "products": seconds / product,
        "peak_mb": peak / 2**20,
        "accuracy": accuracy(model.labels_, truth.argmax(axis=1)),
    }


def report(title: str, cases: list[tuple[int, int]], average_degree: float | None, refine: str) -> None:
    """Measure each case in a process of its own and print a table."""
    print(f"\n{title}")
    columns = {
        "N": 9,
        "groups": 6,
        "edges": 12,
        "fit s": 8,
        "peak MB": 8,
        "ACC": 6,
        "µs/edge": 8,
        "products": 9,
        "B/edge": 7,
    }
    print(" ".join(f"{name:>{width}}" for name, width in columns.items()))
    for n_nodes, n_groups in cases:
        command = [
            sys.executable,
            __file__,
            "--one",
            str(n_nodes),
            str(n_groups),
            str(average_degree or 0),
            "--refine",
            refine,
        ]
        row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(
            f"{n_nodes:>9} {n_groups:>6} {row['edges']:>12.0f} {row['seconds']:>8.2f} {row['peak_mb']:>8.0f} "
            f"{row['accuracy']:>6.3f} {1e6 * row['seconds'] / row['edges']:>8.2f} {row['products']:>9.0f} "
            f"{2**20 * row['peak_mb'] / row['edges']:>7.0f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, metavar=("N", "GROUPS", "DEGREE"), help="measure one case, print JSON")
    parser.add_argument("--most", type=int, default=1_000_000, help="the largest graph")
    parser.add_argument("--refine", default="none", choices=["none", "subspace", "posterior"])
    options = parser.parse_args()
    if options.one:
        n_nodes, n_groups, degree = options.one
        refine = None if options.refine == "none" else options.refine
        print(json.dumps(measure(int(n_nodes), int(n_groups), float(degree) or None, refine)))
        return
    report(
        "Sparse graphs: groups of 1000 nodes, 60 yes answers per node",
        [case for case in SPARSE if case[0] <= options.most],
        60,
        options.refine,
    )
    report(
        "The paper's graphs: K = 5, L = 10, about a fifth of the answers yes",
        [c for c in DENSE if c[0] <= options.most],
        None,
        options.refine,
    )


if __name__ == "__main__":
    main()
