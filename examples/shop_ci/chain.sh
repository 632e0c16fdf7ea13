#!/usr/bin/env bash
# The whole chain, in this folder: measure, change the synonyms, measure again, review the two runs with gaps filled by
# the baseline judge, hold the change against the budgets. $1 is the changed synonym file; files go to out/.
# Exit code: that of relgate drift; the review's is printed.
set -euo pipefail
changed=$1
relgate run --golden golden.json --engine engine.toml --out out/before
cp "$changed" synonyms.txt
relgate run --golden golden.json --engine engine.toml --out out/after
code=0
relgate review --before out/before/run-synonyms-on.jsonl --after out/after/run-synonyms-on.jsonl \
  --judgments golden.json --judge baseline --fill top-k --out out/review || code=$?
echo "relgate review: exit code $code"
relgate drift --current out/after/relevance.json --baseline baseline/relevance.json --budgets budgets.json --out out/drift
