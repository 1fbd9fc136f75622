# Everything sets itself up: the only thing needed is Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PACKAGES := core knowledge connectors scheduler bot evaluation playground admin

.PHONY: playground demo test test-slow check bench format clean

$(VENV)/base.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/base.stamp
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

## playground: a chat, a wiki, notes and a mailbox in the browser, with the bot at work in them
playground: $(VENV)/base.stamp
	$(BIN)/zhixing playground

## demo: sync the sample company into a fresh home folder and ask it a few questions
demo: $(VENV)/base.stamp
	$(BIN)/zhixing demo

## test: the whole suite, with coverage
test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest --cov --cov-report=term --cov-fail-under=90

## test-slow: what takes minutes, such as a thousand random orders of clicks and restarts
test-slow: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -m slow

## check: format, lint, types, import directions, spelling
check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

## bench: speed and memory against the targets in docs/evaluation.md
bench: $(VENV)/base.stamp
	$(BIN)/zhixing bench

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build *.egg-info
