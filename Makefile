# Everything a person or CI does here. `make demo` and `make test` set up what they need.
SHELL := /bin/bash
PY := .venv/bin/python
FOLDERS := judge eval cache rubrics

.PHONY: demo test check format types docs site bench soak peers redis browser clean

.venv/ready: pyproject.toml requirements/dev.txt tools/setup.sh
	bash tools/setup.sh
	touch $@

demo: .venv/ready ## the main job on bundled input: no key, no network
	.venv/bin/relgate demo --out out/demo

test: .venv/ready ## all but the long forms, a file to a core at a time
	$(PY) -m pytest -m "not soak" -n auto --maxprocesses 4 --dist loadfile

soak: .venv/ready ## the long forms: kills, storms, fuzz
	$(PY) -m pytest -m soak

peers: .venv/ready ## servers of other makers that tests/peers talks to; without them those tests skip
	bash tools/peers.sh

redis: ## the server that tests/cache starts for itself; without it those tests skip
	bash tools/redis.sh

browser: ## the Chromium that tests/browser opens reports in; without it those tests skip
	bash tools/browser.sh

types: .venv/ready
	mkdir -p .types/relgate
	for d in $(FOLDERS); do ln -sfn ../../$$d .types/relgate/$$d; done

check: types ## format, lint, types, layers
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pyright
	.venv/bin/lint-imports

format: .venv/ready
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

docs: .venv/ready ## pages made from code
	$(PY) -m relgate.eval.report.rule_table > docs/rules.md
	$(PY) -m relgate.eval.report.schema > docs/review.schema.json
	$(PY) -m relgate.eval.demo.sizing docs/scale.md
	$(PY) -m relgate.eval.report.setting_table > docs/settings.md
	$(PY) docs/_site/pictures.py docs/pictures

site: .venv/ready ## the documentation as a site, out/site/html: a warning is a failure
	$(PY) -m sphinx -q -W --keep-going -c docs -b html -d out/site/.doctrees . out/site/html

bench: .venv/ready ## ratios against a peer in the same run
	$(PY) bench/run.py

clean:
	rm -rf .venv .types out build dist *.egg-info
