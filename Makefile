# anonpaper: `make` sets up everything and runs every notebook; `make help` lists the targets.
#
# PROFILE=quick|paper   which sizes to run (quick); results go to figures/$(PROFILE)
# JOBS=n                notebooks at a time: one per core, at the papers' sizes one, whose grids use
#                       all cores and whose run times are then measured with nothing beside them
# LIGHT=1               without torch, SDV and what only tests and the site need: four papers, the course,
#                       your own tables; the same command without it completes the environment
# FRESH=yes             leave aside kept runs, cells of grids and trained models of earlier runs
# PYTHON=...            the Python 3.11 to make the environment with
# CONDA=                (set to nothing) not to use conda, mamba or micromamba though it is there
# WORKERS=n             processes of the tests (one more than cores: many wait for processes of their own)

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

PROFILE ?= quick
CONDA ?= $(firstword $(shell command -v mamba micromamba conda))

ENV := .venv
RUN := $(ENV)/bin/python
PINS := sed -n 's/ \\$$//; /==/p' requirements.lock
TORCH = $(shell $(PINS) | grep '^torch==')
# for conda, with --no-deps: pycanon pins versions of numpy and scipy that it does not need
UNTIED = $(shell $(PINS) | grep -E '^(pycanon|beartype)==')

NOTEBOOKS := $(sort $(wildcard notebooks/*.ipynb notebooks/*/*.ipynb))
LESSONS := $(sort $(wildcard notebooks/course/*.ipynb))
PAPERS := $(sort $(patsubst notebooks/%/,%,$(dir $(filter-out $(LESSONS),$(wildcard notebooks/*/*.ipynb)))))
RESULTS := figures/$(PROFILE)
# quick results are compared with what is expected of them, those at the papers' sizes reported
COMPARED := $(if $(filter paper,$(PROFILE)),report,$(if $(filter quick,$(PROFILE)),expected))
CORES := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
WORKERS ?= $(shell expr $(CORES) + 1)
JOBS ?= $(if $(filter paper,$(PROFILE)),1,$(CORES))

# one thread per library in each process: the processes share the cores
ONE_THREAD := MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# packages of the user's own Python stay out of the environment
export PYTHONNOUSERSITE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ifeq ($(LIGHT),)
SITE := $(if $(wildcard site/conf.py),site)
PACKAGES := $(ENV)/.packages-installed
else
# a whole environment is more than enough
PACKAGES := $(firstword $(wildcard $(ENV)/.packages-installed) $(ENV)/.light-installed)
override CONDA :=
# SDV is missing
LEFT_OUT := $(filter notebooks/majeed2024/%,$(NOTEBOOKS))
CHOSEN := $(patsubst notebooks/%.ipynb,%,$(filter-out $(LEFT_OUT),$(NOTEBOOKS)))
LIGHT_GOALS := all clean course data distclean env expected figure figures help lab plan report
ifneq ($(filter-out $(LIGHT_GOALS) refresh-%,$(MAKECMDGOALS)),)
$(error LIGHT=1 sets up what $(LIGHT_GOALS) need: run this target without it)
endif
endif

.PHONY: all
all: figures $(COMPARED) course $(SITE)  ## figures, lessons, site; the default

