# Two commands: `make run` serves the demo, `make test` proves everything. Both do all set-up.
PYTHON ?= python3
BIN := .venv/bin
export HF_HUB_OFFLINE := 1

.PHONY: run test test-sqlite test-postgres check bench chaos format browser clean

run: .venv/installed
	@$(BIN)/python manage.py serve --demo

test: .venv/installed-dev browser check test-sqlite test-postgres

test-sqlite: .venv/installed-dev browser
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-postgres: .venv/installed-dev
	TANDEM_TEST_DATABASE=postgres $(BIN)/python -m pytest -n 2 --dist loadgroup tests/annotation tests/config

check: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy mtl_engine analysis annotation config
	TANDEM_HOME=$$(mktemp -d) $(BIN)/python manage.py makemigrations --check --dry-run

format: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

chaos: .venv/installed-dev
	$(BIN)/python -m benchmarks.chaos

browser: .venv/installed-dev
	@sh tests/browser/get_browser.sh $(BIN)/playwright

.venv/installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Tandem needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 run"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing Tandem's requirements (once, a few minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt requirements-cluster.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
