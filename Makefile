# Two commands on a fresh machine: `make demo` and `make test`. Both set up .venv by themselves.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin

.DEFAULT_GOAL := help
OLDEST := .venv-oldest/bin
.PHONY: help demo test oldest check bench paper format clean

help:
	@echo "make demo    the whole journey on 900 handwritten digits, offline, ending in a report"
	@echo "make test    lint, types, import order and all tests"
	@echo "make oldest  the tests with the oldest versions of what bequec needs"
	@echo "make check   only lint, types and import order"
	@echo "make bench   time and peak memory of fit for growing graphs"
	@echo "make paper   every table of the paper, 20 trials: many hours, can be stopped and resumed"
	@echo "make format  let ruff format the code"
	@echo "make clean   remove the environment and caches"

.venv/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "bequec needs Python 3.11 or newer on the PATH (or: make PYTHON=/path/to/python3.12 ...)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/ready-dev: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: .venv/ready
	$(BIN)/bequec demo

test: check
	$(BIN)/python -m pytest --numprocesses=2

# Each lower bound of pyproject.toml as an exact version, so that none of them is a mere claim.
.venv-oldest/ready: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
		print('\n'.join(p['dependencies'] + p['optional-dependencies']['dev']).replace('>=', '=='))" > .venv-oldest/constraints.txt
	$(OLDEST)/python -m pip install --quiet --disable-pip-version-check \
		--constraint .venv-oldest/constraints.txt --editable ".[dev]"
	@touch $@

# Old releases use what newer ones of their own dependencies have deprecated: that is no fault of bequec's.
oldest: .venv-oldest/ready
	$(OLDEST)/python -m pytest --numprocesses=2 -W ignore::DeprecationWarning

check: .venv/ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/ready-dev
	$(BIN)/python benchmarks/growth.py

# Finished trials are kept, here and in docs/, so that a run can be stopped; the page is written from all of them.
paper: .venv/ready
	mkdir -p reproduced
	test -e reproduced/trials.jsonl || cp docs/paper-trials.jsonl reproduced/trials.jsonl
	$(BIN)/bequec reproduce all --out reproduced
	$(BIN)/bequec reproduce 6 --as-published --out reproduced
	cp reproduced/paper.md docs/paper.md
	cp reproduced/trials.jsonl docs/paper-trials.jsonl

format: .venv/ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .venv-oldest .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
