# `make run` and `make test` need Python >= 3.11 and Node >= 20 and install everything else. Files .venv/.run, .venv/.dev
# and web/node_modules/.hawse-stamp record what is installed, so that the next run starts at once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

BIN := .venv/bin
BUNDLE := gateway/hawse_gateway/_web/index.html
SERVERS := $(PATH):/usr/sbin# Debian's folder of servers, which is not on the PATH of a user
APPS := build/apps/venv/.hawse-stamp build/apps/node/.hawse-stamp
WEB_MODULES := web/node_modules/.hawse-stamp
KERNELS := tests/kernels/node_modules/.hawse-stamp
FIREFOX := e2e/firefox/node_modules/.hawse-stamp# what drives it
WEB_SOURCES := $(shell find web \( -name node_modules -o -name coverage -o -name dist \) -prune -o -type f ! -name '*.tsbuildinfo' -print 2>/dev/null)
ARGS ?=

export PYTHON UPGRADE

# pytest runs in this many processes. Tests wait more than they compute, so there are more of them than cores.
WORKERS ?= 4
PYTEST := scripts/pytest.sh -n $(WORKERS) --dist worksteal

# Python imports compiled modules instead of their source, so tests remove them, except those of `make test-compiled`.
BUILD ?= pure

.PHONY: kubernetes-images help run test test-apps test-cluster check pytest pytest-all vitest e2e lint format types web-check coverage coverage-wire soak bench fuzz docs build wheels release generate \
	compile pure current test-compiled pins clean dev web web-modules

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/.run $(BUNDLE) current ## start a gateway on this machine (ARGS="--port 8081": options of `hawse serve`)
	@exec $(BIN)/hawse serve $(ARGS)

test: ## run all tests: pytest, vitest, and real browsers against a real gateway; ends with a summary
	@scripts/stages.sh pytest-all vitest e2e

test-apps: dev web $(APPS) ## hawse with programs of others: JupyterLab, Next.js, nginx, Prometheus, … (downloads 600 MB)
	@scripts/need_tools.sh
	@PATH="$(SERVERS)" scripts/need_tools.sh e2e/apps/debian-packages.txt
	HAWSE_CHROMIUM="$$(scripts/find_chromium.sh --with-interface)" && export HAWSE_CHROMIUM && \
	PATH="$(SERVERS)" scripts/pytest.sh e2e/apps --packages e2e/apps/debian-packages.txt --timeout 300 -n 3 --dist worksteal $(ARGS)

test-cluster: dev web ## kill the parts of a Kubernetes cluster on this machine (KUBECONFIG), which has to be for nothing else
	scripts/pytest.sh e2e/cluster $(ARGS)

check: ## before a commit: lint, format, types, all tests but the long ones and the browser's; ends with a summary
	@scripts/stages.sh lint format types web-check pytest vitest

pytest: dev web $(KERNELS) $(BUILD) ## the Python tests but the long ones (ARGS="tests/wire -k frame": options of pytest)
	@scripts/need_tools.sh
	$(PYTEST) -m 'not soak' $(ARGS)

pytest-all: dev web $(KERNELS) $(BUILD) ## all Python tests: the long ones wait for most of their time, so they run beside the others
	@scripts/need_tools.sh
	$(PYTEST) $(ARGS)

soak: dev web $(KERNELS) pure ## the long Python tests, which wait for most of their time
	@scripts/need_tools.sh
	$(PYTEST) -m soak tests/integration $(ARGS)

vitest: web-modules ## the TypeScript tests
	cd web && npm test

e2e: dev web $(FIREFOX) pure ## the browser tests (ARGS="-k resize": options of pytest)
	@scripts/need_tools.sh
	HAWSE_CHROMIUM="$$(scripts/find_chromium.sh)" && HAWSE_FIREFOX="$$(scripts/find_firefox.sh)" && \
	export HAWSE_CHROMIUM HAWSE_FIREFOX && scripts/pytest.sh e2e --ignore e2e/apps --ignore e2e/cluster -n 3 --dist worksteal $(ARGS)

kubernetes-images: dev ## make the images of the tests in the cluster of KUBECONFIG, with the command HAWSE_KUBERNETES_LOAD
	$(BIN)/python -m tests.support.kubernetes

lint: dev ## ruff's rules
	$(BIN)/ruff check

format: dev ## check the format of Python files (`.venv/bin/ruff format` changes them)
	$(BIN)/ruff format --check

