"""bequec status: how far am I, block by block."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from bequec.cli.say import say, say_json, say_table

if TYPE_CHECKING:
    from bequec.ask.sorts import SortTable

MOST_BLOCKS_LISTED = 12
MOST_WORKERS_LISTED = 8


class Block(NamedTuple):
    """How far one block is."""

    block: str
    answered: int
    asked: int


def status(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    all_blocks: Annotated[
        bool, typer.Option("--all", help="List every block, not only those that lag behind.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Say it for programs.")] = False,
) -> None:
    """Say how far each block of questions is answered, and who sorted how many sheets.

    Example: bequec status dogs
    """
    from bequec.look.terminal import draw_mask
    from bequec.study.folder import Study

    opened = Study.open(study)
    plan = opened.plan
    answers = opened.answers() if opened.has_answers() else None
    answered = answers.answered_pairs[tuple(plan.covered_blocks.T)] if answers else 0 * plan.pairs_per_block
    blocks = [
        Block(f"{plan.group_name(l)}, {plan.group_name(m)}", int(done), int(asked))
        for (l, m), done, asked in zip(plan.covered_blocks.tolist(), answered, plan.pairs_per_block, strict=True)
    ]
    n_answered = int(answered.sum())
    sorts = opened.sorts()
    if json:
        say_json(
            {
                "study": str(study),
                "n_pairs": plan.n_pairs,
                "n_answered_pairs": n_answered,
                "blocks": [b._asdict() for b in blocks],
                "sorts": None if sorts is None else [one._asdict() for one in sorts.by_worker()],
            }
        )
        return
    if answers:
        say(draw_mask(plan, answers))
    waiting = sorted((b for b in blocks if b.answered < b.asked), key=lambda b: b.answered / b.asked)
    listed = blocks if all_blocks else waiting[:MOST_BLOCKS_LISTED]
    if listed:
        rows = [[b.block, f"{b.answered:,}", f"{b.asked:,}", _percent(b.answered, b.asked)] for b in listed]
        say_table(["block", "answered", "asked", ""], rows)
        if len(listed) < len(waiting):
            say(f"… and {len(waiting) - len(listed)} more unfinished blocks (--all lists them)")
    if sorts is not None:
        say(_who_sorted(sorts))
    say(
        f"{study}: {n_answered:,} of {plan.n_pairs:,} pairs answered ({_percent(n_answered, plan.n_pairs)}), "
        f"{len(blocks) - len(waiting)} of {len(blocks)} blocks finished"
    )
    say(f"next: bequec learn {study}" if n_answered >= plan.n_pairs / 2 else f"next: {opened.ask_command}")


def _who_sorted(sorts: "SortTable") -> str:
    """How many sheets were sorted, and by whom; who sorted most comes first."""
    by_worker = sorted(sorts.by_worker(), key=lambda one: (one.worker is None, -one.n_sheets))
    n_placed, n_unsure = sum(one.n_placed for one in by_worker), sum(one.n_unsure for one in by_worker)
    told = f"sorted: {sorts.n_screens():,} sheets, {n_placed:,} items placed"
    if n_unsure:
        told += f" and {n_unsure:,} not sure"
    if by_worker[0].worker is None:
        return told
    listed = [f"{one.worker or 'without a name'} {one.n_sheets:,}" for one in by_worker[:MOST_WORKERS_LISTED]]
    if len(by_worker) > MOST_WORKERS_LISTED:
        listed.append(f"{len(by_worker) - MOST_WORKERS_LISTED} more")
    return f"{told}; sheets by {', '.join(listed)}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"
