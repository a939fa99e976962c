# Two commands on a fresh clone, with python3 (3.11 or newer) and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test test-oldest test-newest mutants lint types contracts check docs dist clean

demo: $(VENV)/plot.stamp
	$(BIN)/manyview demo --out manyview-demo

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The lowest versions that pyproject.toml allows, in a separate environment. Their deprecation warnings are ignored.
OLDEST := $(VENV)-oldest
test-oldest: $(VENV)/dev.stamp
	$(PYTHON) -m venv --clear $(OLDEST)
	$(BIN)/python tools/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(OLDEST)/constraints.txt -e ".[test]"
	$(OLDEST)/bin/python -m pytest -n 2 -p no:cacheprovider -W ignore::DeprecationWarning -W ignore::FutureWarning \
	  -W ignore::PendingDeprecationWarning

# The newest versions, including pre-releases.
NEWEST := $(VENV)-newest
test-newest:
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --pre --upgrade -e ".[test]"
	$(NEWEST)/bin/python -m pytest -n 2 -p no:cacheprovider

# Whether the tests notice changes in the numerical core: a seeded sample, see tools/mutants.py. ARGS="--sample 100 --seed 1"
mutants: $(VENV)/mutants.stamp
	$(BIN)/python tools/mutants.py $(ARGS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

contracts: $(VENV)/dev.stamp
	$(BIN)/lint-imports

check: test lint types contracts

# The site, including the output of the gallery scripts. It needs no network once its tools are installed.
docs: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(VENV)/release.stamp
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

# One stamp per set of extras: installing is skipped, and needs no network, until pyproject.toml changes.
$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "manyview needs Python 3.11 or newer, not " + sys.version)'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) $(OLDEST) $(NEWEST) manyview-demo mutants dist docs/_build docs/gallery docs/api/generated docs/api/used_in .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
