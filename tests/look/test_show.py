"""Pictures, verdict and report."""

import re
import warnings
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from bequec import Answers, BeQuec, BequecError, ModelError, QueryPlan, ask_graph, plan_queries
from bequec.look import draw_mask, judge, write_report
from bequec.look.plots import (
    plot_heat_map,
    plot_interactions,
    plot_mask,
    plot_simplex,
    plot_singular_values,
    save_picture,
)
from bequec.look.plots.simplex import polygon_corners
from bequec.look.plots.style import inline_svg
from bequec.look.verdict import explained_share
from bequec.simulate import simulate_clusters, simulate_mixed_memberships


def fitted(n_nodes=200, n_clusters=3, n_groups=4, names=None, **options):
    plan = plan_queries(n_nodes, n_clusters, n_groups=n_groups, names=names, random_state=0)
    answers = simulate_clusters(plan, n_clusters, random_state=0, **options).answers
    return BeQuec(n_clusters, random_state=0).fit(answers), answers


def test_an_unfitted_model_is_not_judged(tmp_path):
    _, answers = fitted(n_nodes=60)
    for look in (judge, lambda model, answers: write_report(tmp_path / "report.html", model, answers)):
        with pytest.raises(NotFittedError, match="not fitted; call fit before judging it"):
            look(BeQuec(3), answers)
    assert not (tmp_path / "report.html").exists()


def test_a_verdict_says_that_no_item_looks_pure():
    """Where all items have a part in every cluster, memberships and interactions trade off against each other."""
    model, answers = fitted()
    assert "looks pure" not in judge(model, answers).sentence
    model.memberships_ = 0.9 * model.memberships_ + 0.1 / 3
    assert "no item looks pure (the largest membership is 93 %)" in judge(model, answers).sentence


def test_the_terminal_mask_shows_every_block():
    plan = QueryPlan(np.repeat(np.arange(3), 4), [(0, 0), (0, 1), (2, 2)], group_names=["Abera", "Bo", "C"])
    assert draw_mask(plan).splitlines() == ["Abera ████·", "   Bo ██· ·", "    C · · ██"]
    large = plan_queries(4000, 2, n_groups=200, random_state=0)
    lines = draw_mask(large).splitlines()
    assert len(lines) == 40
    assert all(line[2 * row] == "█" for row, line in enumerate(lines))


def test_the_mask_picture_draws_exactly_the_asked_blocks():
    plan = QueryPlan(np.repeat(np.arange(3), [2, 5, 3]), [(0, 0), (0, 1), (2, 2)])
    mesh: Any = plot_mask(plan).axes[0].collections[0]
    drawn = ~np.ma.getmaskarray(mesh.get_array()).reshape(3, 3)
    assert (drawn == plan.asked).all()
    assert mesh.get_coordinates()[0, :, 0].tolist() == [0, 2, 7, 10]  # to the groups' sizes


@pytest.mark.parametrize("n_clusters", [3, 6])
def test_pure_nodes_lie_on_the_corners_of_the_simplex(n_clusters):
    points: Any = plot_simplex(np.eye(n_clusters)).axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(points, polygon_corners(n_clusters), atol=1e-12)


def test_large_graphs_are_thinned_out_and_say_so(rng):
    axes: Any = plot_simplex(rng.dirichlet(np.ones(4), size=20_000)).axes[0]
    assert len(axes.collections[0].get_offsets()) == 3000
    assert "3000 of 20000 nodes" in axes.get_title()
    image: Any = plot_heat_map(rng.dirichlet(np.ones(4), size=20_000)).axes[0].images[0]
    assert image.get_array().shape == (400, 4)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
@pytest.mark.parametrize("n_clusters", [2, 3, 12])
def test_every_picture_is_drawn_in_every_format(tmp_path, rng, ending, n_clusters):
    memberships = rng.dirichlet(np.ones(n_clusters), size=50)
    for picture in (
        plot_simplex(memberships),
        plot_heat_map(memberships),
        plot_interactions(np.eye(n_clusters)),
        plot_singular_values(np.arange(15.0, 0, -1), n_clusters),
    ):
        save_picture(picture, tmp_path / f"picture.{ending}")
        start = (tmp_path / f"picture.{ending}").read_bytes()[:200]
        assert {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending] in start


