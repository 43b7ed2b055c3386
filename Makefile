# anonpaper: `make` sets up everything and runs every notebook; `make help` lists the targets.
#
# PROFILE=quick|paper   which sizes to run (quick); results go to figures/$(PROFILE)
# JOBS=n                notebooks at a time: one per core, at the papers' sizes one, whose grids use
#                       all cores and whose run times are then measured with nothing beside them
# PYTHON=...            the Python 3.11 to make the environment with
# CONDA=                (set to nothing) not to use conda, mamba or micromamba though it is there

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

PROFILE ?= quick
CONDA ?= $(firstword $(shell command -v mamba micromamba conda))
CORES := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
JOBS ?= $(if $(filter paper,$(PROFILE)),1,$(CORES))

ENV := .venv
RUN := $(ENV)/bin/python
NOTEBOOKS := $(sort $(wildcard notebooks/*.ipynb notebooks/*/*.ipynb))
LESSONS := $(wildcard notebooks/course/*.ipynb)
# not public: the lecturer's versions are made with them
SOLUTIONS := $(wildcard notebooks/course/solutions/*.ipynb)
PAPERS := $(filter-out course,$(sort $(patsubst notebooks/%/,%,$(dir $(wildcard notebooks/*/*.ipynb)))))
# an executed notebook, written last, says that all of its results are there; at the papers' sizes
# only notebooks that save results run
RESULTS ?= figures/$(PROFILE)
SAVING := $(shell grep -l Results.from_parameters $(NOTEBOOKS))
RUNNING := $(if $(filter paper,$(PROFILE)),$(SAVING),$(NOTEBOOKS))
EXECUTED := $(RUNNING:notebooks/%=$(RESULTS)/notebooks/%)
SOURCES := requirements.lock $(shell find anonpaper data/reference notebooks -name '*.py' -o -name '*.csv' -o -path '*/datasets/*.toml')
# quick results are compared with what is expected of them, those at the papers' sizes reported
COMPARED := $(if $(filter paper,$(PROFILE)),report,expected)
# one thread per library in each process: the processes share the cores
ONE_THREAD := MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
SEVERAL := $(if $(filter 1,$(JOBS)),,$(ONE_THREAD) ANONPAPER_WORKERS=1)
NEXT = @$(MAKE) --no-print-directory --keep-going --jobs $(JOBS)
# one process more than cores, since many wait for others
PYTEST := $(ONE_THREAD) TQDM_DISABLE=1 env -u MAKEFLAGS -u MAKELEVEL \
  $(RUN) -m pytest -q --numprocesses $(shell expr $(CORES) + 1) --dist loadfile
# notebooks that save no tables are executed again and compared with their own outputs
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout 300 \
  --nbval-sanitize-with tests/nbval_sanitize.cfg \
  $(if $(SOLUTIONS),$(LESSONS:notebooks/course/%=build/course/lecturer/%),$(LESSONS)) notebooks/00_start_here.ipynb \
  notebooks/beyond/0_what_we_found.ipynb

# packages of the user's own Python stay out of the environment
export PYTHONNOUSERSITE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: all help env data figures report expected verify notebooks lab course slides grade site \
  live test test-fast fuzz types bench wheel-test lock clean distclean

all: figures $(COMPARED) course $(if $(wildcard site/conf.py),site)  ## figures, lessons, site; the default

help:  ## list the targets
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | expand -t 19
	@echo 'paper-<folder>     what changed of the notebooks in one of $(PAPERS)'
	@echo 'refresh-<notebook> execute one notebook in place, e.g. refresh-$(lastword $(NOTEBOOKS:notebooks/%.ipynb=%))'

# ---- environment and data ---------------------------------------------------------------------

env: $(ENV)/.package-installed  ## set up the environment in .venv

$(ENV)/.packages-installed: requirements.lock
	@CONDA="$(CONDA)" PYTHON="$(PYTHON)" tools/environment.sh $(ENV)
	@touch $@

$(ENV)/.package-installed: $(ENV)/.packages-installed pyproject.toml
	@$(RUN) -m pip install -qq --no-deps --editable .
	@touch $@

data: data/cache/.fetched  ## fetch the data sets and check their checksums

data/cache/.fetched: anonpaper/datasets/registry.toml | $(ENV)/.package-installed
	@$(RUN) -m anonpaper fetch --quiet
	@mkdir -p $(@D) && touch $@

# ---- notebooks --------------------------------------------------------------------------------

figures: env data  ## run what changed into figures/$(PROFILE)
	$(NEXT) $(EXECUTED)

$(RESULTS)/notebooks/%.ipynb: notebooks/%.ipynb $(SOURCES)
	@$(SEVERAL) $(RUN) tools/notebooks.py run $* --profile $(PROFILE) --to $(RESULTS)

