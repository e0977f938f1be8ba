# Two commands: `make run` serves the demo, `make test` proves everything. Both do all set-up.
PYTHON ?= python3
BIN := .venv/bin
# Exactly the locked packages, each compared with its hash; of torch the CPU build where pip finds it.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r
# Servers, browsers and workers that are killed share the machine with two test processes. What fails there is run once
# more, alone, and must pass then; both results are printed, so that a test which needs this is seen and mended.
ALONE := || { test $$? -eq 1 && echo "Once more, alone:" && $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -n 0

# The suite starts a hundred processes; each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run wheels api docs lock sbom audit test test-corpora test-sqlite test-postgres check check-types check-rest bench chaos soak attack format browser clean

run: .venv/installed
	@$(BIN)/python manage.py serve --demo

test: .venv/installed-dev browser check test-sqlite test-postgres

test-sqlite: .venv/installed-dev browser
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(ALONE); }

test-postgres: export TANDEM_TEST_DATABASE := postgres
# Formats read streams and know no database; what else cannot differ there is left out by tests/environment.py.
test-postgres: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore tests/annotation/formats tests/annotation tests/config $(ALONE) tests/annotation tests/config; }

test-corpora: .venv/installed-dev
	TANDEM_TEST_CORPORA=required $(BIN)/python -m pytest -m corpora

# Types take as long as all the rest together, so both run at once.
check: .venv/installed-dev
	@$(MAKE) --no-print-directory -j 2 check-types check-rest

check-types:
	$(BIN)/mypy mtl_engine analysis annotation config tandem_client

check-rest:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	TANDEM_HOME=$$(mktemp -d) $(BIN)/python manage.py makemigrations --check --dry-run
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $$(mktemp -d)

docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "The documentation is in site/index.html"

wheels: .venv/installed
	rm -rf build */build
	$(BIN)/python -m pip wheel --quiet --no-deps -w dist . ./mtl_engine ./tandem_client
	rm -rf build */build *.egg-info

api:
	TANDEM_HOME=$$(mktemp -d) $(BIN)/python manage.py spectacular --file docs/openapi.yaml
	$(BIN)/python -m tests.tandem_client.generate

lock: .venv/installed-dev
	$(BIN)/python deploy/lock.py

sbom: .venv/installed-dev
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --of JSON -o dist/sbom.json

format: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

audit: .venv/installed-dev
	$(BIN)/python deploy/audit.py $(OSV)

soak: .venv/installed-dev
	$(BIN)/python -m benchmarks.soak --minutes 60

attack: .venv/installed-dev
	$(BIN)/python -m benchmarks.attack

chaos: .venv/installed-dev
	$(BIN)/python -m benchmarks.chaos --kills 100 --sentences 800 --minutes 18 --beside

browser: .venv/installed-dev
	@sh tests/browser/get_browser.sh $(BIN)/playwright

.venv/installed: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Tandem needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 run"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing Tandem's requirements (once, a few minutes)"
	@$(INSTALL) requirements.lock
	@$(INSTALL) requirements-torch-cpu.lock 2>/dev/null || $(INSTALL) requirements-torch.lock
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.lock
	@$(INSTALL) requirements-dev.lock
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
