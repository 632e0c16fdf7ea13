"""`relgate cache`: what was paid for, why something was not there, and its upkeep."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from relgate.eval.cli.common import (
    FILE,
    FiniteRange,
    Output,
    config_option,
    judge_options,
    now,
    output_options,
    settings,
)

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])

_MOST_LISTED = 20


@click.group("cache")
def command() -> None:
    """Look at the cache of paid grades, mend it, carry it."""


def _common(function: F) -> F:
    place = click.option("--cache", type=FILE, help="Folder of paid grades, or redis://...")
    return place(config_option(output_options(function)))


_yes = click.option("--yes", is_flag=True, help="Do it; without it nothing is changed.")


def _begin(flags: dict[str, Any], *names: str) -> tuple[Output, Any]:
    output = Output(as_json=flags["as_json"], quiet=flags["quiet"], no_color=flags["no_color"])
    given = {name: flags[name] for name in ("cache", *names)}
    return output, settings(output, flags["config"], given)


@command.command("stats")
@_common
def stats(**flags: Any) -> None:  # noqa: ANN401 - click
    """Rows, size, grades by judge version and model, what they cost and what they saved."""
    from relgate.cache.report import cache_stats  # noqa: PLC0415
    from relgate.eval.cli.cache_worth import (  # noqa: PLC0415
        cache_worth,
        worth_document,
        worth_lines,
    )

    output, project = _begin(flags)
    found = cache_stats(project.cache)
    if not (found.rows or found.invalid or found.bytes):
        output.remark(f"nothing is stored at {found.directory}; --cache names another place")
    judges = cache_worth(found, project.price)
    output.table(
        "",
        ["Judge version", "Model", "Grades", "Tokens", "Paid USD", "Saved USD"],
        [judge.cells() for judge in judges],
        text_columns=(0, 1),
    )
    output.line(f"{found.rows:,} grades, {found.bytes:,} bytes in {found.directory}")
    if found.oldest:
        output.line(f"from {found.oldest} to {found.newest}")
    if found.invalid:
        output.line(f"{found.invalid:,} rows are damaged and will be graded again")
    if found.set_aside:
        output.line(f"{found.set_aside:,} damaged files were set aside (*.corrupt-*)")
    for line in worth_lines(judges):
        output.line(line)
    output.document(
        {
            "directory": str(found.directory),
            "rows": found.rows,
            "invalid": found.invalid,
            "bytes": found.bytes,
            "oldest": found.oldest,
            "newest": found.newest,
            "set_aside": found.set_aside,
            **worth_document(judges),
        }
    )


@command.command("why")
@click.argument("query")
@click.argument("doc", required=False)
@click.option("--text", help="The text as the judge sees it, instead of a document's.")
@click.option("--catalogue", type=FILE, help="Product texts.")
@click.option("--judgments", type=FILE, help="Where few-shot examples come from.")
@click.option("--rubric", help="What the grades mean: a tag or a file.")
@judge_options
@_common
def why(query: str, doc: str | None, text: str | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """Say whether a grade is cached, and else which part of its key changed.

    QUERY is its text, DOC a document's id in the catalogue.
    """
    from relgate.cache.contents import valid_rows  # noqa: PLC0415
    from relgate.cache.why import explain  # noqa: PLC0415
    from relgate.eval.cli.cache_asked import said, wanted_grade  # noqa: PLC0415

    output, project = _begin(flags, "catalogue", "judgments", "rubric", "judge", "judge_family")
    wanted = wanted_grade(project, output, query=query, doc_id=doc, text=text)
    with valid_rows(project.cache) as rows:
        answer = explain(rows, wanted)
    for line in said(answer, wanted):
        output.line(line)
    row = answer.nearest
    output.document(
        {
            "cached": answer.cached,
            "changed": [str(part) for part in answer.changed],
            "grades_of_query": answer.of_query,
            "wanted": {
                "version": wanted.version,
                "fingerprint": wanted.fingerprint,
                "model": wanted.model,
            },
            "nearest": None if row is None else row.model_dump(exclude={"reason"}),
        }
    )


@command.command("verify")
@_common
def verify(**flags: Any) -> None:  # noqa: ANN401 - click
    """Read every row as if it were to be served; exit code 6 if one cannot be."""
    from relgate.cache.upkeep import verify_cache  # noqa: PLC0415

    output, project = _begin(flags)
    found = verify_cache(project.cache)
    bad = found.damaged + found.foreign
    output.line(
        f"{found.place}: {found.sound:,} rows sound, {found.damaged:,} damaged, "
        f"{found.foreign:,} foreign"
    )
    for key in found.damaged_keys:
        output.line(f"damaged: {key}")
    if bad:
        output.line("they are never served: each is graded again when it is asked for")
    output.document(
        {
            "place": found.place,
            "sound": found.sound,
            "damaged": found.damaged,
            "foreign": found.foreign,
            "damaged_keys": list(found.damaged_keys),
        }
    )
    if bad:
        click.get_current_context().exit(6)


@command.command("prune")
@click.option("--version", help="Grades of this judge version, or of all with this tag.")
@click.option("--model", help="Grades of this model.")
@click.option("--older-than", type=FiniteRange(min=0), help="Grades older than so many days.")
@_yes
@_common
def prune(version: str | None, model: str | None, **flags: Any) -> None:  # noqa: ANN401 - click
    """Take out grades that fit all that is given; shows them first."""
    from relgate.cache.contents import valid_rows  # noqa: PLC0415
    from relgate.cache.store import open_store  # noqa: PLC0415
    from relgate.cache.upkeep import Selection, delete_keys, select  # noqa: PLC0415

    output, project = _begin(flags)
    days = flags["older_than"]
    before = None if days is None else now() - timedelta(days=days)
    selection = Selection(version=version, model=model, before=before)
    with valid_rows(project.cache) as rows:
        keys, by_judge = select(rows, selection)
    output.table(
        "",
        ["Judge version", "Model", "Grades"],
        [[judge.version, judge.model or "-", f"{n:,}"] for judge, n in by_judge.items()],
        text_columns=(0, 1),
    )
    deleted = 0
    if flags["yes"] and keys:
        with closing(open_store(project.cache, required=True)) as store:
            deleted = delete_keys(store, keys)
    done = f"{deleted:,} deleted" if flags["yes"] else "none deleted: say --yes to do it"
    output.line(f"{len(keys):,} grades to prune, {done}")
    output.document({"selected": len(keys), "deleted": deleted})


@command.command("gc")
@_yes
@_common
def collect(**flags: Any) -> None:  # noqa: ANN401 - click
    """Delete damaged files that were set aside; never in the step that starts a fresh one."""
    from relgate.cache.upkeep import remove_set_aside  # noqa: PLC0415

    output, project = _begin(flags)
    files = remove_set_aside(project.cache, yes=flags["yes"])
    for file in files:
        output.line(str(file))
    done = "deleted" if flags["yes"] else "none deleted: say --yes to do it"
    output.line(f"{len(files):,} files set aside, {done}")
    output.document({"files": [str(f) for f in files], "deleted": bool(flags["yes"])})


@command.command("export")
@click.argument("file", type=FILE)
@_common
def export(file: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Write every sound grade to FILE as JSON lines."""
    from relgate.cache.contents import valid_rows  # noqa: PLC0415
    from relgate.cache.transfer import export_rows  # noqa: PLC0415
    from relgate.eval.files import new_file  # noqa: PLC0415

    output, project = _begin(flags)
    with valid_rows(project.cache) as rows, new_file(file) as lines:
        count = export_rows(rows, lines)
    output.line(f"{count:,} grades written to {file}")
    output.document({"rows": count, "file": str(file)})


