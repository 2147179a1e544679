"""k-means on the rows of the graph."""

import numpy as np
import scipy.sparse as sp

from bequec.baselines.estimator import WindowedBaseline, check_count
from bequec.baselines.k_means import N_INIT, best_k_means, hard_memberships, last_k_means
from bequec.core.arrays import FloatArray
from bequec.core.errors import ModelError
from bequec.learn.estimator import Seed


class GraphKMeans(WindowedBaseline):
    """k-means on the rows of each window: nodes with similar answers belong together.

    The simplest rival, used as "k-means (graph)" by Vinayak, Oymak & Hassibi (NeurIPS 2014). Prefer it as a yardstick,
    or when clusters do not overlap and each window is small and densely answered. A node without any yes gets uniform
    memberships.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        The best of so many starts is kept.
    as_published : bool
        Keep the last start instead of the best, as the BeQuec paper's experiments did. The last of many starts is as
        good as a single one, so ``n_init`` has no effect then and must not be given.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> GraphKMeans(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(
        self, n_clusters: int, *, n_init: int = N_INIT, as_published: bool = False, random_state: Seed = None
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.as_published = as_published
        self.random_state = random_state

    def _check(self) -> None:
        check_count("n_init", self.n_init)
        if self.as_published and self.n_init != N_INIT:
            raise ModelError(
                f"n_init={self.n_init} has no effect with as_published=True, which keeps one start; omit one"
            )

    def _kernel(self, window: sp.csr_array, rng: np.random.Generator) -> FloatArray:
        """Memberships in the centers c of least Σ_i min_k ‖a_i − c_k‖²."""
        K = int(self.n_clusters)
        rows = with_short_indices(window)
        labels = last_k_means(rows, K, rng) if self.as_published else best_k_means(rows, K, rng, self.n_init)
        return hard_memberships(labels, K)


def with_short_indices(matrix: sp.csr_array) -> sp.csr_array:
    """The same matrix with 32-bit indices, all that scikit-learn takes."""
    indices, starts = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sp.csr_array((matrix.data, indices, starts), shape=matrix.shape)
