#!/usr/bin/env bash
# Fills the gaps of a run with a judge that vLLM serves, over a Ray cluster.
# ENDPOINT: the server; MODEL and FAMILY: what it serves; RAY_ADDRESS: a cluster that runs, else one
# is started on this machine for the run. OUT: where the new list and the cache go.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

endpoint=${ENDPOINT:-http://127.0.0.1:8000/v1}
model=${MODEL:-Qwen/Qwen3-8B}
out=${OUT:-.}
cluster=()
if [ -n "${RAY_ADDRESS:-}" ]; then
    cluster=(--ray-address "$RAY_ADDRESS")
fi

relgate fill \
    --config "$here/relgate.toml" \
    --run "$here/run.jsonl" \
    --judge "compatible:$model@$endpoint" --judge-family "${FAMILY:-qwen}" \
    --engine ray "${cluster[@]}" --ray-workers "${WORKERS:-2}" \
    --cache "$out/cache" \
    --out "$out/filled.jsonl" "$@"
