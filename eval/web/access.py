"""Who may come in: a random token for each role, shown once in a link, then kept in a cookie."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from types import MappingProxyType

from starlette.exceptions import HTTPException
from starlette.requests import Request

__all__ = ["Access", "need", "roles_of"]

_TOKEN_BYTES = 24
_ROLES = "relgate.roles"  # in the ASGI scope


@dataclass(frozen=True, slots=True)
class Access:
    """The tokens of a site.

    Attributes:
        tokens: role -> token. A browser may hold several roles.
    """

    tokens: Mapping[str, str] = field(repr=False)

    @classmethod
    def new(cls, *roles: str) -> Access:
        """A new random token for each role; they are worth nothing once the server has stopped."""
        made = {role: secrets.token_urlsafe(_TOKEN_BYTES) for role in roles}
        return cls(MappingProxyType(made))

    def role(self, token: str) -> str | None:
        """The role that a token opens, or None; takes as long for any wrong token."""
        given = token.encode(errors="replace")
        found = [r for r, known in self.tokens.items() if compare_digest(known.encode(), given)]
        return found[0] if found else None

    def roles(self, cookies: Mapping[str, str], port: int) -> frozenset[str]:
        """The roles that a request's cookies prove."""
        return frozenset(
            role for role in self.tokens if self.role(cookies.get(cookie(role, port), "")) == role
        )


def cookie(role: str, port: int) -> str:
    """The name of a role's cookie: browsers do not keep those of two ports apart."""
    return f"relgate-{role}-{port}"


def admit(request: Request, roles: frozenset[str]) -> None:
    """Notes which roles a request has."""
    request.scope[_ROLES] = roles


def roles_of(request: Request) -> frozenset[str]:
    """The roles that a request came in with; never empty behind the guard."""
    found: frozenset[str] = request.scope.get(_ROLES, frozenset())
    return found


def need(request: Request, role: str) -> None:
    """Lets a request pass that has the role.

    Raises:
        HTTPException: 403, it came in with another link.
    """
    if role not in roles_of(request):
        raise HTTPException(403, f"this page is for the {role}; open the {role}'s link")
