"""Correlation clustering: as many answers as possible agree with the clusters."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers
from bequec.baselines.estimator import check_count
from bequec.baselines.k_means import hard_memberships
from bequec.core.arrays import FloatArray, IntArray
from bequec.core.progress import Progress
from bequec.learn.estimator import GraphEstimator, Seed
from bequec.learn.state import State

MOST_SWEEPS = 50
MOST_MERGED = 300  # more clusters than this are not merged pair by pair
EMPTY_CLUSTERS = 10  # clusters beyond those found so far that nodes may move to
ROUNDING = 1e-9


class CorrelationClusters(GraphEstimator):
    """Correlation clustering of the answered pairs (Bansal, Blum & Chawla, Mach. Learn. 2004), with at most K clusters.

    Not in the BeQuec paper; what practitioners of crowdsourced matching use. Prefer it when nodes belong to one
    cluster each and answers are right more often than not: it needs no windows, takes any mask, and uses repeated
    answers by their number. It maximizes yes minus no answers inside clusters, so it may leave some of the K clusters
    empty, and where a yes is rare even inside clusters (sparse networks) it is the wrong aim. A node without any
    answer gets uniform memberships.

    Local search in the manner of Louvain: pivots (Ailon, Charikar & Newman, 2008), best moves of nodes, then of whole
    clusters, then merging down to K and best moves again; the best of several starts. The cost follows the yes answers
    and the unanswered pairs, as the "no" answers are group sums, and the clusters that are found on the way.

    Parameters
    ----------
    n_clusters : int
        The most clusters there may be.
    n_init : int
        The best of so many starts is kept.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    agreement_ : float
        The share of answers that agree with the clusters.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat([0, 1, 2], [12, 9, 7])
    >>> CorrelationClusters(3, random_state=0).fit(truth[:, None] == truth).labels_.tolist() == truth.tolist()
    True
    """

    def __init__(self, n_clusters: int, *, n_init: int = 5, random_state: Seed = None) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state

    def _check(self) -> None:
        check_count("n_init", self.n_init)

    def _learn(self, answers: Answers, rng: np.random.Generator, progress: Progress | None) -> State:
        pairs = signed_pairs(answers)
        K = int(self.n_clusters)
        found = []
        for done in range(1, self.n_init + 1):
            found.append(cluster_signed_pairs(pairs, K, rng))
            if progress is not None:
                progress("searching from several starts", done, self.n_init)
        labels = max(found, key=lambda labels: yes_minus_no_inside(pairs, labels))
        n_no = answers.n_answers * (1 - answers.share_yes)
        self.agreement_ = float((yes_minus_no_inside(pairs, labels) + n_no) / answers.n_answers)
        memberships = hard_memberships(labels, K)
        memberships[answers.answers_per_node[answers.plan.order] == 0] = 1.0 / K
        return State(memberships=memberships)


@dataclass(frozen=True)
class SignedPairs:
    """Yes minus no answers between items: w_ij = signed_ij − baseline Σ_gh loads_ig asked_gh loads_jh for i ≠ j.

    ``loads`` counts the nodes of each item in each group. To begin with an item is a node; later it is a cluster.
    """

    signed: sp.csr_array
    loads: sp.csr_array
    asked: FloatArray
    baseline: int

    def joined(self, labels: IntArray) -> "SignedPairs":
        """The pairs between clusters of items; what is inside a cluster is of no more interest."""
        in_cluster = _indicators(labels, int(labels.max()) + 1)
        signed = (in_cluster.T @ self.signed @ in_cluster).tocsr()
        signed.setdiag(0.0)
        signed.eliminate_zeros()
        return SignedPairs(signed, (in_cluster.T @ self.loads).tocsr(), self.asked, self.baseline)


def signed_pairs(answers: Answers) -> SignedPairs:
    """Each node an item: 2 yes − total, the total being the baseline on asked pairs plus the correction."""
    plan = answers.plan
    signed = 2.0 * answers.yes
    if answers.correction is not None:
        signed = signed - answers.correction
    signed = signed.tocsr()
    signed.setdiag(0.0)
    signed.eliminate_zeros()
    loads = _indicators(np.repeat(np.arange(plan.n_groups), plan.sizes), plan.n_groups)
    return SignedPairs(signed, loads, plan.asked.astype(float), answers.baseline)


def cluster_signed_pairs(pairs: SignedPairs, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """One local search for at most ``n_clusters`` clusters of large Σ w inside."""
    labels = pivots(pairs.signed, rng)
    n_found = 0
    while n_found != (n_before := int(labels.max()) + 1):
        labels = _numbered(best_moves(pairs, labels, n_before + EMPTY_CLUSTERS, rng))
        clusters = pairs.joined(labels)
        n_found = clusters.signed.shape[0]
        labels = _numbered(best_moves(clusters, np.arange(n_found), n_found, rng))[labels]
    return best_moves(pairs, merge_down(pairs, labels, n_clusters), n_clusters, rng)


def yes_minus_no_inside(pairs: SignedPairs, labels: IntArray) -> float:
    """Σ w over the pairs inside clusters, each counted once."""
    in_cluster = _indicators(labels, int(labels.max()) + 1)
    signed = (in_cluster * (pairs.signed @ in_cluster)).sum()
    loads = (in_cluster.T @ pairs.loads).toarray()
    with_itself = pairs.loads @ pairs.asked.diagonal()  # an item is a node here: no pair with itself
    asked = np.einsum("kg,gh,kh->", loads, pairs.asked, loads) - with_itself.sum()
    return float(signed - pairs.baseline * asked) / 2


def pivots(signed: sp.csr_array, rng: np.random.Generator) -> IntArray:
    """Each pivot, in random order, takes its neighbors of mostly yes that nobody has taken yet."""
    labels = np.full(signed.shape[0], -1)
    for pivot in rng.permutation(signed.shape[0]):
        if labels[pivot] < 0:
            labels[pivot] = pivot
            row = slice(signed.indptr[pivot], signed.indptr[pivot + 1])
            friends = signed.indices[row][signed.data[row] > 1]  # beyond the baseline's no
            labels[friends[labels[friends] < 0]] = pivot
    return _numbered(labels)


def best_moves(pairs: SignedPairs, labels: IntArray, n_labels: int, rng: np.random.Generator) -> IntArray:
    """Move item after item, in random order, to the cluster of largest Σ w until none gains.

    An empty cluster has Σ w = 0, so an item that is better off alone founds one if some of ``n_labels`` is free.
    """
    labels = labels.copy()
    signed, asked, loads = pairs.signed, pairs.asked, pairs.loads
    # met[g, k]: how many nodes of cluster k a node of group g was asked about.
    met = asked @ (loads.T @ _indicators(labels, n_labels)).toarray()
    own = np.asarray((loads * (loads @ asked)).sum(axis=1)).ravel()
    for _ in range(MOST_SWEEPS):
        n_moves = 0
        for item in rng.permutation(len(labels)).tolist():
            row = slice(signed.indptr[item], signed.indptr[item + 1])
            load = slice(loads.indptr[item], loads.indptr[item + 1])
            groups, sizes = loads.indices[load], loads.data[load]
            here = labels[item]
            gains = np.bincount(labels[signed.indices[row]], weights=signed.data[row], minlength=n_labels)
            gains = gains - pairs.baseline * (sizes @ met[groups])  # bincount of nothing is of whole numbers
            gains[here] += pairs.baseline * own[item]
            there = gains.argmax()
            if gains[there] > gains[here] + ROUNDING:
                moved = sizes @ asked[groups]
                met[:, here] -= moved
                met[:, there] += moved
                labels[item] = there
                n_moves += 1
        if not n_moves:
            break
    return labels


def merge_down(pairs: SignedPairs, labels: IntArray, most: int) -> IntArray:
    """Merge the two clusters with the largest Σ w between them, again and again, until ``most`` are left."""
    n_nodes = np.bincount(labels)
    if len(n_nodes) > MOST_MERGED:  # the smallest begin with the first; best moves place their nodes
        kept = np.argsort(-n_nodes, kind="stable")[:MOST_MERGED]
        renamed = np.zeros(len(n_nodes), dtype=np.int64)
        renamed[kept] = np.arange(MOST_MERGED)
        labels = renamed[labels]
    clusters = pairs.joined(labels)
    loads = clusters.loads.toarray()
    weights = clusters.signed.toarray() - clusters.baseline * (loads @ clusters.asked @ loads.T)
    merged = np.arange(len(weights))
    np.fill_diagonal(weights, -np.inf)
    for _ in range(len(weights) - most):
        first, second = sorted(divmod(int(weights.argmax()), len(weights)))
        weights[first] += weights[second]
        weights[:, first] = weights[first]
        weights[second] = weights[:, second] = -np.inf
        weights[first, first] = -np.inf
        merged[merged == second] = first
    return _numbered(merged)[labels]


def _numbered(labels: IntArray) -> IntArray:
    """The same clusters called 0, 1, …, without gaps."""
    return np.asarray(np.unique(labels, return_inverse=True)[1].ravel(), dtype=np.int64)


def _indicators(labels: IntArray, n_labels: int) -> sp.csr_array:
    """(n, n_labels): one where an item is in a cluster."""
    n = len(labels)
    return sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_labels))
