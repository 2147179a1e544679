"""The one place that knows about threads: maps kernels over blocks and reports progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from joblib import Parallel, delayed

from bequec.core.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Mapper:
    """Maps a kernel over items with ``n_jobs`` threads, in order; ``progress(what, done, total)`` hears of it."""

    n_jobs: int | None = None
    progress: Progress | None = None

    def map(self, what: str, kernel: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The kernel's results, in the order of the items, whatever the number of threads."""
        results: list[Result] = []
        running = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(kernel)(item) for item in items
        )
        for result in running:
            results.append(result)
            if self.progress is not None and what:
                self.progress(what, len(results), len(items))
        return results
