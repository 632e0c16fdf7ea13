"""The documentation site: built without a warning, whole, and open without a network."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import click
import pytest

from relgate.eval.cli.app import COMMANDS, cli
from relgate.eval.cli.pages import KIND_PAGES, MODULE_PAGES
from relgate.eval.report.setting_table import setting_table
from relgate.rubrics import errors

INDEX = "# a\n\n```{toctree}\nb\n```\n"


def test_the_site_builds_without_a_warning(site):
    assert (site.code, site.said) == (0, "")
    assert len(site.pages()) > 30


def test_every_link_inside_the_site_leads_somewhere(site):
    assert site.broken() == []


def test_the_link_check_finds_a_planted_broken_link(small_site):
    page = '# b\n\n<a href="c.html">x</a> <a href="#gone">y</a> <a href="index.html#a">z</a>\n'
    built = small_site(index=INDEX, b=page)
    assert [b for b in built.broken() if b.startswith("docs/b.html")] == [
        "docs/b.html: c.html", "docs/b.html: #gone",
    ]  # fmt: skip


@pytest.mark.parametrize("link", ["[x](c.md)", "[x](index.md#gone)", "[x](#gone)"])
def test_the_build_fails_on_a_planted_broken_link(small_site, link):
    built = small_site(index=INDEX, b=f"# b\n\n{link}\n")
    assert built.code != 0
    assert "b.md:3: WARNING" in built.said


def test_the_build_fails_on_a_page_that_no_menu_has(small_site):
    built = small_site(index=INDEX, b="# b\n", orphan="# c\n")
    assert built.code != 0
    assert "orphan.md: WARNING: document isn't included in any toctree" in built.said


def test_a_sound_site_passes(small_site):
    built = small_site(index=INDEX, b="# b\n\n[x](index.md#a)\n")
    assert (built.code, built.said, built.broken()) == (0, "", [])


def test_the_site_loads_nothing_from_outside(site):
    loads = {"link", "script", "img", "iframe", "source", "video", "audio"}
    assert [
        (page.name, address)
        for page, tag, address in site.addresses()
        if tag in loads and re.match(r"(https?:)?//", address)
    ] == []
    styles = [f.read_text("utf-8") for f in site.folder.rglob("*.css")]
    assert styles
    assert [
        x for css in styles for x in re.findall(r"@import|url\(['\"]?(?:https?:)?//", css)
    ] == []


def every_command(group: click.Group, name: str) -> list[tuple[str, click.Command]]:
    context = click.Context(group)
    out: list[tuple[str, click.Command]] = []
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        out.append((f"{name} {word}", command))
        if isinstance(command, click.Group):
            out += every_command(command, f"{name} {word}")
    return out


def test_every_command_and_every_option_is_on_the_page(site):
    page = (site.folder / "docs" / "commands.html").read_text("utf-8")
    shown = re.sub(r"<[^>]+>", "", page)
    commands = every_command(cli, "relgate")
    assert len(commands) > len(COMMANDS)
    for name, command in commands:
        assert f'id="{name.replace(" ", "-")}"' in page, name
        for option in command.params:
            if isinstance(option, click.Option):
                assert max(option.opts, key=len) in shown, f"{name} {option.opts}"


def test_the_page_of_settings_is_what_the_settings_are(root: Path):
    assert (root / "docs" / "settings.md").read_text("utf-8") == setting_table()  # else: make docs


def test_every_kind_of_error_has_a_page():
    kinds = {getattr(errors, name) for name in errors.__all__}
    assert set(KIND_PAGES) == kinds


@pytest.mark.parametrize("module", MODULE_PAGES)
def test_every_part_that_has_a_page_is_there(module):
    assert import_module(module)


@pytest.mark.parametrize("page", sorted({*KIND_PAGES.values(), *MODULE_PAGES.values()}))
def test_the_page_that_an_error_names_is_in_the_site(site, page):
    path, _, place = page.partition("#")
    assert site.has((site.folder / path).with_suffix(".html"), place)
