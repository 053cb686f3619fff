# Every task of a developer. Each makes the virtual environment it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo check test shipping lint format docs clean

demo: $(VENV)/base  ## install, and scan the shipped example
	$(BIN)/dowbench scan fixtures/openai/support_agent/input.json

check: lint test  ## everything CI runs

test: $(VENV)/dev
	$(BIN)/pytest -n auto

shipping: $(VENV)/dev  ## the image, the Action, the hooks and the workflows, with real parts: needs a network
	tests/shipping/run

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/dev  ## regenerate everything that is generated from the rules and the catalogue
	$(BIN)/dowbench rules docs
	$(BIN)/python -m dowbench_benchmark.catalogue > docs/benchmark-attacks.md
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist

$(VENV)/base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/base
