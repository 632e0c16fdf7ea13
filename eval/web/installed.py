"""Whether the server's two packages are there: they are an extra."""

from __future__ import annotations

from importlib.util import find_spec

from relgate.rubrics.errors import PlatformError

__all__ = ["require_web"]

_PACKAGES = ("starlette", "uvicorn")


def require_web() -> None:
    """Call it before anything else of `relgate.eval.web` is imported.

    Raises:
        PlatformError: the extra `web` is not installed.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise PlatformError(
            f"a local page needs {' and '.join(missing)}; pip install 'relgate[web]'"
        )
