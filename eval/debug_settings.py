"""What a project says of Splainer and Quepid, checked. Pure."""

from __future__ import annotations

import json
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from relgate.eval.review.debug import QUERY_MARK, Splainer

__all__ = ["SplainerEntry", "WebAddress"]


def _web(value: str) -> str:
    try:
        parts = urlsplit(value)
        host, login = parts.hostname, parts.username or parts.password
    except ValueError as error:
        raise ValueError("no address") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise ValueError("not an http or https address")
    if login:
        raise ValueError("a login in it would stand in every report; leave it out")
    if not value.isprintable() or any(c.isspace() or c in "<>()\"'`|\\" for c in value):
        raise ValueError("characters in it that no address has")
    return value


WebAddress = Annotated[str, AfterValidator(_web)]
"""An http(s) address without a login, safe to print."""


class SplainerEntry(BaseModel):
    """The table `splainer` of relgate.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["solr", "es", "os"]
    url: WebAddress
    query: str | None = None
    fields: str | None = None
    site: WebAddress = "https://splainer.io/"

    @model_validator(mode="after")
    def _holds_the_query(self) -> SplainerEntry:
        if self.engine == "solr":
            if QUERY_MARK not in self.url:
                raise ValueError(f"url has no {QUERY_MARK}")
            if self.query is not None:
                raise ValueError("query is for es and os; Solr has its parameters in url")
            return self
        if self.query is None or QUERY_MARK not in self.query:
            raise ValueError(f"query, the request's JSON, has no {QUERY_MARK}")
        try:
            json.loads(self.query)
        except ValueError as error:
            raise ValueError("query is not JSON") from error
        return self

    def target(self) -> Splainer:
        """As the reports use it."""
        return Splainer(self.engine, self.url, self.query, self.fields, self.site)
