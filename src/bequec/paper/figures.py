"""The paper's figures as pictures."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imread

from bequec.datasets.dogs import load_dogs
from bequec.look.plots import plot_mask, plot_simplex, save_picture
from bequec.look.plots.style import INK
from bequec.plan.planning import plan_queries
from bequec.plan.query_plan import QueryPlan

ASKED = (("same", True, True), ("different", False, False), ("different", False, True), ("same", True, False))


def masks(seed: int) -> dict[str, Figure]:
    """Figure 1: patterns of the edge query principle, N = 1000, K = 5, L = 10."""
    return {
        f"fig1-{pattern}": plot_mask(plan_queries(1000, 5, n_groups=10, pattern=pattern, random_state=seed))
        for pattern in ("random", "reference", "diagonal")
    }


def toy_mask(seed: int) -> dict[str, Figure]:
    """Figure 2: three groups, of which the blocks (1, 2), (2, 2) and (3, 1) are asked."""
    del seed
    plan = QueryPlan(np.repeat(np.arange(3), 20), [(0, 1), (1, 1), (0, 2)], group_names=("1", "2", "3"))
    return {"fig2": plot_mask(plan)}


def dirichlet_simplices(seed: int) -> dict[str, Figure]:
    """Figure 3: 1000 memberships for three ν."""
    rng = np.random.default_rng(seed)
    cases = ((0.5, 0.5, 0.5), (2.0, 0.5, 0.5), (3.0, 3.0, 3.0))
    return {f"fig3-{number}": plot_simplex(rng.dirichlet(nu, 1000)) for number, nu in enumerate(cases, start=1)}


def dog_pairs(seed: int) -> dict[str, Figure]:
    """Figure 4: four pairs of photos with the true and the given answer: both kinds, right and wrong."""
    answers, labels, images = load_dogs(photos=True)
    plan = answers.plan
    rng = np.random.default_rng(seed)
    figure = Figure(figsize=(7.2, 5.0), layout="constrained")
    grid = figure.subplots(2, 4)
    for (truth, is_same, said_same), axes in zip(ASKED, grid.reshape(4, 2), strict=True):
        i, j = _find_pair(answers.yes, plan, labels, is_same, said_same, rng)
        for node, side in zip((i, j), axes, strict=True):
            side.imshow(imread(images[node]))
            side.set_axis_off()
        said = "same" if said_same else "different"
        axes[0].set_title(f"{truth}, people said {said}", color=INK, fontsize=9, loc="left")
    return {"fig4": figure}


FIGURES: dict[str, Callable[[int], dict[str, Figure]]] = {
    "fig1": masks,
    "fig2": toy_mask,
    "fig3": dirichlet_simplices,
    "fig4": dog_pairs,
}


def draw_figure(name: str, folder: Path, seed: int = 0) -> list[Path]:
    """Draw a figure's pictures into a folder, as SVG; photos as PNG."""
    paths = []
    for part, figure in FIGURES[name](seed).items():
        paths.append(folder / f"{part}.{'png' if name == 'fig4' else 'svg'}")
        save_picture(figure, paths[-1])
    return paths


def _find_pair(
    yes: "np.ndarray", plan: QueryPlan, labels: "np.ndarray", is_same: bool, said_same: bool, rng: np.random.Generator
) -> tuple[int, int]:
    """A random asked pair of the wanted kind."""
    while True:
        l, m = plan.blocks[rng.integers(len(plan.blocks))]
        i, j = int(rng.choice(plan.groups[l])), int(rng.choice(plan.groups[m]))
        said = yes[plan.position_of[i], plan.position_of[j]] > 0
        if i != j and (labels[i] == labels[j]) == is_same and said == said_same:
            return i, j
