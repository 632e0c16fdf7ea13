"""A review as one HTML file, from `review.json` alone: a saved review gives the same page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relgate.eval.report.html import review_tables as tables
from relgate.eval.report.html.losers import loser_groups, loser_targets
from relgate.eval.report.html.moved import Moved, delta_chart, moved_queries, slope_chart
from relgate.eval.report.html.numbers import chance, change_tone, count, number, share, signed
from relgate.eval.report.html.page import render
from relgate.eval.report.html.parts import (
    Charts,
    Fact,
    Facts,
    Fold,
    Note,
    Page,
    Part,
    Points,
    Section,
    Tone,
)
from relgate.eval.review.rules import RULES

__all__ = ["review_html"]

Document = Mapping[str, Any]

_TONES: dict[str, Tone] = {
    "APPROVE": "good", "NEEDS-WORK": "warn", "BLOCK": "bad", "REFUSE": "muted",
}  # fmt: skip
_NAMES = {rule.id: rule.name for rule in RULES}


def review_html(document: Document) -> str:
    """The page of a review; no figure in it is not in the document.

    Args:
        document: what `review_document` makes and `review.json` holds.
    """
    moved = moved_queries(document["queries"])
    change = document["change"]
    sha = None if change is None else change["sha"]
    heading = f"Search relevance review of {sha}" if sha else "Search relevance review"
    return render(
        Page(
            title=f"{document['verdict']}: {heading}",
            heading=heading,
            word=document["verdict"],
            why=document["headline"],
            tone=_TONES.get(document["verdict"], ""),
            tiles=_tiles(document, moved),
            sections=_sections(document, moved),
            footer=f"Format {document['format']}. Every figure is in review.json.",
        )
    )


def _sections(document: Document, moved: Moved) -> tuple[Section, ...]:
    made = {
        ("actions", "Recommended actions"): _actions(document),
        ("findings", "Findings"): _findings(document),
        ("subject", "What was reviewed"): _subject(document),
        ("means", "Means"): _means(document),
        ("moved", "How queries moved"): _moved(document, moved),
        ("worse", "Queries that got worse"): _worse(document, moved),
        ("losers", "Top losers, side by side"): loser_groups(document["losers"]),
        ("groups", "Groups of queries"): _groups(document),
        ("coverage", "Coverage and provenance"): _coverage(document),
        ("judge", "Judge"): _judge(document),
        ("bounds", "Bounds"): _bounds(document),
        ("supplied", "Evidence that came with the change"): _supplied(document),
        ("rules", "Rules"): iter([tables.rule_table(document, _NAMES)]),
        ("notes", "Notes and inputs"): _notes(document),
    }
    return tuple(Section(key, title, tuple(parts)) for (key, title), parts in made.items())


def _tiles(document: Document, moved: Moved) -> Facts:
    mean = document["aggregate"][document["primary"]]
    unrated = document["coverage"]["unrated"]
    change = signed(mean["delta"])
    return Facts(
        (
            Fact(mean["name"], f"{number(mean['before'])} to {number(mean['after'])}"),
            Fact("Change of the mean", change, change_tone(mean["delta"])),
            Fact("Got worse / better", f"{count(len(moved.worse))} / {count(len(moved.better))}"),
            Fact("Queries scored", count(moved.paired)),
            Fact("Unrated after the change", share(unrated["mean_share_after"])),
        ),
        tiles=True,
    )


def _actions(document: Document) -> Iterator[Part]:
    if document["actions"]:
        yield Points(tuple(document["actions"]), ordered=True)


def _findings(document: Document) -> Iterator[Part]:
    """A refusal has no severities beside its own: they would be verdicts."""
    if document["findings"]:
        yield tables.finding_table(document, _NAMES)
    else:
        yield Note("No rule found anything.")
    if document["withheld"]:
        seen = tuple(f"{f['rule']}: {f['message']}" for f in document["withheld"])
        yield Fold(
            f"Also seen, in figures that are not to be relied on ({len(seen)})", (Points(seen),)
        )


def _subject(document: Document) -> Iterator[Part]:
    change = document["change"]
    mean, kept = document["aggregate"][document["primary"]], document["conventions"]
    if change is None:
        yield Note("The change was not described.")
    else:
        yield Facts(tuple(_change_facts(change)))
        yield from _diff(change["detected"])
    settings = document["settings"]
    own = ", ".join(f"{name} {settings[name]:g}" for name in document["settings_changed"])
    facts = [
        Fact("Primary metric", mean["name"]),
        Fact("Scores", _basis(document)),
        Fact("Depth and floor", f"k {kept['k']}, relevant from grade {kept['floor']}"),
    ]
    if own:
        facts.append(Fact("Budgets of the project's own", own))
    yield Facts(tuple(facts))


def _diff(found: Sequence[Mapping[str, Any]] | None) -> Iterator[Part]:
    """Nothing without a diff; a diff in which nothing is known is said to be one."""
    if found:
        yield tables.detected_table(found)
    elif found is not None:
        yield Note("The diff shows no search configuration that is known here.")


def _basis(document: Document) -> str:
    kept, apart = document["conventions"], document["coverage"]["no_ideal"]
    text: str = kept["basis"]
    if not kept["covers_all"]:
        text += (
            f"; the {count(len(document['queries']))} queries listed are not all that the mean is "
            "over"
        )
    if apart:
        how = "reported apart" if kept["no_ideal"] == "apart" else "counted as 0"
        noun = "query" if apart == 1 else "queries"
        text += f"; {count(apart)} {noun} without a judgment above grade 0, {how}"
    return text


def _change_facts(change: Mapping[str, Any]) -> Iterator[Fact]:
    models = change["system_models"]
    stated = "not stated" if models is None else ", ".join(models) or "none"
    yield Fact("Change", change["description"] or "not described")
    where = ", found in the diff" if change["types_from_diff"] else ""
    yield Fact("Type", (", ".join(change["types"]) or "not given") + where)
    yield Fact("Intent", change["intent"] or "not given")
    yield Fact("Models in the pipeline", stated)


def _means(document: Document) -> Iterator[Part]:
    yield tables.aggregate_table(document)
    noise = document["noise"]
    if noise is not None:
        low, high = signed(noise["low"]), signed(noise["high"])
        yield Facts(
            (
                Fact("95 % interval of the change", f"{low} to {high} (bootstrap over queries)"),
                Fact("p", f"{chance(noise['p'])} (sign-flip randomisation, two-sided)"),
                Fact("Smallest detectable change", f"{number(noise['detectable'])} at 80 % power"),
            )
        )
    if document["corrected"] is not None:
        yield from _corrected(document["corrected"])


def _corrected(found: Mapping[str, Any]) -> Iterator[Part]:
    """The change by people, by the judge, and corrected; or why it is not corrected."""
    n, more = found["n"], found["unlabelled"]
    made = [
        (f"By people's grades alone, {count(n)} queries", found["people"]),
        (f"By the judge's grades alone, {count(n + more)} queries", found["judge"]),
        (f"Corrected, lambda {number(found['lambda'], 2)}", found["corrected"]),
    ]
    if found["why"] is not None:
        yield Note(f"The change is not corrected by people's labels: {found['why']}.")
    shown = [(name, delta) for name, delta in made if delta is not None]
    if shown:
        yield Facts(
            tuple(
                Fact(
                    name,
                    f"{signed(delta['delta'])} (95 %: {signed(delta['low'])} to "
                    f"{signed(delta['high'])})",
                )
                for name, delta in shown
            )
        )
        yield Note(f"{found['metric']}; {found['method']}.", "muted")
    if found["notes"]:
        yield Points(tuple(found["notes"]))


def _moved(document: Document, moved: Moved) -> Iterator[Part]:
    if not (moved.worse or moved.better):
        yield Note(f"None of the {count(moved.paired)} queries scored on both sides moved.")
        return
    table_at = "worse-table" if moved.worse else "better-table"
    mean = document["aggregate"][document["primary"]]
    yield Charts((delta_chart(moved), slope_chart(moved, mean, table_at)))


def _worse(document: Document, moved: Moved) -> Iterator[Part]:
    if moved.worse:
        yield tables.query_table(
            "worse-table", "Worst first", moved.worse, loser_targets(document["losers"])
        )
    else:
        yield Note("None.")
    if moved.better:
        table = tables.query_table("better-table", "Best first", moved.better, {})
        yield Fold(f"Queries that got better ({count(len(moved.better))})", (table,))


def _groups(document: Document) -> Iterator[Part]:
    if document["strata"]:
        yield tables.strata_table(document)
    if document["apart"]:
        yield tables.apart_table(document["apart"])


def _coverage(document: Document) -> Iterator[Part]:
    coverage = document["coverage"]
    yield Facts(
        (
            Fact("Queries", count(coverage["queries"])),
            Fact("Scored on both sides", count(coverage["scored"])),
            Fact("Without any judgment", count(coverage["unjudged"])),
            Fact("Without a judgment above grade 0", count(coverage["no_ideal"])),
            Fact("Judged, but in neither run", count(coverage["list_only"])),
        )
    )
    if coverage["judgments"]:
        yield tables.source_table(coverage)
    if coverage["unrated"]["known"]:
        yield tables.unrated_table(coverage)
    else:
        yield Note("The files do not say which documents are unrated.")


def _judge(document: Document) -> Iterator[Part]:
    judge = document["judge"]
    if judge["fill"] is not None:
        yield Facts(tuple(_fill_facts(judge["fill"])))
    for use in judge["grades"]:
        yield Facts(tuple(_judge_facts(use)))
    if judge["overrides"]:
        yield Points(tuple(judge["overrides"]))
    made = document["coverage"]["by_source"].get("judge", 0)
    if made and not judge["grades"]:
        yield Note(f"{made:,} grades were made by a judge that nothing names.", "bad")
    elif not (judge["fill"] or made or judge["overrides"]):
        yield Note("No judge's grades are in the scores.")


def _fill_facts(fill: Mapping[str, Any]) -> Iterator[Fact]:
    failed = fill["asked"] - fill["graded"]
    kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(fill["errors"].items()))
    yield Fact("Fill by", fill["judge"])
    yield Fact(
        "Graded",
        f"{fill['graded']:,} of {fill['asked']:,} asked, {fill['cached']:,} from the cache",
    )
    if failed:
        yield Fact("Failed", f"{failed:,} ({share(fill['error_rate'])}): {kinds}", "bad")
    if fill["not_asked"]:
        yield Fact("Not asked, since the run stopped", count(fill["not_asked"]), "bad")
    if fill["no_text"]:
        yield Fact("Without text, not asked", count(fill["no_text"]))
    if fill["calls"] is not None:
        yield Fact("Calls", count(fill["calls"]))
    if fill["cost_usd"] is not None:
        yield Fact("Cost", f"about {fill['cost_usd']:.4f} USD")
    if fill["saved_usd"] is not None:
        yield Fact("Saved by the cache", f"about {fill['saved_usd']:.4f} USD")


def _judge_facts(use: Mapping[str, Any]) -> Iterator[Fact]:
    problem = use["certificate_problem"]
    yield Fact("Judge", use["version"] or "version not stated")
    if use["model"]:
        yield Fact("Model", f"{use['model']}, family {use['family'] or 'unknown'}")
    yield Fact("Grades", count(use["grades"]))
    yield Fact("Fingerprint", use["fingerprint"] or "not stated")
    if problem is None:
        yield Fact("Certificate", f"trusted under policy {use['policy']}", "good")
    else:
        yield Fact("Certificate", problem, "bad")
    if use["certificate"] is not None:
        yield from _certificate_facts(use["certificate"])


def _certificate_facts(facts: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("It was earned on", f"{facts['labels']:,} labels of {facts['queries']:,} queries")
    for name, key in (("F1 at the floor", "f1"), ("Quadratic kappa", "kappa_quadratic")):
        found = facts[key]
        low, high = (number(found[end], 3) for end in ("low", "high"))
        yield Fact(name, f"{number(found['point'], 3)} (95 % {low} to {high})")
    yield Fact("Made, expires", f"{facts['made_on']}, {facts['expires_on']}")


def _bounds(document: Document) -> Iterator[Part]:
    facts = document["judge"]["open_fill"]
    if facts is None:
        return
    refused = document["verdict"] == "REFUSE"
    settled = "settled: no open grade can change it" if facts["settled"] else "open"
    yield Facts(
        (
            Fact("Verdict", settled),
            Fact("Unrated pairs", count(facts["pairs"])),
            Fact("Asked", f"{count(facts['asked'])} in {count(facts['waves'])} waves"),
            Fact("Saved", count(facts["saved"])),
            Fact("Bounds", facts["bounds"]),
            *_judge_error(facts["judge_error"]),
        )
    )
    yield tables.bounds_table(facts, with_verdicts=not refused)


def _judge_error(error: Document | None) -> Iterator[Fact]:
    if error is None:
        return
    yield Fact("Judge error", f"{error['level']:.0%} of people's grades stay possible")
    yield Fact("Grades in doubt", count(error["documents"]))
    for judge in error["judges"]:
        kept = "; ".join(f"{g}: {', '.join(map(str, k))}" for g, k in judge["possible"].items())
        yield Fact(judge["version"], kept)
    if error["open"]:
        docs = sum(len(query["doc_ids"]) for query in error["open"])
        yield Fact("For people to grade", f"{count(docs)} documents, listed in review.json")


def _supplied(document: Document) -> Iterator[Part]:
    given = document["supplied"]
    truth, filters = given["ground_truth"], given["filters"]
    if document["modes"]:
        yield tables.mode_table(document["modes"])
    if given["latency"] is not None:
        yield tables.latency_table(given["latency"])
    if truth is not None:
        recall = f"{number(truth['recall_before'])} to {number(truth['recall_after'])}"
        yield Facts(
            (
                Fact("Ground truth", _yes(truth["recomputed"], "recomputed", "reused")),
                Fact("Made with", truth["model"] or "not stated"),
                Fact("Source", truth["source"] or "not stated"),
                Fact("Recall", recall),
            )
        )
    if filters is not None:
        was, now = filters["before"] or "not stated", filters["after"] or "not stated"
        yield Facts((Fact("Filter strategy", f"{was} before, {now} after"),))
        if filters["cases"]:
            yield tables.filter_table(filters["cases"])


def _yes(value: bool | None, yes: str, no: str) -> str:  # noqa: FBT001 - a JSON value
    return "not stated" if value is None else yes if value else no


def _notes(document: Document) -> Iterator[Part]:
    notes = tuple(dict.fromkeys([*document["cross_checks"], *document["warnings"]]))
    if notes:
        yield Points(notes)
    if document["inputs"]:
        yield Facts(tuple(Fact(what, where) for what, where in document["inputs"].items()))
