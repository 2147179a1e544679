"""k-means on the items themselves, which asks nobody."""

from typing import Any, Self

from sklearn.utils.validation import validate_data

from bequec.baselines.estimator import check_count
from bequec.baselines.k_means import N_INIT, best_k_means, hard_memberships
from bequec.learn.estimator import MembershipEstimator, Seed, largest_first
from bequec.learn.inputs import as_generator
from bequec.plan.mask.identifiable import check_n_clusters


class ItemKMeans(MembershipEstimator):
    """k-means on the items' features, e.g. the pixels of photos (``load_pixels``): the BeQuec paper's "k-means (data)".

    What can be had without any answer. Prefer it never, except to show what the answers are worth, or where features
    are so good that nobody needs to be asked.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        The best of so many starts is kept.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> ItemKMeans(2, random_state=0).fit([[0.0, 0.1], [0.1, 0.0], [0.1, 0.1], [5.0, 5.1]]).labels_
    array([0, 0, 0, 1])
    """

    def __init__(self, n_clusters: int, *, n_init: int = N_INIT, random_state: Seed = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def _check(self) -> None:
        check_count("n_init", self.n_init)

    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the items.

        Parameters
        ----------
        X : (n_items, n_features) array or sparse matrix
        y : None
            Ignored, for scikit-learn's interface.
        """
        self._check()
        points = validate_data(self, X, accept_sparse="csr", dtype="float64")
        check_n_clusters(self.n_clusters, points.shape[0])
        labels = best_k_means(points, int(self.n_clusters), as_generator(self.random_state), self.n_init)
        memberships = hard_memberships(labels, int(self.n_clusters))
        self._keep_memberships(memberships, largest_first(memberships))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
