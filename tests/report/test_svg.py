"""Charts: the same bytes for the same input, and nothing that the page's policy forbids."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from relgate.eval.report.html.svg import Ink, draw


def paint(ax):
    ax.bar([0, 1], [1, 2], color=Ink.BAD.value)
    ax.plot([0, 1], [0, 1], color=Ink.GOOD.value, gid="line", marker="o")
    ax.fill_between([0, 1], [0, 1], [1, 2], color=Ink.ACCENT.value, alpha=0.3)
    ax.text(0.5, 0.5, "x < $y$ & z", color=Ink.TEXT.value)
    ax.set_ylabel("queries")
    ax.grid(visible=True)


@pytest.fixture(scope="module")
def svg():
    return draw("demo", paint, tooltips={"line": "<script>\u202e & ]]>"})


def test_the_same_input_gives_the_same_bytes(svg):
    assert draw("demo", paint, tooltips={"line": "<script>\u202e & ]]>"}) == svg


def test_a_users_own_settings_change_nothing_and_stay(svg):
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 40, "svg.fonttype": "path"}):
        assert draw("demo", paint, tooltips={"line": "<script>\u202e & ]]>"}) == svg
        assert mpl.rcParams["font.size"] == 40


def test_it_has_no_style_no_script_and_no_reference_outside(svg):
    root = ET.fromstring(svg)  # noqa: S314 - made just now
    tags = {element.tag for element in root.iter()}
    assert tags <= {"svg", "g", "defs", "path", "use", "text", "title", "clipPath", "rect"}
    for element in root.iter():
        assert "style" not in element.attrib
        assert not [name for name in element.attrib if name.startswith("on")]
        assert element.get("href", "#").startswith("#demo-") or element.tag != "use"
    assert "http" not in svg


def test_every_reference_has_its_target_and_every_id_its_prefix(svg):
    ids = re.findall(r' id="([^"]+)"', svg)
    assert len(ids) == len(set(ids))
    assert all(name.startswith("demo-") for name in ids)
    named = set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))
    assert named == set(ids)


def test_every_colour_is_the_pages(svg):
    assert not re.search(r"#0000|#[0-9a-f]{6}\b", svg.replace("#demo-", ""))
    assert {"fill-bad", "stroke-good", "fill-text", "stroke-grid"} <= set(
        re.findall(r"[\w-]+", svg)
    )


def test_it_is_an_image_that_the_page_names(svg):
    root = ET.fromstring(svg)  # noqa: S314 - made just now
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == (
        "demo-title",
        "demo-note",
    )


def test_text_of_a_tooltip_is_inert_and_its_controls_are_seen(svg):
    assert "<title>&lt;script&gt;\\u202e &amp; ]]&gt;</title>" in svg
    assert "x &lt; $y$ &amp; z" in svg


def test_two_charts_on_a_page_share_no_id():
    first, second = (set(re.findall(r' id="([^"]+)"', draw(key, paint))) for key in ("a", "b"))
    assert first
    assert not first & second