@command.command("import")
@click.argument("file", type=FILE)
@_common
def import_(file: Path, **flags: Any) -> None:  # noqa: ANN401 - click
    """Store the grades of an export; what is there stays as it is."""
    from relgate.cache.store import open_store  # noqa: PLC0415
    from relgate.cache.transfer import import_rows  # noqa: PLC0415

    output, project = _begin(flags)
    with closing(open_store(project.cache, required=True)) as store:
        done = import_rows(file, store)
    output.line(f"{done.stored:,} grades stored, {done.there:,} were there")
    output.document({"stored": done.stored, "there": done.there})


@command.command("seed")
@click.option("--judgments", type=FILE, help="A list with a judge's grades and their provenance.")
@click.option("--catalogue", type=FILE, help="Product texts.")
@click.option("--queries", type=FILE, help="Query texts, where the list has ids alone.")
@click.option("--rubric", help="What the grades mean: a tag or a file.")
@_yes
@_common
def seed(**flags: Any) -> None:  # noqa: ANN401 - click
    """Turn a judge's earlier judgments into cached grades, where nothing changed since."""
    from relgate.cache.store import open_store  # noqa: PLC0415
    from relgate.eval.cli.cache_asked import seeds  # noqa: PLC0415

    output, project = _begin(flags, "judgments", "catalogue", "queries", "rubric")
    rows, refused = seeds(project, output)
    stored = there = 0
    if flags["yes"] and rows:
        with closing(open_store(project.cache, required=True)) as store:
            known = store.get_many(rows)
            there = len(known)
            stored = store.put_many({k: text for k, text in rows.items() if k not in known})
    reasons: dict[str, list[dict[str, str]]] = {}
    for query, doc, why_not in refused:
        reasons.setdefault(str(why_not), []).append({"query": query, "doc_id": doc})
    for reason, pairs in reasons.items():
        output.line(f"{len(pairs):,} left out: {reason}")
        for pair in pairs[:_MOST_LISTED]:
            output.line(f"    {pair['query']} / {pair['doc_id']}")
        if len(pairs) > _MOST_LISTED:
            output.line(f"    and {len(pairs) - _MOST_LISTED:,} more; --json lists all")
    done = f"{stored:,} stored, {there:,} were there"
    output.line(
        f"{len(rows):,} judgments can be cached grades, "
        + (done if flags["yes"] else "none stored: say --yes to do it")
    )
    output.document({"fit": len(rows), "stored": stored, "there": there, "left_out": reasons})
