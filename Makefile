# `make demo` and `make test` are all a newcomer needs: each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests wait for daemons some of their time: two workers more than there are cores.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)')
# Hundreds of stores make every write durable: in memory, where there is plenty, that costs nothing.
MEMORY := /dev/shm
IN_MEMORY = $(shell $(PYTHON) -c 'import shutil; print(shutil.disk_usage("$(MEMORY)").free >> 33)' 2>/dev/null)

.PHONY: demo test slow check lock audit bench bench-small storm proof proof-full sbom browser pictures package-check newcomer docs clean

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "ragvigil needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		-c constraints.txt -e '.[all,dev]'
	@# pip would compile every file with one core. Some are templates of code, which do not compile.
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true
	@touch $@

demo: $(READY) ## a daemon, 8 days of traffic, a fault: what moved, where, since when
	@$(BIN)/ragvigil demo

# Tests start some hundred processes: without bytecode each would compile the whole package again.
test slow bench-small: export PYTHONDONTWRITEBYTECODE =
test: export TMPDIR := $(if $(filter-out 0,$(IN_MEMORY)),$(MEMORY),$(TMPDIR))
test: $(READY) ## everything that proves the answers, small sizes
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not world and not slow"

slow: $(READY) ## daemons one by one: killed, behind TLS, with bad neighbours; imports, extras, the example service
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m slow

bench-small: $(READY) ## every benchmark at its small size: right answers, whatever the speed
	@$(BIN)/python -m pytest -q -n auto --dist load --maxschedchunk 1 bench

check: $(READY) ## style, types, import rules, licences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.licences

lock: $(READY) ## requirements.lock: every library with its hashes, at the versions of constraints.txt
	@{ sed -n '/^#/p' requirements.lock; $(BIN)/uv pip compile pyproject.toml --extra all --universal \
		--python-version 3.11 --generate-hashes -c constraints.txt --no-annotate --no-header --quiet; \
		} > requirements.lock.new && mv requirements.lock.new requirements.lock

audit: $(READY) ## known holes of the locked libraries; asks a service on the network
	@$(BIN)/uv tool run pip-audit@2.10.1 --require-hashes --disable-pip -r requirements.lock

bench: $(READY) ## every promise about speed, size and accuracy, at full size
	@for b in $$(grep -l 'finish(' bench/*.py); do \
		echo "== $$b"; $(BIN)/python $$b || failed=1; done; test -z "$$failed"

storm: $(READY) ## kills under load and while the judge works, damage of 49 kinds, a full disk
	@$(BIN)/python bench/kill_storm.py
	@$(BIN)/python bench/kill_points.py
	@$(BIN)/python bench/restarts.py
	@$(BIN)/python bench/judge_storm.py
	@$(BIN)/python bench/damage.py
	@$(BIN)/python bench/full_disk.py

proof: $(READY) ## every promise about damage, kills, outages, secrets at small sizes; docs/proof.md
	@$(BIN)/python bench/proof.py

proof-full: $(READY) ## the same at full sizes: some hours
	@$(BIN)/python bench/proof.py --full

sbom: $(READY) ## sbom.json: the libraries of requirements.lock with their hashes, as CycloneDX
	@$(BIN)/uv tool run --from cyclonedx-bom==7.5.0 cyclonedx-py requirements requirements.lock \
		--output-format JSON --output-file sbom.json

browser: $(READY) ## every page in Chromium: who can use it, what strangers' texts do, eight clicks
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m world tests/browser

pictures: $(READY) ## the pictures of README and docs/pages.md, taken again
	@$(BIN)/python -m tests.browser.screenshots

package-check: $(READY) ## sdist and wheel, built and used as a user does: sizes, commands, the demo
	@$(BIN)/python bench/package.py

newcomer: $(READY) ## a new user's own service, in an environment of its own, against its own log
	@$(BIN)/python bench/newcomer.py

docs: $(READY) ## tables of the READMEs, docs/reference and the dashboards, from the code
	@$(BIN)/python -m tests.house.tables --write
	@$(BIN)/python -m tests.house.reference --write
	@$(BIN)/python -m deploy.grafana.make --write

clean: ## everything that make made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
