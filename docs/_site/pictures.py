"""Draws the pictures of docs/concepts.md: `make docs`. Every number in them is computed here.

Each is an SVG with a title and a description, on a card of its own so that it reads on a light and
a dark page alike. Nothing is told by colour alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from relgate.eval.agreement.sk import reported_figures
from relgate.eval.metrics.conventions import Conventions
from relgate.eval.metrics.kernel import dcg, ideal_dcg
from relgate.eval.review.settings import ReviewSettings

INK, MUTED, PAPER, LINE = "#1b1f24", "#57606a", "#ffffff", "#8c959f"
BLUE, GREEN, ORANGE, RED = "#0550ae", "#116329", "#953800", "#a40e26"
TINT = {BLUE: "#ddf4ff", GREEN: "#dafbe1", ORANGE: "#fff1e5", RED: "#ffebe9"}

K = 5
GRADES = (0, 1, 2, 3)
RATED = {"sock A": 3, "sock B": 2, "tights": 1, "shoe": 0, "hat": 0}
BEFORE = ("sock B", "sock A", "shoe", "tights", "hat")
AFTER = ("sock X", "sock A", "sock B", "sock Y", "tights")
UNRATED = tuple(doc for doc in AFTER if doc not in RATED)


@dataclass
class Picture:
    """Shapes on a card; coordinates in px."""

    width: int
    height: int
    title: str
    description: str
    parts: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, w: float, h: float, *, fill: str, line: str = LINE) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4" fill="{fill}" '
            f'stroke="{line}"/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, *, ink: str, width: float = 1,
             dash: str = "") -> None:  # fmt: skip
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{ink}" '
            f'stroke-width="{width:g}"{dashes}/>'
        )

    def dot(self, x: float, y: float, *, ink: str) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{ink}"/>')

    def text(self, x: float, y: float, words: str, *, ink: str = INK, size: int = 14,
             anchor: str = "start", bold: bool = False) -> None:  # fmt: skip
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" fill="{ink}" font-size="{size}" text-anchor="{anchor}"'
            f"{weight}>{escape(words)}</text>"
        )

    def svg(self) -> str:
        shapes = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" aria-labelledby="t d" '
            f'font-family="system-ui, sans-serif">\n<title id="t">{escape(self.title)}</title>\n'
            f'<desc id="d">{escape(self.description)}</desc>\n'
            f'<rect width="{self.width}" height="{self.height}" rx="8" fill="{PAPER}"/>\n'
            f"{shapes}\n</svg>\n"
        )


def ndcg(docs: Sequence[str], grades: dict[str, int]) -> float:
    """By relgate's own conventions: the ideal from all grades, cut at k."""
    gains = Conventions(k=K).gains(len(GRADES))
    top = np.array([[grades.get(doc, 0) for doc in docs]])
    hist = np.array([[list(grades.values()).count(g) for g in GRADES]])
    return float(dcg(top, gains)[0] / ideal_dcg(hist, gains, K)[0])


def deltas(known: dict[str, int]) -> Iterator[float]:
    """After minus before, for every grade that the documents without one could get."""
    open_docs = [doc for doc in UNRATED if doc not in known]
    for fill in product(GRADES, repeat=len(open_docs)):
        grades = {**RATED, **known, **dict(zip(open_docs, fill, strict=True))}
        yield ndcg(AFTER, grades) - ndcg(BEFORE, grades)


def _list(picture: Picture, x: float, name: str, docs: Iterable[str]) -> None:
    picture.text(x, 40, name, bold=True, size=16)
    for i, doc in enumerate(docs):
        y = 56 + 38 * i
        grade = RATED.get(doc)
        ink = ORANGE if grade is None else BLUE
        picture.box(x, y, 230, 30, fill=TINT[ink], line=ink)
        picture.text(x + 10, y + 20, f"{i + 1}. {doc}")
        said = "nobody rated it" if grade is None else f"grade {grade}"
        picture.text(x + 220, y + 20, said, ink=ink, anchor="end", bold=grade is None)


