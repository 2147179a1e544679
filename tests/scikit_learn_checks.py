"""scikit-learn's checks of estimators that take a graph: which of them cannot pass, and why."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import estimator_checks

ONE_CLUSTER = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_methods_subset_invariance",
    ],
    "sets n_clusters=1, which is refused: there is nothing to tell apart",
)
NOT_A_GRAPH = {
    "check_clustering": "feeds points, although the tags say pairwise",
    "check_estimators_pickle": "makes one of the two entries of a pair NaN, which is refused: fill in both or neither",
    **ONE_CLUSTER,
}


@contextmanager
def graphs_instead_of_inner_products() -> Iterator[None]:
    """For pairwise estimators the checks turn points into inner products; here into a graph of near neighbours."""

    def neighbors(X, Y):
        near = rbf_kernel(X, Y, gamma=1 / X.shape[1] / max(X.var(), 1e-12)) > 0.3
        return (near | near.T).astype(X.dtype)

    with mock.patch.object(estimator_checks._enforce_estimator_tags_X, "__defaults__", (None, neighbors)):
        yield
