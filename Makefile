# Debian 12 with python3.11 and make is enough: the first target that needs it makes .venv.
# `make` alone lists the words.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SPARK := .spark
DOCS ?= /usr/share/doc/python3.11/html
PIP_TOOLS := pip-tools==7.6.2
PIP := $(BIN)/pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install --require-hashes --no-deps --prefer-binary --use-pep517

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-fuzz test-browser test-spark lint bench docs lock clean

help:  ## these words
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 20

setup: $(VENV)/.run  ## .venv with gossamer and what it needs, in the locked versions

demo: $(VENV)/.run  ## crawl, rank, index and serve a small web that runs on this machine
	$(BIN)/gossamer demo

test: $(VENV)/.dev  ## the tests that take seconds each
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-slow: $(VENV)/.dev  ## those that take minutes
	$(BIN)/pytest -m slow

test-fuzz: $(VENV)/.dev  ## the parser against what fuzzers and hostile hands make, a minute
	$(BIN)/pytest -m fuzz -n auto --maxprocesses 4

test-browser: $(VENV)/.dev  ## the search page in Debian's chromium
	$(BIN)/pytest -m browser

test-spark: $(VENV)/.dev $(SPARK)/.unpacked  ## the same steps on an Apache Spark cluster (Java 17)
	SPARK_HOME=$(CURDIR)/$(SPARK) $(BIN)/pytest -m spark

lint: $(VENV)/.dev  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.dev  ## each question's table of ratios (DOCS: a folder of real HTML)
	for question in urls parse; do $(BIN)/python bench/$$question.py $(DOCS) || exit 1; done
	$(BIN)/python bench/crawl.py --docs $(DOCS)
	for question in feeds crawl frontier robots fetch politeness hostile memory fakeweb completeness rounds page_state partitions incremental indexing \
	  search_while_indexing; do \
	  $(BIN)/python bench/$$question.py || exit 1; done

docs: $(VENV)/.run  ## write the generated pages of docs/ again
	$(BIN)/python docs/generate.py

# Only the index itself decides what is locked, not what this machine adds to it.
lock: export PIP_CONFIG_FILE := /dev/null
lock: export CUSTOM_COMPILE_COMMAND := make lock
lock: COMPILE = env -u PIP_FIND_LINKS build/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --no-annotate \
  --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host $(UPGRADE)
lock:  ## write the locks again from pyproject.toml (UPGRADE=--upgrade: with newest versions)
	test -x build/lock/bin/pip-compile || \
	  { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet $(PIP_TOOLS); }
	$(COMPILE) --build-deps-for editable --output-file requirements.lock pyproject.toml
	$(PYTHON) -c 'import tomllib; groups = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; print(*groups["dev"], *groups["bench"], sep="\n")' \
	  | $(COMPILE) --constraint requirements.lock --output-file requirements-dev.lock -
	echo pyspark==$$(sed -nE 's/^pyspark-client==([^ ]*).*/\1/p' requirements.lock) \
	  | $(COMPILE) --no-strip-extras --pip-args=--no-deps --output-file requirements-spark.lock -

clean:  ## remove what the other words made
	rm -rf $(VENV) $(SPARK) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gossamer needs Python 3.11 or newer: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -yqq python3-venv; } || \
	  { echo "Debian's Python cannot make a venv without: sudo apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock pyproject.toml | $(BIN)/pip
	$(INSTALL) -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	$(INSTALL) -r requirements-dev.lock
	touch $@

# The package's deps/ is a whole Spark but for python/lib. Unpacked as it is, since a wheel of
# it takes minutes to build.
$(SPARK)/.unpacked: requirements-spark.lock | $(BIN)/pip
	rm -rf $(SPARK) && mkdir -p $(SPARK)/python
	$(PIP) download --require-hashes --no-deps --no-binary :all: --dest $(SPARK) -r $<
	tar -xzf $(SPARK)/pyspark-*.tar.gz -C $(SPARK) --strip-components=2 --wildcards \
	  'pyspark-*/deps/bin' 'pyspark-*/deps/jars'
	tar -xzf $(SPARK)/pyspark-*.tar.gz -C $(SPARK)/python --strip-components=1 --wildcards 'pyspark-*/lib'
	rm $(SPARK)/pyspark-*.tar.gz
	touch $@
