"""Correlation clustering: as many answers as possible agree with the clusters."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bequec.ask.answers import Answers, FloatArray
from bequec.baselines.estimator import GraphBaseline, Seed, check_count
from bequec.baselines.k_means import hard_memberships
from bequec.plan.query_plan import IntArray

MOST_SWEEPS = 50
MOST_MERGED = 300  # more clusters than this are not merged pair by pair
ROUNDING = 1e-9


class CorrelationClusters(GraphBaseline):
    """Correlation clustering of the answered pairs (Bansal, Blum & Chawla, Machine Learning 2004), with at most K parts.

    Not in the BeQuec paper; what practitioners of crowdsourced matching use. Prefer it when nodes belong to one
    cluster each and answers are right more often than not: it needs no windows, takes any mask, and uses repeated
    answers by their number. It maximises yes minus no answers inside clusters, so it may leave some of the K clusters
    empty, and where a yes is rare even inside clusters (sparse networks) it is the wrong aim. A node without any
    answer gets uniform memberships.

    Local search in the manner of Louvain: pivots (Ailon, Charikar & Newman, 2008), best moves of nodes, then of whole
    clusters, then merging down to K and best moves again; the best of several starts. The cost follows the yes answers
    and the unanswered pairs: the "no" answers are group sums.

    Parameters
    ----------
    n_clusters : int
        The most clusters there may be.
    n_starts : int
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

    def __init__(self, n_clusters: int, *, n_starts: int = 10, random_state: Seed = None) -> None:
        self.n_clusters = n_clusters
        self.n_starts = n_starts
        self.random_state = random_state

    def _check(self) -> None:
        check_count("n_starts", self.n_starts)

    def _learn(self, answers: Answers, rng: np.random.Generator) -> FloatArray:
        pairs = signed_pairs(answers)
        K = int(self.n_clusters)
        found = [cluster_signed_pairs(pairs, K, rng) for _ in range(self.n_starts)]
        labels = max(found, key=lambda labels: yes_minus_no_inside(pairs, labels))
        n_no = answers.n_answers * (1 - answers.share_yes)
        self.agreement_ = float((yes_minus_no_inside(pairs, labels) + n_no) / answers.n_answers)
        memberships = hard_memberships(labels, K)
        memberships[answers.answers_per_node[answers.plan.order] == 0] = 1.0 / K
        return memberships


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
        n = len(labels)
        in_cluster = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, labels.max() + 1))
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
    n = plan.n_nodes
    groups = np.repeat(np.arange(plan.n_groups), plan.sizes)
    loads = sp.csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, plan.n_groups))
    return SignedPairs(signed, loads, plan.asked.astype(float), answers.baseline)


def cluster_signed_pairs(pairs: SignedPairs, most: int, rng: np.random.Generator) -> IntArray:
    """One local search for at most ``most`` clusters of large Σ w inside."""
    labels = _numbered(best_moves(pairs, pivots(pairs.signed, rng), rng))
    while True:
        clusters = pairs.joined(labels)
        moved = _numbered(best_moves(clusters, np.arange(clusters.signed.shape[0]), rng))
        if moved.max() + 1 == clusters.signed.shape[0]:
            break
        labels = _numbered(best_moves(pairs, moved[labels], rng))
    labels = merge_down(pairs, labels, most)
    return best_moves(pairs, labels, rng, most)


def yes_minus_no_inside(pairs: SignedPairs, labels: IntArray) -> float:
    """Σ w over the pairs inside clusters, each counted once."""
    n = len(labels)
    in_cluster = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1))
    signed = (in_cluster * (pairs.signed @ in_cluster)).sum()
    loads = (in_cluster.T @ pairs.loads).toarray()
    with_itself = pairs.loads @ pairs.asked.diagonal()  # an item is a node here: no pair with itself
    asked = np.einsum("kg,gh,kh->", loads, pairs.asked, loads) - with_itself.sum()
    return float(signed - pairs.baseline * asked) / 2


def pivots(signed: sp.csr_array, rng: np.random.Generator) -> IntArray:
    """Each pivot, in random order, takes its neighbours of mostly yes that nobody has taken yet."""
    labels = np.full(signed.shape[0], -1)
    for pivot in rng.permutation(signed.shape[0]):
        if labels[pivot] < 0:
            labels[pivot] = pivot
            row = slice(signed.indptr[pivot], signed.indptr[pivot + 1])
            friends = signed.indices[row][signed.data[row] > 1]  # beyond the baseline's no
            labels[friends[labels[friends] < 0]] = pivot
    return _numbered(labels)


def best_moves(pairs: SignedPairs, labels: IntArray, rng: np.random.Generator, most: int | None = None) -> IntArray:
    """Move item after item, in random order, to the cluster of largest Σ w until none gains.

    Without ``most`` an item that is better off alone founds a cluster; with it, there are exactly so many to choose
    from.
    """
    labels = labels.copy()
    n_items = len(labels)
    n_labels = n_items if most is None else most
    signed, asked = pairs.signed, pairs.asked
    in_cluster = sp.csr_array((np.ones(n_items), labels, np.arange(n_items + 1)), shape=(n_items, n_labels))
    loads = (in_cluster.T @ pairs.loads).toarray()
    n_inside = np.bincount(labels, minlength=n_labels)
    everywhere = np.arange(n_labels)
    for _ in range(MOST_SWEEPS):
        n_moves = 0
        for item in rng.permutation(n_items):
            at = slice(pairs.loads.indptr[item], pairs.loads.indptr[item + 1])
            groups, sizes = pairs.loads.indices[at], pairs.loads.data[at]
            here = labels[item]
            loads[here, groups] -= sizes
            n_inside[here] -= 1
            row = slice(signed.indptr[item], signed.indptr[item + 1])
            theirs = labels[signed.indices[row]]
            if most is None:
                choices, which = np.unique(np.append(theirs, here), return_inverse=True)
            else:
                choices, which = everywhere, np.append(theirs, here)
            gains = np.bincount(which[:-1], weights=signed.data[row], minlength=len(choices))
            gains = gains - pairs.baseline * (loads[choices] @ (sizes @ asked[groups]))
            best = int(gains.argmax())
            stay = gains[which[-1]]
            there = choices[best]
            if most is None and gains[best] < -ROUNDING:
                there = here if n_inside[here] == 0 else int(np.flatnonzero(n_inside == 0)[0])
            elif gains[best] <= stay + ROUNDING:
                there = here
            loads[there, groups] += sizes
            n_inside[there] += 1
            n_moves += int(there != here)
            labels[item] = there
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