types: dev ## mypy
	$(BIN)/mypy

web-check: web-modules ## biome and tsc
	cd web && npm run check

coverage: dev web $(KERNELS) pure ## the Python tests with branch coverage; build/coverage/index.html
	@scripts/need_tools.sh
	$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html $(ARGS)

coverage-wire: dev pure ## fail unless the tests of hawse/wire that are not random cover each of its branches
	scripts/pytest.sh tests/wire -q -m "not hypothesis" --cov=hawse/wire --cov-report=term-missing:skip-covered --cov-fail-under=100

pictures: dev web ## make the pictures of the README, which show the page as it is
	HAWSE_CHROMIUM="$$(scripts/find_chromium.sh)" $(BIN)/python -m scripts.pictures $(ARGS)

bench: dev web current ## run the benchmarks and compare with the project's targets
	$(BIN)/python -m bench $(ARGS)

fuzz: dev current ## feed each parser with hostile input for ten minutes in all (ARGS="wire osc --seconds 60"): no case may fail
	$(BIN)/python -m tests.fuzz $(ARGS)

docs: dev build/docs/venv/.hawse-stamp build/docs/mermaid.min.js ## the documentation site: build/docs/site/index.html; broken links and undocumented members fail
	$(BIN)/python -m scripts.generate --openapi build/docs/openapi.json
	NO_MKDOCS_2_WARNING=1 build/docs/venv/bin/mkdocs build --quiet --strict
	$(BIN)/python -m scripts.check_reference

compile: dev ## make machine code of the path of keys and bytes, beside its source; needs a C compiler; `make pure` removes it
	@scripts/need_tools.sh scripts/compile-packages.txt
	$(BIN)/python hatch_build.py

pure: ## remove what `make compile` has made
	@scripts/remove_compiled.sh

current: # remove it if it was made of other sources
	@scripts/remove_compiled.sh outdated

test-compiled: ## the Python tests but the long ones, with compiled modules, which are removed afterwards
	@trap 'scripts/remove_compiled.sh' EXIT; \
	$(MAKE) --no-print-directory compile && HAWSE_BUILD=compiled $(MAKE) --no-print-directory pytest BUILD=current

build: dev web ## dist/: an sdist and a pure wheel that contain the browser client, the npm package, and openapi.json
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	cd web && npm pack --silent --pack-destination ../dist
	$(BIN)/python -m scripts.generate --openapi dist/openapi.json

wheels: web ## dist/: compiled wheels, one for each supported Python on this machine
	@scripts/need_tools.sh scripts/compile-packages.txt
	@scripts/wheels.sh

release: dev web ## make a release: VERSION=1.2.3 (scripts/release.sh)
	scripts/release.sh $(VERSION)

generate: dev ## write what derives from hawse/api: types, references, stubs (scripts/generate.py lists the files)
	$(BIN)/python -m scripts.generate

pins: ## write requirements/*.txt and e2e/apps/requirements.txt again (UPGRADE=1: with the newest versions)
	scripts/pins.sh

clean: ## remove everything that was built or installed here
	@scripts/remove_compiled.sh
	rm -rf .venv build dist gateway/hawse_gateway/_web web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- prerequisites

dev: .venv/.dev
web: $(BUNDLE)
web-modules: $(WEB_MODULES)

.venv/.run: requirements/run.txt requirements/build.txt pyproject.toml
	@[ -e $(BUNDLE) ] || scripts/need_node.sh # which is needed later: before minutes of downloads
	@scripts/venv.sh run
	@touch $@

.venv/.dev: requirements/dev.txt pyproject.toml
	@scripts/venv.sh dev
	@touch $@

$(WEB_MODULES): web/package.json web/package-lock.json
	@scripts/need_node.sh
	cd web && npm ci --no-audit --no-fund
	@touch $@

build/docs/mermaid.min.js: scripts/docs_mermaid.sh
	@scripts/docs_mermaid.sh

build/docs/venv/.hawse-stamp: requirements/docs.txt
	@scripts/docs_venv.sh
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

$(FIREFOX): e2e/firefox/package.json e2e/firefox/package-lock.json
	@scripts/need_node.sh
	cd e2e/firefox && npm ci --no-audit --no-fund
	@touch $@

$(BUNDLE): $(WEB_MODULES) $(WEB_SOURCES)
	@scripts/need_node.sh
	cd web && npm run build
	@touch $@
