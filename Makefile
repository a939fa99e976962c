# Two commands on a fresh clone, with python3 (3.11 or newer) and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test lint types contracts check clean

demo: $(VENV)/plot.stamp
	$(BIN)/manyview demo --out manyview-demo

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

contracts: $(VENV)/dev.stamp
	$(BIN)/lint-imports

check: test lint types contracts

# One stamp per set of extras: installing is skipped, and needs no network, until pyproject.toml changes.
$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "manyview needs Python 3.11 or newer, not " + sys.version)'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) manyview-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
