"""bequec theory: what the paper's theory says about a graph or a study."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bequec.cli.say import progress_bar, say, say_json, say_table

if TYPE_CHECKING:
    from bequec.evaluate.theory_curves import ErrorPoint
    from bequec.plan.theory import TheoremTwo

NODES, GROUPS = (500, 1000, 2000, 4000), (2, 4, 8, 16)


def theory(
    study: Annotated[Path | None, typer.Argument(help="A study that was learned; or none, with --nu.")] = None,
    nu: Annotated[
        str | None, typer.Option(help="Dirichlet parameters of the memberships, one per cluster: 0.5,0.5,0.5.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="How close to a corner counts as pure.")] = 0.1,
    failure: Annotated[float, typer.Option(help="Accepted probability of failure, the paper's μ.")] = 0.05,
    runs: Annotated[int, typer.Option(min=1, help="How many graphs to draw to confirm the sample size.")] = 200,
    curves: Annotated[
        bool, typer.Option("--curves", help="Simulate the error against N and L, beside the bound's shape.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(help="With --curves: draw them (.svg, .png, .pdf).")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Say how many nodes the theory wants, and how far a study is from its conditions.

    Example: bequec theory --nu 0.5,0.5,0.5 --epsilon 0.1, or bequec theory dogs
    """
    if (study is None) == (nu is None):
        raise typer.BadParameter("give a learned study, or --nu with one number per cluster, not both")
    if picture is not None and not curves:
        raise typer.BadParameter("--picture draws the curves; say --curves, too")
    concentration = [] if nu is None else _numbers(nu)
    told: dict[str, Any] = {}
    if study is not None:
        quantities = _of_study(study)
        told["theorem_2"] = _told_theorem(quantities)
        if not json:
            _say_theorem(study, quantities)
        concentration = told["theorem_2"]["concentration"] = _concentration_of(study)
    told["proposition_1"] = _sample_size(concentration, epsilon, failure, runs, seed)
    if not json:
        _say_sample_size(told["proposition_1"])
    if curves:
        points = _curves(concentration, picture, seed)
        told["curves"] = [vars(point) for point in points]
        if not json:
            _say_curves(points)
    if json:
        say_json(told)


def _sample_size(nu: list[float], epsilon: float, failure: float, runs: int, seed: int) -> dict[str, Any]:
    """Proposition 1, confirmed by drawing graphs."""
    import numpy as np

    from bequec.plan.theory import (
        corner_chances,
        enough_nodes,
        sample_size,
        separability_constant,
        simulated_separability,
    )

    rng = np.random.default_rng(seed)
    n_nodes = sample_size(epsilon, nu, failure)
    chances = corner_chances(epsilon, nu, rng)
    return {
        "nu": [float(value) for value in nu],
        "epsilon": epsilon,
        "failure": failure,
        "G": separability_constant(epsilon, nu),
        "n_nodes": n_nodes,
        "corner_chances": chances.tolist(),
        "enough_nodes": enough_nodes(chances, failure),
        "share_separable": simulated_separability(n_nodes, epsilon, nu, runs, rng),
        "runs": runs,
    }


def _say_sample_size(told: dict[str, Any]) -> None:
    nu = ", ".join(f"{value:g}" for value in told["nu"])
    rarest = min(told["corner_chances"])
    say(f"Proposition 1 for ν = ({nu}), ε = {told['epsilon']:g}, μ = {told['failure']:g}")
    say_table(
        ["", ""],
        [
            ["G(ε, ν)", f"{told['G']:.3g}"],
            ["nodes, log(K/μ) / (2 G²)", f"{told['n_nodes']:,}"],
            [f"separable, of {told['runs']} drawn", f"{100 * told['share_separable']:.1f} %"],
            ["chance at the rarest corner", f"{rarest:.3g}"],
            ["nodes that would be enough", f"{told['enough_nodes']:,}"],
        ],
    )
    wanted = 1 - told["failure"]
    if told["share_separable"] >= wanted:
        say(f"confirmed: at least {100 * wanted:g} % of the graphs have a nearly pure node in every cluster")
    else:
        say(f"not confirmed: fewer than {100 * wanted:g} % of the graphs have a nearly pure node in every cluster")