def gap() -> Picture:
    before, after = ndcg(BEFORE, RATED), ndcg(AFTER, RATED)
    filled = {**RATED, "sock X": 3, "sock Y": 2}
    before_filled, after_filled = ndcg(BEFORE, filled), ndcg(AFTER, filled)
    picture = Picture(
        620, 330, "A gap: documents that nobody rated",
        "Two lists of five results for the query running socks. Before, all five are rated. "
        f"After, the documents at rank 1 and 4 have no grade. Counted as bad, NDCG at 5 falls from "
        f"{before:.2f} to {after:.2f}. With grades 3 and 2 it rises from {before_filled:.2f} to "
        f"{after_filled:.2f}.",
    )  # fmt: skip
    _list(picture, 40, "Before", BEFORE)
    _list(picture, 350, "After", AFTER)
    picture.text(40, 272, f"Unrated counts as bad:  NDCG@5 {before:.2f} to {after:.2f}, it seems "
                 "worse", ink=RED)  # fmt: skip
    picture.text(40, 300, f"Graded 3 and 2:  NDCG@5 {before_filled:.2f} to {after_filled:.2f}, it "
                 "is better", ink=GREEN)  # fmt: skip
    return picture


def bounds() -> Picture:
    rows = [
        ("nobody rated X and Y", {}),
        ("X graded 3, Y open", {"sock X": 3}),
        ("X graded 3, Y graded 2", {"sock X": 3, "sock Y": 2}),
    ]
    ends = [(min(found), max(found)) for _, known in rows if (found := list(deltas(known)))]
    spans = "; ".join(
        f"{name}: {low:+.2f} to {high:+.2f}"
        for (name, _), (low, high) in zip(rows, ends, strict=True)
    )
    picture = Picture(
        620, 290, "Bounds: how far the change of NDCG can still move",
        f"Three bars over an axis of NDCG after minus before, from least to greatest. {spans}. "
        "Once a bar lies on one side of every limit, no further grade can change the verdict.",
    )  # fmt: skip
    scale = lambda value: 330 + value * 420  # noqa: E731 - two uses below
    picture.text(30, 36, "NDCG@5 after minus before, over every grade still possible", bold=True)
    drop = -ReviewSettings().max_mean_drop
    for value, ink in ((0.0, LINE), (drop, RED)):
        picture.line(scale(value), 60, scale(value), 226, ink=ink, dash="4 4")
    picture.text(scale(0) + 6, 242, "0: no change", ink=MUTED, size=13)
    picture.text(scale(drop) - 6, 242, f"R4 blocks below {drop:g}", ink=RED, size=13, anchor="end")
    for i, ((name, _), (low, high)) in enumerate(zip(rows, ends, strict=True)):
        y = 84 + 56 * i
        ink = GREEN if low > 0 else ORANGE
        picture.text(30, y - 8, name, size=13)
        picture.line(scale(low), y + 8, scale(high), y + 8, ink=ink, width=8)
        picture.dot(scale(low), y + 8, ink=ink)
        picture.dot(scale(high), y + 8, ink=ink)
        picture.text(590, y - 8, f"{low:+.2f} to {high:+.2f}" if low != high else f"{low:+.2f}",
                     ink=ink, anchor="end")  # fmt: skip
    picture.text(30, 272, "The second bar is all above 0: Y's grade can no longer turn it. One "
                 "grade was enough.", ink=MUTED, size=13)  # fmt: skip
    return picture


# People's grade by the judge's: an example, made up.
TABLE = np.array([[42, 6, 2, 0], [7, 18, 8, 1], [1, 6, 31, 9], [0, 1, 8, 40]])
FLOOR = 2


