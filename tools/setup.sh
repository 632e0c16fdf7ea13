#!/usr/bin/env bash
# Makes .venv with the pinned requirements and relgate itself, editable.
# On a bare Debian or Ubuntu box the venv module is a package of its own: root gets it installed,
# anybody else is told the command.
set -euo pipefail
cd "$(dirname "$0")/.."

python=""
for name in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    [ -n "$name" ] && command -v "$name" >/dev/null || continue
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        python=$name
        break
    fi
done
if [ -z "$python" ]; then
    echo "setup: no Python 3.11 or newer found; install one, or name it with PYTHON=..." >&2
    exit 6
fi

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq python3-venv
    else
        echo "setup: $python has no venv module; run: sudo apt-get install python3-venv" >&2
        exit 6
    fi
fi

[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
.venv/bin/python -m compileall -q judge eval cache rubrics