.PHONY: help
help:  ## list the targets
	@{ grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'; \
	printf '%s\t%s\n' 'paper-<folder>' 'what changed of the notebooks in one of $(PAPERS)'; \
	printf '%s\t%s\n' 'refresh-<notebook>' 'execute one notebook in place, e.g. refresh-$(lastword $(NOTEBOOKS:notebooks/%.ipynb=%))'; \
	} | sort | awk -F '\t' '{printf "%-18s %s\n", $$1, $$2}'

# ---- environment and data ---------------------------------------------------------------------

.PHONY: env
env: $(ENV)/.package-installed  ## set up the environment in .venv

define MAKE_VENV
	@python=; for name in $(PYTHON) python3.11 python3 python; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then \
	    python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "environment: no Python 3.11 on the PATH; give one with make PYTHON=..." >&2; exit 1; fi; \
	$(RUN) -m pip --version >/dev/null 2>&1 || $$python -m venv --clear $(ENV)
endef

ifneq ($(CONDA),)
$(ENV)/.packages-installed: environment.yml requirements.lock
	@echo "environment: creating it in $(ENV) with $(notdir $(CONDA))"
	@if [ -d $(ENV)/conda-meta ]; then action=update; else action=create; rm -rf $(ENV); fi; \
	CONDA_ALWAYS_YES=1 MAMBA_ALWAYS_YES=1 \
	$(CONDA) env $$action --quiet --prefix $(CURDIR)/$(ENV) --file environment.yml
	@$(RUN) -m pip install -qq --no-deps $(UNTIED)
	@touch $@
else
$(ENV)/.packages-installed: requirements.lock
	$(MAKE_VENV)
	@echo "environment: installing $$(grep -c == requirements.lock) packages in $(ENV), about 2 minutes"
	@# torch first: by itself pip prefers a build for processors alone where it finds one, but with
	@# --require-hashes the build whose hash the index tells
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	$(RUN) -m pip download -qq --no-deps --dest "$$folder" $(TORCH); \
	hash=$$($(RUN) -m pip hash "$$folder"/* | tail -n 1); \
	grep -qe "$$hash" requirements.lock || { \
	  echo "environment: requirements.lock has no hash of $$(ls "$$folder")" >&2; exit 1; }; \
	$(RUN) -m pip install -qq --no-deps "$$folder"/*
	@$(RUN) -m pip install -qq --no-deps --require-hashes --requirement requirements.lock
	@$(RUN) -m pip install -qq --constraint <($(PINS) | grep -v '^pycanon') $(TORCH)
	@touch $@
endif

$(ENV)/.light-installed: binder/requirements.txt requirements.lock
	$(MAKE_VENV)
	@echo "environment: installing $$(grep -c == $<) of $$(grep -c == requirements.lock) packages in $(ENV), about a minute"
	@$(RUN) -m pip install -qq --no-compile --no-deps --require-hashes --requirement \
	  <(awk 'NR == FNR {light[$$1]; next} /^[^ ]/ {taken = $$1 in light} taken' $^)
	@touch $@

$(ENV)/.package-installed: $(PACKAGES) pyproject.toml setup.py
	@$(RUN) -m pip install -qq --no-deps --editable .
	@touch $@

.PHONY: data
data: data/cache/.fetched  ## fetch the data sets and check their checksums

data/cache/.fetched: anonpaper/datasets/registry.toml | $(ENV)/.package-installed
	@$(RUN) -m anonpaper fetch --quiet
	@mkdir -p $(@D) && touch $@

# ---- notebooks --------------------------------------------------------------------------------

SIZES = --profile $(PROFILE) --jobs $(JOBS) $(if $(FRESH),--fresh)
README := $(if $(filter paper,$(PROFILE)),$(RUN) tools/results.py,true)

.PHONY: figures
figures: env data  ## run what changed into figures/$(PROFILE)
	@$(if $(LIGHT),echo "LIGHT=1 leaves out notebooks that need SDV: $(LEFT_OUT:notebooks/%.ipynb=%)")
	@$(RUN) tools/notebooks.py make $(CHOSEN) $(SIZES)
	@$(README)

.PHONY: plan
plan: env  ## say what would run into figures/$(PROFILE), and why
	@$(RUN) tools/notebooks.py plan $(CHOSEN) $(SIZES)

.PHONY: $(PAPERS:%=paper-%)
$(PAPERS:%=paper-%): paper-%: env data
	@$(RUN) tools/notebooks.py make $* $(SIZES)
	@$(README)

.PHONY: figure
figure: env data  ## make one figure or table anew: make figure NAME=boger2020/group_sizes
	@$(RUN) tools/notebooks.py figure '$(NAME)' $(SIZES)

.PHONY: report
report: env  ## judge all claims at the papers' sizes, or one here: make report CLAIM=boger2020/<its id>
	@$(RUN) tools/$(if $(CLAIM),notebooks.py claim '$(CLAIM)' --profile $(PROFILE),report.py)

.PHONY: expected
expected: env  ## say whether the tables in figures/quick are as expected
	@$(RUN) tools/verify.py --expected

.PHONY: verify
verify: env data  ## compare results made anew with the committed ones; PAPER=... for one paper
	@$(RUN) tools/verify.py --profile $(PROFILE) --paper '$(PAPER)' --jobs $(JOBS) \
	  $(if $(MADE),--made) $(if $(TOLERANCE),--tolerance $(TOLERANCE))

REFRESHED := $(NOTEBOOKS:notebooks/%.ipynb=refresh-%)
.PHONY: notebooks $(REFRESHED)
notebooks: env data  ## execute all committed notebooks in place, and what `make verify` expects
	@$(RUN) tools/notebooks.py refresh --jobs $(JOBS)
	@$(RUN) tools/results.py
$(REFRESHED): refresh-%: env data
	@$(RUN) tools/notebooks.py refresh $*

.PHONY: lab
lab: env data  ## open JupyterLab
	@$(RUN) -m jupyter lab --notebook-dir notebooks

# ---- the course -------------------------------------------------------------------------------

.PHONY: course
course: $(if $(LESSONS),build/course/student/README.md)  ## write the lessons for students and instructors; variants with SEED= STUDENTS=
	@$(if $(STUDENTS),$(RUN) tools/course.py --seed "$(SEED)" --students "$(STUDENTS)",:)

build/course/student/README.md: $(LESSONS) $(wildcard notebooks/course/*.md) \
  $(wildcard notebooks/course/*.yaml) tools/course.py tools/templates/COURSE.md | $(ENV)/.package-installed
	@$(RUN) tools/course.py

.PHONY: slides
slides: course data  ## write slides of the lessons, to show offline: build/course/slides
	@$(RUN) tools/slides.py

.PHONY: grade
grade: env data  ## grade what the learning platform exports: ANSWERS=<zip> WORKSHEET=<csv> SEED= DEADLINE=
	@$(RUN) tools/grade.py collect "$(ANSWERS)" $(if $(TEXTS),--texts $(TEXTS)) $(if $(SEED),--seed "$(SEED)")
	@$(ONE_THREAD) $(RUN) tools/grade.py grade $(if $(SEED),--seed "$(SEED)")
	@$(RUN) tools/grade.py similar $(if $(SEED),--seed "$(SEED)")
	@$(RUN) tools/grade.py feedback
	@$(RUN) tools/grade.py marks "$(WORKSHEET)" $(if $(DEADLINE),--deadline "$(DEADLINE)")

# ---- the site ---------------------------------------------------------------------------------

.PHONY: site
site: env  ## write pages to read offline: build/site
	@$(RUN) tools/site.py

.PHONY: site-instructor
site-instructor: env  ## write the site with solutions and the guide: build/site-instructor
	@$(RUN) tools/site.py --instructor

.PHONY: live live-walk
live: env  ## write pages that run in the browser: your own table, lessons, notebooks (build/live)
	@$(RUN) tools/live.py

live-walk: env data  ## drive those pages in Chromium: awkward files, all methods, all lessons, from a file, from the cache
	@$(RUN) -m pytest -q -s tests/project/walk_live.py

# alone from the results that are there; with all else after it
ifneq ($(filter all,$(or $(MAKECMDGOALS),all)),)
report expected: figures
site: figures course $(COMPARED)
endif

# ---- checks -----------------------------------------------------------------------------------

PYTEST := $(ONE_THREAD) TQDM_DISABLE=1 env -u MAKEFLAGS -u MAKELEVEL \
  $(RUN) -m pytest -q --numprocesses $(WORKERS) --dist loadfile

test-all: test
.PHONY: test test-all
test: env data  ## run the whole check: notebooks, tests, doctests, import rules
	@# a notebook that fails fails a test
	-@$(RUN) tools/notebooks.py make --profile quick --jobs $(CORES) $(if $(FRESH),--fresh)
	@$(PYTEST) anonpaper tests

.PHONY: test-fast
test-fast: env  ## run the unit tests and doctests only
	@$(PYTEST) --ignore tests/project anonpaper tests

.PHONY: fuzz
fuzz: env  ## 10,000 calls with anything, guarantees on 10,000 tables, 1,000 command lines, every attack on every way x table
	@$(ONE_THREAD) ANONPAPER_FUZZ=10000 TQDM_DISABLE=1 $(RUN) -m pytest -q --numprocesses $(CORES) \
	  tests/core/test_fuzz.py tests/core/test_guarantees.py tests/partition/test_refined.py \
	  tests/measure/test_bounds.py tests/attacks

.PHONY: bench
bench: env data  ## measure speed and memory against their limits
	@$(RUN) benchmarks/run.py

.PHONY: benchmark
benchmark: env data  ## run all tools on the same tasks and judge their files; ARX_JAR=<path of libarx> SEED=<of a run to repeat>
	@$(RUN) benchmarks/compare.py $(PROFILE) $(JOBS) $(SEED)

.PHONY: wheel-test
wheel-test:  ## build the wheel and test it in empty environments, with PANDAS=2 or 3 (PYTHON=, EXTRAS=none)
	@PYTHON="$(PYTHON)" tools/wheel_test.sh $(or $(PANDAS),3) $(EXTRAS)

# ---- upkeep -----------------------------------------------------------------------------------

.PHONY: lock
lock:  ## make requirements.lock anew from pyproject.toml, with the newest versions it allows
	@PYTHON="$(PYTHON)" tools/lock.sh

.PHONY: types
types: env  ## check the types of the public face
	@$(RUN) -m mypy

.PHONY: clean
clean:  ## remove figures/$(PROFILE) and build; the cache stays, and `make` restores from it
	@rm -rf $(RESULTS) build *.egg-info

.PHONY: distclean
distclean: clean  ## remove all caches too, but neither data nor the environment
	@rm -rf data/cache/grids data/cache/runs data/cache/judged data/cache/tests .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	@find anonpaper tests tools benchmarks notebooks -name __pycache__ -prune -exec rm -rf {} +
