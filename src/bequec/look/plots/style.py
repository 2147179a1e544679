"""The common look of all pictures: colours, figures without a window, and saving."""

import io
import os
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bequec.core.errors import BequecError
from bequec.core.files import whole_file

# Colours that stay apart for most colour-blind people (after Okabe and Ito), then paler repeats.
COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6BB1", "#B8A800", "#5B6770", "#7F3C2E"),
    *("#7FB8D8", "#F2CF80", "#80CEB9", "#E5BCD3", "#ABD9F4", "#EAAE80", "#C5B5D8", "#DBD380", "#ADB3B7", "#BF9D96"),
)

# In a report the page's text colour takes the place of this one, so that pictures fit a light and a dark page.
INK = "#12340a"
LIGHT_GREY = "#b5bac1"  # thin lines
GREY = "#8a8f98"  # what stands behind: noise, other methods
FORMATS = ("svg", "png", "pdf")


def colour(cluster: int) -> str:
    """The colour of a cluster, the same in every picture."""
    return COLOURS[cluster % len(COLOURS)]


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty picture of the given size in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.tick_params(colors=INK, labelsize=8, length=2)
    for spine in axes.spines.values():
        spine.set_color(INK)
        spine.set_linewidth(0.6)
    return figure, axes


def label(axes: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Axis labels and title in the ink colour."""
    axes.set_xlabel(x, color=INK, fontsize=9)
    axes.set_ylabel(y, color=INK, fontsize=9)
    axes.set_title(title, color=INK, fontsize=10)


def check_picture(path: str | os.PathLike[str]) -> str:
    """A picture's format by its file's ending, before any work."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise BequecError(f"cannot draw {Path(path).name}: pictures end in .{', .'.join(FORMATS)}")
    return kind


def save_picture(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write SVG, PNG or PDF, by the file's ending, whole or not at all."""
    kind = check_picture(path)
    with whole_file(path) as temporary:
        _draw(figure, temporary, kind, dpi=160)


def inline_svg(figure: Figure, name: str) -> str:
    """The picture as SVG text for a web page; its ink is the page's text colour, its ids begin with ``name``."""
    buffer = io.StringIO()
    _draw(figure, buffer, "svg", transparent=True)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text)


# Text stays text, and ids do not change from run to run.
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "bequec", "font.family": "sans-serif"}
_NO_DATE: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def _draw(figure: Figure, target: Path | io.StringIO, kind: str, **options: Any) -> None:
    with mpl.rc_context(_SVG):
        figure.savefig(target, format=kind, metadata=_NO_DATE.get(kind), **options)
    figure.set_layout_engine("none")  # drawn again, for a file and a page, nothing moves by a fraction