def calibration() -> Picture:
    figures = reported_figures(TABLE, floor=FLOOR)
    f1, quadratic = figures["f1"], figures["kappa_quadratic"]
    both = int(TABLE[FLOOR:, FLOOR:].sum())
    wrong_up, wrong_down = int(TABLE[:FLOOR, FLOOR:].sum()), int(TABLE[FLOOR:, :FLOOR].sum())
    picture = Picture(
        620, 330, "Calibration: a judge's grades beside people's",
        f"A table of people's grade by the judge's, of {TABLE.sum()} pairs, an example. On the "
        f"diagonal both say the same. A line at grade {FLOOR} parts relevant from not. {both} "
        f"pairs are relevant by both, {wrong_up} by the judge alone, {wrong_down} by people alone. "
        f"Quadratic kappa is {quadratic:.2f}, F1 at the floor {f1:.2f}.",
    )  # fmt: skip
    picture.text(190, 30, "the judge's grade", anchor="middle", bold=True)
    picture.text(24, 62, "people's", bold=True)
    for grade in GRADES:
        picture.text(115 + 60 * grade, 56, str(grade), anchor="middle")
        picture.text(70, 88 + 52 * grade, str(grade), anchor="middle")
    for (i, j), n in np.ndenumerate(TABLE):
        ink = BLUE if i == j else LINE
        picture.box(
            88 + 60 * j, 64 + 52 * i, 54, 40, fill=TINT[BLUE] if i == j else PAPER, line=ink
        )
        picture.text(115 + 60 * j, 90 + 52 * i, str(n), anchor="middle", bold=i == j)
    floor_x, floor_y = 85 + 60 * FLOOR, 58 + 52 * FLOOR
    picture.line(floor_x, 46, floor_x, 272, ink=RED, width=2, dash="6 4")
    picture.line(56, floor_y, 326, floor_y, ink=RED, width=2, dash="6 4")
    picture.text(88, 304, "dashed: the floor. Grade 2 and above is relevant.", ink=RED, size=13)
    said = [
        (f"{both} relevant by both", INK), (f"{wrong_up} by the judge alone", INK),
        (f"{wrong_down} by people alone", INK), ("", INK),
        (f"quadratic kappa {quadratic:.2f}", BLUE), (f"F1 at the floor {f1:.2f}", BLUE), ("", INK),
        ("each with an interval over", MUTED), ("queries; the lower end is", MUTED),
        ("held to the bar", MUTED),
    ]  # fmt: skip
    for i, (words, ink) in enumerate(said):
        picture.text(372, 72 + 22 * i, words, ink=ink, bold=ink == BLUE)
    return picture


def verdict() -> Picture:
    rows = [
        ("REFUSE", "4", "no verdict can be given: something is missing", ORANGE),
        ("BLOCK", "3", "a hard limit is broken", RED),
        ("NEEDS-WORK", "1", "something to look at, or a rule not checked", BLUE),
        ("APPROVE", "0", "nothing is left to say", GREEN),
    ]
    picture = Picture(
        620, 300, "The verdict is the worst finding",
        "Nineteen rules each pass, fail, or could not be checked. The worst of what they found is "
        "the verdict. From the worst: "
        + "; ".join(f"{name}, exit code {code}: {words}" for name, code, words, _ in rows) + ".",
    )  # fmt: skip
    picture.text(30, 36, "19 rules: passed, failed, or not checked. The worst finding is the "
                 "verdict.", bold=True)  # fmt: skip
    for i, (name, code, words, ink) in enumerate(rows):
        y = 58 + 56 * i
        picture.box(60, y, 530, 42, fill=TINT[ink], line=ink)
        picture.text(74, y + 26, name, ink=ink, bold=True)
        picture.text(196, y + 26, words)
        picture.text(580, y + 26, f"exit {code}", ink=MUTED, size=13, anchor="end")
    picture.line(40, 274, 40, 66, ink=INK, width=2)
    picture.parts.append(f'<path d="M34 72 L40 60 L46 72 Z" fill="{INK}"/>')
    picture.text(30, 180, "worse", ink=MUTED, size=13, anchor="middle")
    picture.parts[-1] = picture.parts[-1].replace("<text ", '<text transform="rotate(-90 30 180)" ')
    return picture


PICTURES = {"gap": gap, "bounds": bounds, "calibration": calibration, "verdict": verdict}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (Path(sys.argv[1]) / f"{name}.svg").write_text(draw().svg(), "utf-8")
