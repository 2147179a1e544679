import numpy as np
import pytest

from bequec import QueryPlan, ask_graph, plan_queries
from bequec.advise.preview import Expectation
from bequec.evaluate.theory_curves import error_points, subspace_error
from bequec.look.plots import plot_budget_accuracy, plot_mask, plot_stitching_tree, save_picture
from bequec.look.plots.theory import plot_error_curves
from bequec.look.terminal import draw_curve, draw_mask, draw_tree
from bequec.plan.mask.sharing import usable_blocks


@pytest.fixture
def villages():
    """Four villages in a chain of prices; Abera and Dire cannot be asked about each other."""
    cost = 1.0 + np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    cost[0, 3] = cost[3, 0] = np.inf
    names = np.repeat(["Abera", "Bole", "Chala", "Dire"], 12)
    return plan_queries(n_clusters=2, groups=names, pattern="cheapest", cost=cost), cost


def test_the_mask_shows_prices_and_forbidden_blocks(villages):
    plan, cost = villages
    rows = draw_mask(plan, prices=cost).splitlines()
    assert [row[:5].strip() for row in rows] == ["Abera", "Bole", "Chala", "Dire"]
    marks = np.array([[row[6:].ljust(8)[2 * m] for m in range(4)] for row in rows])
    assert ((marks == "×") == np.isinf(cost)).all()
    assert ((marks == "·") == (~plan.asked & np.isfinite(cost))).all()
    shades = "░▒▓█"
    levels = {(l, m): shades.index(marks[l, m]) for l, m in plan.blocks.tolist()}
    assert all((cost[a] < cost[b]) <= (levels[a] <= levels[b]) for a in levels for b in levels)
    axes = plot_mask(plan, prices=cost).axes[0]
    assert len([patch for patch in axes.patches if patch.get_hatch()]) == 2
    assert len([patch for patch in axes.patches if not patch.get_hatch()]) == plan.asked.sum()
    assert "1 cannot be asked" in axes.get_title()


def test_the_mask_is_as_dark_as_pairs_are_asked():
    """A block asked whole, one with a quarter of its pairs listed, and one that is not asked."""
    plan = QueryPlan([0] * 10 + [1] * 10, [(0, 0)], listed=[(i, j) for i in range(10) for j in range(10, 15)][::2])
    shades = np.ma.reshape(plot_mask(plan).axes[0].collections[0].get_array(), (2, 2))
    assert shades[0].tolist() == pytest.approx([1.0, 0.15 + 0.85 * 0.25])
    assert np.ma.getmaskarray(shades)[1, 1]
    answers = ask_graph(np.ones((20, 20)), plan)
    answered = np.ma.reshape(plot_mask(plan, answers).axes[0].collections[0].get_array(), (2, 2))
    assert answered[0].tolist() == shades[0].tolist()
    assert draw_mask(plan).splitlines() == ["██▒▒", "▒▒·"]
    assert plot_stitching_tree(plan, np.ones((2, 2), dtype=bool)).axes[0].get_title().endswith("2 blocks")


def test_many_groups_share_characters_with_prices_too():
    plan = plan_queries(1000, 2, n_groups=100, pattern="cheapest")
    prices = np.ones((100, 100))
    prices[50:, :50] = prices[:50, 50:] = np.inf
    prices[0, :] = prices[:, 0] = 1
    assert "×" in draw_mask(plan, prices=prices)
    assert len(draw_mask(plan, prices=prices).splitlines()) == 40


def test_the_tree_lists_every_group_once_under_one_that_shares_its_column():
    plan = plan_queries(400, 3, n_groups=12, pattern="spread", random_state=0)
    usable = usable_blocks(plan, 3)
    lines = draw_tree(plan, usable).splitlines()
    names = [line.split("─ ")[-1].split(" (")[0] for line in lines]
    assert sorted(names, key=int) == [str(l) for l in range(12)]
    for line in lines[1:]:
        group, through = int(line.split("─ ")[-1].split(" (")[0]), line.split("through ")[1].rstrip(")")
        assert all(plan.asked[group, int(m)] for m in through.split(", "))
    assert draw_tree(plan, usable, most=5).endswith("… and 7 more groups")
    figure = plot_stitching_tree(plan, usable)
    bold = [line for line in figure.axes[0].lines if line.get_linewidth() > 1.5]
    assert len(bold) == 11
    assert "11 stitches" in figure.axes[0].get_title()


def test_a_single_group_has_a_tree_of_one():
    plan = plan_queries(40, 2, n_groups=1)
    usable = usable_blocks(plan, 2)
    assert draw_tree(plan, usable) == "0"
    assert plot_stitching_tree(plan, usable).axes[0].get_title().startswith("0 stitches")


def test_the_curve_shows_what_fits_and_what_does_not(tmp_path):
    text = draw_curve(["half", "one"], [float("nan"), 0.5], width=10)
    assert text.splitlines() == ["half does not fit", " one █████ 50.0 %"]
    budget = [
        Expectation("0.5 × budget", 0, float("nan"), (), "no"),
        Expectation("1 × budget", 100, 100.0, (0.8, 0.9)),
        Expectation("2 × budget", 200, 200.0, (0.98, 1.0)),
    ]
    patterns = [Expectation("diagonal", 100, 100.0, (0.8, 0.9)), Expectation("spread", 99, 99.0, (0.7,))]
    figure = plot_budget_accuracy(budget, patterns)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [entry.get_text() for entry in legend.get_texts()] == ["diagonal", "spread"]
    save_picture(figure, tmp_path / "curve.svg")
    assert "right cluster" in (tmp_path / "curve.svg").read_text(encoding="utf-8")


def test_the_error_falls_with_the_nodes_and_rises_with_the_groups(tmp_path):
    nodes = error_points([(300, 4), (1200, 4)], [0.3] * 3, n_runs=2)
    groups = error_points([(600, 2), (600, 12)], [0.3] * 3, n_runs=2)
    # The bound's N^(−1/2): four times the nodes, about half the error.
    assert nodes[1].subspace_error / nodes[0].subspace_error == pytest.approx(0.5, abs=0.15)
    assert groups[1].subspace_error > groups[0].subspace_error
    assert groups[1].log10_bound > groups[0].log10_bound + 2
    save_picture(plot_error_curves(nodes, groups), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5000


def test_the_subspace_error_does_not_depend_on_the_basis(rng):
    M = rng.dirichlet([1.0] * 3, 50)
    assert subspace_error(M @ rng.standard_normal((3, 3)), M) == pytest.approx(0, abs=1e-6)
    apart = np.linalg.qr(rng.standard_normal((50, 6)))[0]
    assert subspace_error(apart[:, :3], apart[:, 3:]) == pytest.approx(np.sqrt(6))
