PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs
WORKERS ?= 2
SEED ?= 1
MINUTES ?= 20
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# Keeps TensorFlow's C++ log and the search for a GPU out of the demo and the tests.
export TF_CPP_MIN_LOG_LEVEL ?= 3
export CUDA_VISIBLE_DEVICES ?= -1

.DEFAULT_GOAL := help
.PHONY: help venv demo test docs release lint types layers house fast tensorflow gallery mutants benchmarks soak matrix oldest format clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST)

venv: $(STAMP)  ## make .venv, with .venv/bin/whygrad in it

# tf_keras asks for the full `tensorflow` package, a second copy of what tensorflow-cpu holds: hence --no-deps.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "whygrad needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[dev]"
	$(PIP) --no-deps tf_keras
	@touch $@

demo: $(STAMP)  ## diagnose a variational autoencoder whose encoder never learns
	$(BIN)/whygrad run examples/broken_vae.py

# What fails most often comes first: a mistake shows within two minutes, the gallery and TensorFlow's tests take the rest.
test: $(STAMP) lint types layers house fast gallery tensorflow  ## everything; fails if anything does

docs: $(STAMP) $(DOCS_STAMP)  ## write what is generated, and the site; the tests fail where a page is out of date
	$(BIN)/python -m whygrad.rules.pages docs/rules
	$(BIN)/python -m whygrad.report.schema > docs/report-schema.json
	$(BIN)/python benchmarks/record.py
	$(BIN)/python tools/matrix.py --table
	$(BIN)/python tools/command_pages.py
	$(BIN)/python tools/message_pages.py
	$(BIN)/python tools/shown_output.py
	$(BIN)/python tools/run_notebook.py
	$(BIN)/python tools/draw_diagnosis.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

$(DOCS_STAMP): $(STAMP)
	$(PIP) --editable ".[docs]"
	@touch $@

release: $(STAMP)  ## build sdist and wheel into dist/, and try the wheel in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/try_wheel.py dist

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

house: $(STAMP)  ## count what must not grow again: cycles, crowded folders, verdicts among events, private names
	$(BIN)/python tools/count_house.py --check

fast: $(STAMP)  ## the tests that need no TensorFlow
	$(BIN)/pytest -m "not tensorflow" -n $(WORKERS) --dist worksteal

tensorflow: $(STAMP)  ## the tests that do
	$(BIN)/pytest -m tensorflow -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 40 --durations-min 4

gallery: $(STAMP)  ## score the programs of tests/gallery
	$(BIN)/python tests/score_gallery.py --jobs $(WORKERS)

mutants: $(STAMP)  ## break healthy programs in known ways, by chance: make mutants SEED=1
	$(BIN)/python -m tests.mutants --seed $(SEED) --jobs $(WORKERS) --keep mutants-kept --json mutants.json

benchmarks: $(STAMP)  ## measure everything beside what a user has otherwise, and write the tables; 15 minutes
	$(BIN)/python benchmarks/everything.py

soak: $(STAMP)  ## train with everything on while things go wrong: make soak MINUTES=20
	$(BIN)/python benchmarks/soak.py --minutes $(MINUTES)

matrix: $(STAMP)  ## tests and gallery on other versions of TensorFlow, Keras and Python, in environments of their own
	$(BIN)/python tools/matrix.py --jobs $(WORKERS)

oldest: $(STAMP)  ## does every rule fire on its example with the oldest versions of TensorFlow and Keras?
	$(BIN)/python tools/matrix.py --oldest --jobs $(WORKERS)

format: $(STAMP)  ## rewrite the code as ruff wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove .venv and everything generated
	rm -rf $(VENV) .matrix site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