$(PAPERS:%=paper-%): paper-%: env data
	$(NEXT) $(filter $(RESULTS)/notebooks/$*/%,$(EXECUTED))

report: env  ## judge all claims at the papers' sizes
	@$(RUN) tools/report.py

expected: env  ## say whether the tables in figures/quick are as expected
	@$(RUN) tools/verify.py figures/expected.json figures/quick || true

# at the papers' sizes the committed ones stay, and others are made in build/verify
verify: env data  ## compare results with the committed ones; PAPER=... for one paper
ifeq ($(PROFILE),paper)
	$(NEXT) RESULTS=build/verify/paper $(if $(PAPER),paper-$(PAPER),figures)
	@$(RUN) tools/verify.py figures/paper build/verify/paper $(PAPER)
else
	$(NEXT) $(if $(PAPER),paper-$(PAPER),figures)
	@$(RUN) tools/verify.py figures/expected.json figures/quick $(PAPER)
endif

notebooks: env data  ## execute all committed notebooks in place, and what is expected of quick runs
	$(NEXT) $(NOTEBOOKS:notebooks/%.ipynb=refresh-%)

$(NOTEBOOKS:notebooks/%.ipynb=refresh-%): refresh-%: env data
	@$(SEVERAL) $(RUN) tools/notebooks.py refresh $*

lab: env data  ## open JupyterLab
	@$(RUN) -m jupyter lab --notebook-dir notebooks

# ---- the course and the site ------------------------------------------------------------------

course: $(if $(LESSONS),build/course/student/README.md) $(if $(SOLUTIONS),build/course/lecturer/README.md)  ## write the lessons for students, and for lecturers if the solutions are there

build/course/student/README.md: $(LESSONS) tools/templates/COURSE.md | $(ENV)/.package-installed
	@rm -rf $(@D)
	@$(RUN) -m nbconvert --log-level WARN --to notebook --output-dir $(@D) \
	  --ClearOutputPreprocessor.enabled=True $(LESSONS)
	@cp tools/templates/COURSE.md $@

build/course/lecturer/README.md: $(LESSONS) $(SOLUTIONS) tools/course.py | $(ENV)/.package-installed
	@$(RUN) tools/course.py
	@cp notebooks/course/solutions/LESSONS.md $@

grade: env data  ## grade what students handed in: ANSWERS=<zip>; writes build/grading/points.csv
	@$(ONE_THREAD) MPLBACKEND=agg $(RUN) tools/grade.py "$(ANSWERS)"

slides: course data  ## write slides of the lessons, to show offline: build/course/slides
	@$(RUN) tools/slides.py

site: env  ## write pages to read offline: build/site
	@$(RUN) tools/site.py

live: env  ## write pages that run in the browser: your own table, lessons, notebooks (build/live)
	@$(RUN) tools/live.py

# alone from the results that are there; with all else after it
ifneq ($(filter all,$(or $(MAKECMDGOALS),all)),)
report expected: figures
site: figures course $(COMPARED)
endif

# ---- checks -----------------------------------------------------------------------------------

test: env data course  ## run the whole check: notebooks, tests, doctests, import rules
	-$(NEXT) $(EXECUTED)  # one that fails fails a test
	@$(PYTEST) $(NBVAL) anonpaper tests

test-fast: env  ## run the unit tests and doctests only
	@$(PYTEST) --ignore tests/project anonpaper tests

fuzz: env  ## 10,000 calls with anything, guarantees on 10,000 tables, every attack on every way x table
	@ANONPAPER_FUZZ=10000 $(PYTEST) tests/core/test_fuzz.py tests/core/test_guarantees.py \
	  tests/attacks tests/owner/test_reader.py

types: env  ## check the types of the public face
	@$(RUN) -m mypy

bench: env data  ## measure speed and memory against their limits
	@$(RUN) benchmarks/bench.py

wheel-test:  ## build the wheel and test it in empty environments, with PANDAS=2 or 3 (PYTHON=, EXTRAS=none)
	@PYTHON="$(PYTHON)" tools/wheel_test.sh $(or $(PANDAS),3) $(EXTRAS)

# ---- upkeep -----------------------------------------------------------------------------------

lock:  ## make requirements.lock and binder/requirements.txt anew, with the newest versions allowed
	@PYTHON="$(PYTHON)" tools/lock.sh

clean:  ## remove figures/$(PROFILE) and build; cells of grids and trained models stay
	@rm -rf figures/$(PROFILE) build *.egg-info

distclean: clean  ## remove all caches too, but neither data nor the environment
	@rm -rf data/cache/grids data/cache/judged .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	@find anonpaper tests tools benchmarks notebooks -name __pycache__ -prune -exec rm -rf {} +
