#!/usr/bin/env bash
# Installs the Chromium that tests/browser opens the reports in. Playwright's own is not downloaded.
# Without it those tests skip and say so; that is no failure of this script.
set -euo pipefail

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null \
        || echo "browser: chromium could not be installed; the tests in a browser will skip" >&2
else
    echo "browser: no chromium; the tests in a browser will skip (sudo apt-get install chromium)" >&2
fi
