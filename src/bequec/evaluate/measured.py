"""How long a piece of work takes, and how much memory it adds at its peak."""

import ctypes
import gc
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

import psutil

SECONDS_BETWEEN_LOOKS = 0.005


class Measured:
    """Use as ``with Measured() as work: …``; then ``work.seconds`` and ``work.peak_mb``.

    Peak memory is looked up every few milliseconds, as tracing every allocation would double the time; it is what
    the process grew by.
    """

    seconds: float = 0.0
    peak_mb: float = 0.0

    def __enter__(self) -> Self:
        give_back_memory()
        self._process = psutil.Process()
        self._before = self._peak = self._process.memory_info().rss
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        self._started = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = time.perf_counter() - self._started
        self._done.set()
        self._watcher.join()
        self._look()
        self.peak_mb = max(0, self._peak - self._before) / 2**20

    def _watch(self) -> None:
        while not self._done.wait(SECONDS_BETWEEN_LOOKS):
            self._look()

    def _look(self) -> None:
        self._peak = max(self._peak, self._process.memory_info().rss)


def give_back_memory() -> None:
    """Return what earlier work has freed to the system, so that using it again counts; not every C library can."""
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