def test_unknown_picture_formats_are_refused(tmp_path):
    with pytest.raises(BequecError, match=r"cannot draw mask.gif: pictures end in .svg"):
        save_picture(plot_singular_values(np.ones(3), 2), tmp_path / "mask.gif")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_picture_drawn_again_is_the_same_to_the_byte(tmp_path, rng, ending):
    memberships = rng.dirichlet(np.ones(4), size=50)
    once, twice = plot_simplex(memberships), plot_simplex(memberships)
    page = inline_svg(twice, "simplex")
    save_picture(once, tmp_path / f"once.{ending}")
    save_picture(once, tmp_path / f"again.{ending}")
    assert (tmp_path / f"once.{ending}").read_bytes() == (tmp_path / f"again.{ending}").read_bytes()
    assert inline_svg(twice, "simplex") == page


def test_explained_share_is_that_of_a_plain_regression():
    model, answers = fitted(80, 3, 3)
    plan = answers.plan
    table = answers.to_table()
    left, right = table.left.to_numpy(dtype=int), table.right.to_numpy(dtype=int)
    p = np.einsum("na,ab,nb->n", model.memberships_[left], model.interactions_, model.memberships_[right])
    expected = 1 - ((table.label - p) ** 2).sum() / ((table.label - table.label.mean()) ** 2).sum()
    assert explained_share(model, answers) == pytest.approx(expected)
    assert plan.n_pairs == len(table)


def test_the_verdict_follows_the_quality_of_the_data():
    clear = fitted(600, 3, 4)
    assert judge(*clear).level == "strong"
    plan = plan_queries(400, 5, n_groups=10, random_state=0)
    all_yes = Answers.from_counts(
        plan,
        np.where(asked := plan.asked[np.ix_(plan.group_of, plan.group_of)], 1.0, 0.0)
        - np.diag(np.diag(asked).astype(float)),
    )
    with pytest.raises(ModelError, match="show only 1 directions, too few for 5 clusters"):
        BeQuec(5, random_state=0).fit(all_yes)
    label = np.arange(400) % 4
    too_many = ask_graph(lambda i, j: label[i] == label[j], plan)
    assert judge(BeQuec(6, refine=None, random_state=0).fit(too_many), too_many).level == "weak"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how clusters that are one share their nodes never settles
        verdict = judge(BeQuec(6, random_state=0).fit(too_many), too_many)
    assert verdict.level == "fair"
    assert "the singular values suggest 4 clusters rather than 6" in verdict.sentence
    hopeless = simulate_mixed_memberships(plan, 5, concentration=1.0, between=0.3, random_state=0).answers
    verdict = judge(BeQuec(5, refine=None, random_state=0).fit(hopeless), hopeless)
    assert verdict.level == "weak"
    assert verdict.sentence.startswith("Do not rely on this yet: 9 of 9 windows hardly show the 5th cluster")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there is nothing that it could settle on
        verdict = judge(BeQuec(5, random_state=0).fit(hopeless), hopeless)
    assert verdict.level == "weak"
    assert verdict.sentence.startswith("Do not rely on this yet: memberships are off by about")


def answered(plan, label, *, share=1.0):
    """Answers by label, of a share of the pairs."""
    known = np.triu(np.random.default_rng(0).random((plan.n_nodes, plan.n_nodes)) < share, 1)
    known = (known | known.T) & plan.asked[np.ix_(plan.group_of, plan.group_of)]
    return Answers.from_counts(plan, ((label[:, None] == label) & known).astype(float), known.astype(float))


@pytest.mark.parametrize("n_same", [0, 1])
def test_where_nothing_is_told_apart_the_verdict_is_weak_and_its_remedy_can_be_followed(n_same):
    plan = plan_queries(60, 2, n_groups=3, random_state=0)
    answers = answered(plan, np.arange(60) if n_same == 0 else np.zeros(60))
    model = BeQuec(2, refine="subspace", random_state=0).fit(answered(plan, np.arange(60) % 2))
    model.memberships_ = np.eye(2)[np.zeros(60, dtype=int)]
    for few in (answers, answered(plan, np.arange(60) % 2)):
        verdict = judge(model, few)
        assert verdict.level == "weak"
        assert "do not tell two clusters apart" in verdict.sentence
        assert "check how the labels were given" in verdict.sentence
        assert "1 clusters" not in verdict.sentence


