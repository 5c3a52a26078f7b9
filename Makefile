# Two commands do everything, set-up included:  make reproduce-all   make test
SCALE ?= demo
# NEURAL=no leaves PyTorch out: the artefacts that need it then say so, and show what is published.
NEURAL ?= yes
VENV := .venv
READY := $(VENV)/.ready-neural-$(NEURAL)
REQUIREMENTS := requirements.txt $(if $(filter no,$(NEURAL)),,requirements-neural.txt)
BIN := $(VENV)/bin

# A Python that is new enough and can make virtual environments; PYTHON=... names another one.
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11 python)
IS_FIT := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

.PHONY: help setup reproduce-all report test bench lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make reproduce-all        every table and figure that is alive (SCALE=smoke|demo|laptop|paper, default demo)"
	@echo "make report               the same as web pages: results/report/index.html (SCALE=… as above)"
	@echo "make setup                the virtual environment alone"
	@echo "make test                 the test suite (no network)"
	@echo "make bench                the engine beside its peers, about three hours (BENCH=--quick: minutes)"
	@echo "make lint                 ruff, snakefmt, snakemake --lint (make format repairs)"
	@echo "make clean                forget the virtual environment (results/ stays)"
	@echo "NEURAL=no                 with any of these: set up without PyTorch, which takes gigabytes on some systems"

setup: $(READY)

$(READY): requirements.txt requirements-neural.txt pyproject.toml
	@for python in $(CANDIDATES); do \
		if "$$python" -c "$(IS_FIT)" 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Orchard needs Python 3.11 or newer with its venv module (tried: $(CANDIDATES)); install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; \
		exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$("$$found" --version) (once; some minutes)"; \
	"$$found" -m venv --clear $(VENV) && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix --requirement ,$(REQUIREMENTS)) && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

reproduce-all: $(READY)
	$(BIN)/snakemake reproduce-all --config scale=$(SCALE)

report: $(READY)
	$(BIN)/snakemake report --config scale=$(SCALE)
	@echo "The report is in results/report/index.html"

test: $(READY)
	$(BIN)/python -m pytest

bench: $(READY)
	$(BIN)/python bench/run.py $(BENCH)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile rules

clean:
	rm -rf $(VENV) .venv-peers
