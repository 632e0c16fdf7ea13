#!/usr/bin/env bash
# Installs the Redis server that tests/cache starts for itself, on a socket file of its own.
# Without it those tests skip and say so; that is no failure of this script.
set -euo pipefail

command -v redis-server >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server; } >/dev/null \
        || echo "redis: redis-server could not be installed; the tests over Redis will skip" >&2
else
    echo "redis: no redis-server; the tests over Redis will skip (sudo apt-get install redis-server)" >&2
fi