def _of_study(folder: Path) -> "TheoremTwo":
    from bequec.plan.theory import theorem_two
    from bequec.study.folder import Study

    opened = Study.open(folder)
    model = opened.model()
    return theorem_two(model.memberships_, model.interactions_, opened.plan)


def _concentration_of(folder: Path) -> list[float]:
    from bequec.plan.theory import estimated_concentration
    from bequec.study.folder import Study

    return [float(value) for value in estimated_concentration(Study.open(folder).model().memberships_)]


def _told_theorem(quantities: "TheoremTwo") -> dict[str, Any]:
    names = ("n_nodes", "n_groups", "gamma", "kappa_b", "sigma_min_b", "rho", "largest_degree", "epsilon")
    values = {name: getattr(quantities, name) for name in (*names, "separability", "log10_subspace_bound")}
    conditions = [
        {"name": one.name, "holds": one.holds, "log10_left": one.log10_left, "log10_right": one.log10_right}
        for one in quantities.conditions
    ]
    return {**values, "conditions": conditions}


def _say_theorem(study: Path, q: "TheoremTwo") -> None:
    rows = [
        ["nodes N, groups L", f"{q.n_nodes:,}, {q.n_groups}"],
        ["γ, worst condition number of a group's memberships", f"{q.gamma:.3g}"],
        ["κ(B), σmin(B) of the interactions", f"{q.kappa_b:.3g}, {q.sigma_min_b:.3g}"],
        ["ρ, largest probability of a yes", f"{q.rho:.3g}"],
        ["d, largest expected degree", f"{q.largest_degree:.1f}"],
        ["ε = 1/(Kγ³), and G(ε, ν)", f"{q.epsilon:.2g}, {q.separability:.2g}"],
        ["bound on the subspace error, up to a constant", f"10^{q.log10_subspace_bound:.1f}"],
    ]
    say_table([f"Theorem 2 for {study}", "value"], rows)
    conditions = [[one.name, f"{one.left} ≥ {one.right}", one.told] for one in q.conditions]
    say_table(["condition, constants taken as one", "", ""], conditions)
    failing = [one.name for one in q.conditions if not one.holds]
    if failing:
        say(
            f"{len(failing)} of {len(q.conditions)} conditions fail ({', '.join(failing)}): the theorem is silent "
            f"about this study, which does not make its result wrong; `bequec look {study}` judges that"
        )


def _curves(nu: list[float], picture: Path | None, seed: int) -> "list[ErrorPoint]":
    from bequec.evaluate.theory_curves import error_points

    against_nodes = [(n_nodes, GROUPS[2]) for n_nodes in NODES]
    against_groups = [(NODES[2], n_groups) for n_groups in GROUPS]
    with progress_bar() as show:
        points = error_points([*against_nodes, *against_groups], nu, random_state=seed, progress=show)
    if picture is not None:
        from bequec.look.plots.style import save_picture
        from bequec.look.plots.theory import plot_error_curves

        save_picture(plot_error_curves(points[: len(NODES)], points[len(NODES) :]), picture)
    return points


def _say_curves(points: "list[ErrorPoint]") -> None:
    rows = [
        [f"{p.n_nodes:,}", str(p.n_groups), f"{p.subspace_error:.3f}", f"{p.mse:.3f}", f"10^{p.log10_bound:.1f}"]
        for p in points
    ]
    say_table(["N", "L", "‖Û − UO‖", "MSE", "bound, up to a constant"], rows)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as reason:
        raise typer.BadParameter(
            f"--nu {text!r} cannot be read; write one number per cluster, e.g. --nu 0.5,0.5,0.5"
        ) from reason
