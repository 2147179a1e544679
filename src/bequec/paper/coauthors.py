"""Tables VII to IX: communities of co-authors from the edges of some blocks."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans

from bequec.ask.answers import Answers
from bequec.ask.graph import ask_graph
from bequec.core.arrays import FloatArray
from bequec.core.errors import DataError
from bequec.datasets.coauthors import NETWORKS, Coauthors, load_coauthors
from bequec.datasets.files import find_file
from bequec.evaluate.scores import accuracy, rank_correlation, score_memberships
from bequec.paper.methods import KEYS, PAPER_METHODS, chosen_titles
from bequec.paper.printed import NUMBERS_OF_GROUPS
from bequec.paper.table import Cell, Options, Table
from bequec.plan.planning import plan_queries

FIVE = ("bequec-paper", "geonmf", "spacl", "mvsi-published", "bnmf-published")
COMPONENTS = "components"
L = 10


@dataclass(frozen=True)
class DataSetsTable(Table):
    """Table VII: how large the networks are."""

    options_used = frozenset[str]()
    is_random = False

    def cells(self, options: Options) -> list[Cell]:
        del options
        return [Cell(network, "") for network in NETWORKS]

    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        del seed, options
        n_nodes, n_clusters = network(cell.row).memberships.shape
        return {"N": float(n_nodes), "K": float(n_clusters)}

    def why_not(self, cell: Cell) -> str:
        return why_not_here(cell.row)


@dataclass(frozen=True)
class CoauthorsTable(Table):
    """Table VIII: rank correlation with the true memberships, and what it hides."""

    only_here: ClassVar = {COMPONENTS: COMPONENTS}

    def cells(self, options: Options) -> list[Cell]:
        titles = chosen_titles(options.methods, (*FIVE, "bequec-subspace"), self.only_here)
        return [Cell(name, title) for name in NETWORKS for title in titles]

    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        del options
        answers, truth = ask_network(cell.row, L, seed)
        started = time.perf_counter()
        learned = learn(cell.column, answers, truth.shape[1], seed)
        seconds = time.perf_counter() - started
        scores = score_memberships(learned, truth)
        linked = np.asarray(answers.yes.sum(axis=1)).ravel()[answers.plan.position_of] > 0
        return {
            "SRC": scores["SRC"],
            "SRC of linked": rank_correlation(learned[linked], truth[linked]),
            **{name: scores[name] for name in ("MSE", "RE")},
            "ACC": 100 * scores["ACC"],
            "seconds": seconds,
        }

    def why_not(self, cell: Cell) -> str:
        return why_not_here(cell.row)


@dataclass(frozen=True)
class GroupsTable(Table):
    """Table IX: accuracy against the number of groups, on MAG2 where its files are here, else on DBLP-5."""

    def cells(self, options: Options) -> list[Cell]:
        default = (*FIVE, "sc-unnorm-published", "sc-norm-published", "kmeans-graph-published", "bequec-subspace")
        titles = chosen_titles(options.methods, default)
        return [Cell(title, f"{self.network}, L = {groups}") for title in titles for groups in NUMBERS_OF_GROUPS]

    @property
    def network(self) -> str:
        """The network that the table is measured on."""
        return "DBLP-5" if why_not_here("MAG2") else "MAG2"

    def measure(self, cell: Cell, seed: int, options: Options) -> dict[str, float]:
        del options
        name, groups = cell.column.split(", L = ")
        answers, truth = ask_network(name, int(groups), seed)
        started = time.perf_counter()
        learned = learn(cell.row, answers, truth.shape[1], seed)
        seconds = time.perf_counter() - started
        return {"ACC": 100 * accuracy(learned.argmax(axis=1), true_labels(name)), "seconds": seconds}


@lru_cache(maxsize=1)
def network(name: str) -> Coauthors:
    """A network, read once."""
    return load_coauthors(name)


@lru_cache
def why_not_here(name: str) -> str:
    """Why a network cannot be read; empty if it can. Nothing is downloaded to find out."""
    if name.startswith("DBLP"):
        return ""
    try:
        find_file(f"coauthors/{name}_adjacency.txt")
        find_file(f"coauthors/{name}_community.txt")
    except DataError:
        return f"data not here: put {name}_adjacency.txt and {name}_community.txt into $BEQUEC_DATA/coauthors"
    return ""


@lru_cache(maxsize=1)
def ask_network(name: str, n_groups: int, seed: int) -> tuple[Answers, FloatArray]:
    """The answers to the diagonal pattern on randomly dealt groups, the same for all methods."""
    graph, truth = network(name)
    plan = plan_queries(len(truth), truth.shape[1], n_groups=n_groups, random_state=seed)
    return ask_graph(graph, plan), truth


@lru_cache(maxsize=1)
def true_labels(name: str) -> FloatArray:
    """The published protocol: k-means of the true memberships."""
    truth = network(name).memberships
    return np.asarray(KMeans(truth.shape[1], n_init=20, random_state=0).fit_predict(truth))


def learn(title: str, answers: Answers, n_clusters: int, seed: int) -> FloatArray:
    """A method's memberships in the caller's order."""
    if title == COMPONENTS:
        return component_memberships(answers, n_clusters)
    return np.asarray(PAPER_METHODS[KEYS[title]].make(n_clusters, seed).fit(answers).memberships_)


def component_memberships(answers: Answers, n_clusters: int) -> FloatArray:
    """No clustering at all: the K columns dealt out to the largest components, equal parts inside each.

    DBLP-i is four networks without an edge between them; this scores what their separation alone is worth.
    """
    _, component = connected_components(answers.yes, directed=False)
    sizes = np.bincount(component)
    largest = [c for c in np.argsort(-sizes)[:n_clusters] if sizes[c] >= 0.01 * len(component)]
    share = sizes[largest] / sizes[largest].sum()
    ends = np.rint(np.cumsum(share) * n_clusters).astype(int)
    memberships = np.full((len(component), n_clusters), 1.0 / n_clusters)
    for c, begin, end in zip(largest, np.concatenate([[0], ends[:-1]]), ends, strict=True):
        if end > begin:
            memberships[component == c] = 0.0
            memberships[component == c, begin:end] = 1.0 / (end - begin)
    return memberships[answers.plan.position_of]
