"""Charts as inline SVG that obeys the page: its colours, its font, its content policy. Pure.

matplotlib draws; its output is then made fit for a page that allows no style attribute. Colours
are drawn as stand-ins (`Ink`) and become classes, so that light and dark are the page's affair.
Only our own words and numbers go into a drawing; text from data goes into tooltips, escaped.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

from relgate.eval.report.escape import terminal_text

__all__ = ["Axes", "Ink", "draw", "number_ends"]

Axes: TypeAlias = Any
"""`matplotlib.axes.Axes`, whose own types a strict checker half knows."""


class Ink(StrEnum):
    """What a colour means. The values are stand-ins that no reader sees."""

    TEXT = "#000001"
    MUTED = "#000002"
    GRID = "#000003"
    GOOD = "#000004"
    BAD = "#000005"
    ACCENT = "#000006"
    SECOND = "#000007"
    PAPER = "#000008"


_PX_PER_INCH = 72  # matplotlib writes points; one unit of the drawing is one of them
_FONT_PX = 13
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {f"{_SVG}metadata", f"{_SVG}style"}
_PAINTS = ("fill", "stroke")
# Presentation attributes are what a page without style attributes obeys; fonts are the page's.
_KEPT = {
    "fill", "fill-opacity", "opacity", "stroke", "stroke-dasharray", "stroke-dashoffset",
    "stroke-linecap", "stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor",
}  # fmt: skip
_COORDINATE = re.compile(r"-?\d+\.\d+")
_CLASS_OF = {ink.value: ink.name.lower() for ink in Ink}


def draw(
    key: str,
    paint: Callable[[Axes], None],
    *,
    width: int = 480,
    height: int = 320,
    tooltips: Mapping[str, str] | None = None,
) -> str:
    """The drawing of the chart of that key, an `<svg>` element; same input, same bytes.

    Its name and description are the caption and the note that the page's macro `chart` shows.

    Args:
        key: prefix of every id in it; letters, digits and `-`, unlike any other on the page.
        paint: draws on the axes, in colours of `Ink`, no text from data.
        width: in px of the drawing; the page scales it.
        height: likewise.
        tooltips: {gid of an artist: text}; may be text from data.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its font cache is nobody's business
    mpl = import_module("matplotlib")  # here: 0.3 s, only when a page is drawn
    backend = import_module("matplotlib.backends.backend_svg")
    figures = import_module("matplotlib.figure")
    text = io.StringIO()
    with mpl.rc_context():
        mpl.rcdefaults()  # a user's own settings must not change a report
        mpl.rcParams.update(_settings(key))
        figure = figures.Figure(figsize=(width / _PX_PER_INCH, height / _PX_PER_INCH))
        paint(figure.add_axes(_frame(width, height)))
        backend.FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None, "Creator": None})
    root = ET.fromstring(text.getvalue())  # noqa: S314 - written by matplotlib just now
    return _inline(root, key, tooltips or {})


def number_ends(
    ax: Axes, x: float, ends: Sequence[float], inks: Sequence[Ink], numbers: Sequence[int]
) -> None:
    """Numbers at x beside the ends of lines, pushed apart where they would overlap.

    The axes must have their limits; an ink and a number an end.
    """
    low, high = ax.get_ylim()
    gap = 0.055 * (high - low)
    place = float("-inf")
    for i in sorted(range(len(ends)), key=lambda i: ends[i]):
        place = max(place + gap, ends[i])
        ax.text(x, place, str(numbers[i]), va="center", color=inks[i].value)


def _frame(width: int, height: int) -> tuple[float, float, float, float]:
    """Where the axes stand in the figure: fixed margins in px, whatever the labels measure."""
    left, right, bottom, top = 60, 22, 54, 12
    return (
        left / width,
        bottom / height,
        (width - left - right) / width,
        (height - bottom - top) / height,
    )


def _settings(key: str) -> dict[str, object]:
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": f"relgate {key}",
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same measures everywhere
        "font.size": _FONT_PX,
        "text.parse_math": False,
        "axes.unicode_minus": True,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "text.color": Ink.TEXT.value,
        "axes.labelcolor": Ink.TEXT.value,
        "axes.edgecolor": Ink.MUTED.value,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": Ink.GRID.value,
        "xtick.color": Ink.MUTED.value,
        "ytick.color": Ink.MUTED.value,
        "xtick.labelcolor": Ink.TEXT.value,
        "ytick.labelcolor": Ink.TEXT.value,
    }


def _inline(root: ET.Element, key: str, tooltips: Mapping[str, str]) -> str:
    _drop(root)
    used = {
        name
        for element in root.iter()
        for value in element.attrib.values()
        for name in _references(value)
    }
    for element in root.iter():
        gid = element.get("id", "")
        if gid in tooltips:
            tip = ET.Element("title")
            tip.text = terminal_text(tooltips[gid])
            element.insert(0, tip)
        _fit(element, key, used)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{key}-title",
        "aria-describedby": f"{key}-note",
    }
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


def _drop(element: ET.Element) -> None:
    for child in list(element):
        if child.tag in _DROPPED:
            element.remove(child)
        else:
            _drop(child)


def _references(value: str) -> list[str]:
    """Ids that an attribute points at: `#x` or `url(#x)`."""
    if value.startswith("#"):
        return [value[1:]]
    return [value[5:-1]] if value.startswith("url(#") else []


def _fit(element: ET.Element, key: str, used: set[str]) -> None:
    """No namespace, no style, no id that nothing points at; every other id with the prefix."""
    element.tag = element.tag.removeprefix(_SVG)
    attributes: dict[str, str] = {}
    classes: list[str] = []
    for name, value in element.attrib.items():
        if name == "style":
            for part in value.split(";"):
                _declare(part, attributes, classes)
        elif name == "id":
            if value in used:
                attributes["id"] = f"{key}-{value}"
        elif name == _XLINK:
            attributes["href"] = f"#{key}-{value[1:]}"
        elif value.startswith("url(#"):
            attributes[name] = f"url(#{key}-{value[5:]}"
        else:
            attributes[name] = _brief(value)
    if classes:
        attributes["class"] = " ".join(classes)
    element.attrib = attributes
    element.tail = None
    if element.text is not None and not element.text.strip():
        element.text = None


def _brief(value: str) -> str:
    """Of coordinates two digits are enough, and one blank between them."""
    line = " ".join(value.split())
    return _COORDINATE.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), line)


def _declare(part: str, attributes: dict[str, str], classes: list[str]) -> None:
    name, _, value = (piece.strip() for piece in part.partition(":"))
    if name not in _KEPT:
        return
    if name in _PAINTS and value in _CLASS_OF:
        classes.append(f"{name}-{_CLASS_OF[value]}")
    else:
        attributes[name] = value
