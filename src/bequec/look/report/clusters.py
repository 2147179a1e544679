"""What the report says of each cluster: its size, its purest items, and its most mixed ones."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bequec.ask.answers import Answers
from bequec.core.arrays import FloatArray
from bequec.core.errors import ModelError
from bequec.learn.bequec import BeQuec
from bequec.look.plots.style import colour
from bequec.look.report.thumbnails import thumbnail
from bequec.plan.query_plan import QueryPlan

Images = Sequence[str | os.PathLike[str]] | None

N_SHOWN = 8  # items of each kind
MOST_MIXED = 0.95  # an item with a larger membership is not called mixed
IN_DOUBT = 1.645  # standard errors between the two largest memberships: surer than 95 % beyond
# An item is unexplained if its answers are less probable than usual by both.
UNEXPLAINED_DEVIATIONS = 4.0  # robust standard deviations of all items
UNEXPLAINED_LOG_PROBABILITY = 0.01  # per answer


class Item(NamedTuple):
    """An item as it is shown: name, small picture, and its largest memberships as (cluster, percent, colour)."""

    name: str
    picture: str | None
    parts: list[tuple[int, int, str]]


class Cluster(NamedTuple):
    """A cluster as it is shown."""

    number: int
    colour: str
    n_items: int
    weight: float
    inside: float
    purest: list[Item]
    most_mixed: list[Item]


def describe_clusters(model: BeQuec, plan: QueryPlan, images: Images) -> list[Cluster]:
    """Each cluster with the items that show it best, and those that it shares most with others."""
    if images is not None and len(images) != plan.n_nodes:
        raise ModelError(f"{len(images)} images for {plan.n_nodes} nodes; give one each")
    clusters = []
    for k in range(model.n_clusters):
        members = np.flatnonzero(model.labels_ == k)
        by_purity = members[np.argsort(-model.memberships_[members, k], kind="stable")]
        mixed = [node for node in by_purity[N_SHOWN:][::-1] if model.memberships_[node, k] < MOST_MIXED][:N_SHOWN]
        clusters.append(
            Cluster(
                number=k + 1,
                colour=colour(k),
                n_items=len(members),
                weight=float(model.memberships_[:, k].sum()),
                inside=float(model.interactions_[k, k]),
                purest=[show_item(model, plan, images, node) for node in by_purity[:N_SHOWN]],
                most_mixed=[show_item(model, plan, images, node) for node in mixed],
            )
        )
    return clusters


def show_item(model: BeQuec, plan: QueryPlan, images: Images, node: int) -> Item:
    """An item as the report shows it."""
    picture = thumbnail(images[node]) if images is not None else None
    return Item(str(plan.name(node)), picture, _parts(model.memberships_[node]))


def _parts(membership: FloatArray) -> list[tuple[int, int, str]]:
    """The memberships of at least 5 %, largest first, as whole percents."""
    largest_first = np.argsort(-membership, kind="stable")
    return [(int(k) + 1, round(100 * membership[k]), colour(int(k))) for k in largest_first if membership[k] >= 0.05]


def items_in_doubt(model: BeQuec, plan: QueryPlan, images: Images) -> list[Item]:
    """The items whose two largest memberships differ least, measured in their standard errors."""
    order = np.argsort(-model.memberships_, axis=1)[:, :2]
    rows = np.arange(len(order))[:, None]
    largest, spread = model.memberships_[rows, order], model.memberships_std_[rows, order]
    lead = (largest[:, 0] - largest[:, 1]) / np.maximum(np.linalg.norm(spread, axis=1), 1e-12)
    doubtful = [node for node in np.argsort(lead, kind="stable")[:N_SHOWN] if lead[node] < IN_DOUBT]
    return [show_item(model, plan, images, int(node)) for node in doubtful]


def unexplained_items(model: BeQuec, answers: Answers, images: Images) -> list[Item]:
    """The items whose own answers the model predicts worst, per answer, if far worse than those of most items."""
    per_answer = model.log_predictive_per_node_ / np.maximum(answers.answers_per_node, 1.0)
    shortfall = np.median(per_answer) - per_answer
    usual = 1.4826 * np.median(np.abs(shortfall))  # the standard deviation, unmoved by a few odd items
    odd = [
        node
        for node in np.argsort(-shortfall, kind="stable")[:N_SHOWN]
        if shortfall[node] > UNEXPLAINED_DEVIATIONS * usual
    ]
    return [
        show_item(model, answers.plan, images, int(node))
        for node in odd
        if shortfall[node] > UNEXPLAINED_LOG_PROBABILITY
    ]
