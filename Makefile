# `make run` and `make test` need Python >= 3.11 and Node >= 20 and install everything else. Files .venv/.run, .venv/.dev
# and web/node_modules/.hawse-stamp record what is installed, so that the next run starts at once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

BIN := .venv/bin
BUNDLE := gateway/_web/index.html
SERVERS := $(PATH):/usr/sbin# Debian's folder of servers, which is not on the PATH of a user
APPS := build/apps/venv/.hawse-stamp build/apps/node/.hawse-stamp
WEB_MODULES := web/node_modules/.hawse-stamp
KERNELS := tests/kernels/node_modules/.hawse-stamp
WEB_SOURCES := $(shell find web \( -name node_modules -o -name coverage -o -name dist \) -prune -o -type f ! -name '*.tsbuildinfo' -print 2>/dev/null)
ARGS ?=

export PYTHON UPGRADE

# pytest runs in this many processes. Tests wait more than they compute, so there are more of them than cores.
WORKERS ?= 4
PYTEST := scripts/pytest.sh -n $(WORKERS) --dist worksteal

.PHONY: help run test test-apps check pytest vitest e2e lint format types web-check coverage coverage-wire soak bench fuzz build release generate \
	pins clean dev web web-modules

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/.run $(BUNDLE) ## start a gateway on this machine (ARGS="--port 8081": options of `hawse serve`)
	@exec $(BIN)/hawse serve $(ARGS)

test: ## run all tests: pytest, vitest, and a real Chromium against a real gateway; ends with a summary
	@scripts/stages.sh pytest soak vitest e2e

test-apps: dev web $(APPS) ## hawse with programs of others: JupyterLab, Next.js, nginx, Prometheus, … (downloads 500 MB)
	@scripts/need_tools.sh
	@PATH="$(SERVERS)" scripts/need_tools.sh e2e/apps/debian-packages.txt
	HAWSE_CHROMIUM="$$(scripts/find_chromium.sh --with-interface)" && export HAWSE_CHROMIUM && \
	PATH="$(SERVERS)" scripts/pytest.sh e2e/apps --packages e2e/apps/debian-packages.txt --timeout 300 -n 3 --dist worksteal $(ARGS)

check: ## before a commit: lint, format, types, all tests but the long ones and the browser's; ends with a summary
	@scripts/stages.sh lint format types web-check pytest vitest

pytest: dev web $(KERNELS) ## the Python tests but the long ones (ARGS="tests/wire -k frame": options of pytest)
	@scripts/need_tools.sh
	$(PYTEST) -m 'not soak' $(ARGS)

soak: dev web $(KERNELS) ## the long Python tests, which wait for most of their time
	@scripts/need_tools.sh
	$(PYTEST) -m soak tests/integration $(ARGS)

vitest: web-modules ## the TypeScript tests
	cd web && npm test

e2e: dev web ## the browser tests (ARGS="-k resize": options of pytest)
	@scripts/need_tools.sh
	HAWSE_CHROMIUM="$$(scripts/find_chromium.sh)" && export HAWSE_CHROMIUM && scripts/pytest.sh e2e --ignore e2e/apps -n 3 --dist worksteal $(ARGS)

lint: dev ## ruff's rules
	$(BIN)/ruff check

format: dev ## check the format of Python files (`.venv/bin/ruff format` changes them)
	$(BIN)/ruff format --check

types: dev ## mypy
	$(BIN)/mypy

web-check: web-modules ## biome and tsc
	cd web && npm run check

coverage: dev web $(KERNELS) ## the Python tests with branch coverage; build/coverage/index.html
	@scripts/need_tools.sh
	$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html $(ARGS)

coverage-wire: dev ## fail unless the tests of hawse/wire that are not random cover each of its branches
	scripts/pytest.sh tests/wire -q -m "not hypothesis" --cov=hawse/wire --cov-report=term-missing:skip-covered --cov-fail-under=100

bench: dev web ## run the benchmarks and compare with the project's targets
	$(BIN)/python -m bench $(ARGS)

fuzz: dev ## feed each parser with hostile input for ten minutes in all (ARGS="wire osc --seconds 60"): no case may fail
	$(BIN)/python -m tests.fuzz $(ARGS)

build: dev web ## dist/: an sdist and a wheel that contain the browser client
	rm -rf dist
	$(BIN)/python -m build --no-isolation

release: dev web ## make a release: VERSION=1.2.3 (scripts/release.sh)
	scripts/release.sh $(VERSION)

generate: dev ## write what derives from hawse/api: TypeScript types, docs/methods.md, docs/openapi.json
	$(BIN)/python -m scripts.generate

pins: ## write requirements/*.txt and e2e/apps/requirements.txt again (UPGRADE=1: with the newest versions)
	scripts/pins.sh

clean: ## remove everything that was built or installed here
	rm -rf .venv build dist gateway/_web web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- prerequisites

dev: .venv/.dev
web: $(BUNDLE)
web-modules: $(WEB_MODULES)

.venv/.run: requirements/run.txt requirements/build.txt pyproject.toml
	@scripts/venv.sh run
	@touch $@

.venv/.dev: requirements/dev.txt pyproject.toml
	@scripts/venv.sh dev
	@touch $@

$(WEB_MODULES): web/package.json web/package-lock.json
	@scripts/need_node.sh
	cd web && npm ci --no-audit --no-fund
	@touch $@

build/apps/venv/.hawse-stamp: e2e/apps/requirements.txt
	@scripts/apps_venv.sh
	@touch $@

build/apps/node/.hawse-stamp: e2e/apps/package.json e2e/apps/package-lock.json e2e/apps/.npmrc
	@scripts/need_node.sh
	@mkdir -p $(@D)
	cp $^ $(@D)
	cd $(@D) && npm ci
	@touch $@

$(KERNELS): tests/kernels/package.json tests/kernels/package-lock.json
	@scripts/need_node.sh
	cd tests/kernels && npm ci --no-audit --no-fund
	@touch $@

$(BUNDLE): $(WEB_MODULES) $(WEB_SOURCES)
	@scripts/need_node.sh
	cd web && npm run build
	@touch $@