@pytest.mark.parametrize(
    ("n_groups", "share", "remedy"),
    [
        (5, 1.0, "ask more pairs, in fewer and larger groups"),
        (5, 0.7, "collect the remaining answers (bequec status)"),
        (5, 0.3, "only 30 % of the asked pairs are answered yet: collect the remaining answers (bequec status)"),
        (1, 1.0, "ask other people the same pairs"),
    ],
)
def test_the_remedy_for_weak_windows_can_be_followed_in_this_study(n_groups, share, remedy):
    plan = plan_queries(100, 3, n_groups=n_groups, random_state=0)
    answers = answered(plan, np.arange(100) % 3, share=share)
    model = BeQuec(3, refine="subspace", random_state=0).fit(answers)
    model.gaps_ = np.array([1.01])
    sentence = judge(model, answers).sentence
    assert remedy in sentence
    assert "1 of 1 window hardly shows the 3rd cluster" in sentence
    assert ("ask more pairs" in sentence) == ("ask more pairs" in remedy)


def test_the_report_speaks_of_empty_blocks_only_where_there_are_some(tmp_path):
    for n_groups, told in ((1, "in one group"), (2, "all blocks"), (5, "empty blocks")):
        plan = plan_queries(100, 3, n_groups=n_groups, also=[(0, 1)] if n_groups == 2 else [], random_state=0)
        answers = answered(plan, np.arange(100) % 3)
        write_report(tmp_path / "r.html", BeQuec(3, refine="subspace", random_state=0).fit(answers), answers)
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert told in page
        assert ("empty blocks" in page) == (n_groups == 5)


class _Checker(HTMLParser):
    """Collects tags, addresses and visible text; complains about unclosed tags."""

    VOID = frozenset({"meta", "img", "br", "path", "use", "rect", "image", "hr", "link"})

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.images, self.text = [], [], 0, []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.images += tag == "img"
        self.addresses += [value for key, value in attrs if key in ("src", "href", "xlink:href")]

    def handle_startendtag(self, tag, attrs):
        self.addresses += [value for key, value in attrs if key in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read_report(path):
    checker = _Checker()
    page = path.read_text(encoding="utf-8")
    checker.feed(page)
    assert not checker.open
    return page, checker


def test_the_report_is_one_file_that_needs_no_network(tmp_path):
    model, answers = fitted()
    write_report(tmp_path / "report.html", model, answers, scores={"ACC": 0.987})
    page, checker = read_report(tmp_path / "report.html")
    assert all(address.startswith(("#", "data:")) for address in checker.addresses)
    assert "<script" not in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert not re.search(r"url\((?!#)", page)
    assert page.count("<svg") == 5
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    text = " ".join(checker.text)
    assert "Trustworthy" in text
    assert "0.987" in text
    assert f"{answers.plan.n_pairs:,}" in text


def test_the_report_shows_the_purest_and_most_mixed_items_with_thumbnails(tmp_path):
    names = [f"photo {i} <b>&" for i in range(200)]
    images = [tmp_path / f"{i}.png" for i in range(200)]
    for i, path in enumerate(images):
        Image.new("RGB", (300, 200), (i, 0, 0)).save(path)
    images[7].write_bytes(b"broken")
    model, answers = fitted(names=names)
    write_report(tmp_path / "report.html", model, answers, images=images)
    _, checker = read_report(tmp_path / "report.html")
    assert checker.images >= 3 * 8 - 1
    shown = {text for text in checker.text if text.startswith("photo")}
    for k in range(3):
        members = np.flatnonzero(model.labels_ == k)
        purest = members[np.argsort(-model.memberships_[members, k], kind="stable")][:8]
        assert {names[node] for node in purest} <= shown  # and names are escaped, or they would not come back whole


def test_the_report_of_tiny_data_has_no_empty_corners(tmp_path):
    graph = np.kron(np.eye(2), np.ones((4, 4)))
    model = BeQuec(2, random_state=0).fit(graph)
    from bequec import ask_graph

    answers = ask_graph(graph, QueryPlan([0] * 8, [(0, 0)]))
    write_report(tmp_path / "report.html", model, answers)
    read_report(tmp_path / "report.html")
