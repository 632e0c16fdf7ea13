"""Where to look at one query further: Splainer and Quepid. Pure; a link is text, nothing is opened.

Splainer reads its start from the address's fragment (`#?solr=`, `#?esUrl=&esQuery=`,
`#?osUrl=&osQuery=`, each with `fieldSpec`), decoding each value once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

__all__ = ["QUERY_MARK", "DebugTools", "Splainer"]

_MAX_SHOWN_CHARS = 80

QUERY_MARK = "{query}"
"""Stands for the query's text in a template."""


@dataclass(frozen=True, slots=True)
class Splainer:
    """How Splainer reaches the engine.

    Attributes:
        engine: `solr`, `es` or `os`.
        url: the engine's search address. For Solr with its parameters and `{query}` in them.
        query: for es and os the body as JSON text, with `{query}` in a string of it.
        fields: Splainer's field spec, `id title:name price`; None leaves it to Splainer.
        site: where Splainer is served.
    """

    engine: Literal["solr", "es", "os"]
    url: str
    query: str | None = None
    fields: str | None = None
    site: str = "https://splainer.io/"

    def link(self, text: str) -> str:
        """The address that opens Splainer on this query; nothing in it but URL characters."""
        if self.engine == "solr":
            values = {"solr": self.url.replace(QUERY_MARK, quote(text, safe="", errors="replace"))}
        else:
            body = (self.query or "").replace(QUERY_MARK, json.dumps(text)[1:-1])
            values = {f"{self.engine}Url": self.url, f"{self.engine}Query": body}
        if self.fields is not None:
            values["fieldSpec"] = self.fields
        pairs = "&".join(
            f"{name}={quote(value, safe='', errors='replace')}" for name, value in values.items()
        )
        return f"{self.site}#?{pairs}"


@dataclass(frozen=True, slots=True)
class DebugTools:
    """What the project says of its debugging tools.

    Attributes:
        splainer: how Splainer reaches the engine; None when not said.
        quepid: the address of the Quepid case that holds these queries; None when not said.
    """

    splainer: Splainer | None = None
    quepid: str | None = None

    def pointers(self, text: str) -> dict[str, str | None]:
        """For one query: the links that the project makes possible, and what to do without."""
        return {
            "splainer": None if self.splainer is None else self.splainer.link(text),
            "quepid": self.quepid,
            "how": _how(text[:_MAX_SHOWN_CHARS], self),
        }


def _how(text: str, tools: DebugTools) -> str:
    splainer = (
        "open the Splainer link"
        if tools.splainer
        else f'paste the engine\'s request for "{text}" into Splainer (splainer.io)'
    )
    quepid = (
        f'open the Quepid case and filter it by "{text}"'
        if tools.quepid
        else f'add "{text}" to a Quepid case'
    )
    return f"{splainer} to see how each document scores; {quepid} to rate the doubtful ones"
