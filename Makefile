# Two commands matter: `make run` and `make test`. Both need only Python >= 3.11 and Node >= 20, and set up the rest.
# Stamps remember what is done, so that a second run starts at once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

BIN := .venv/bin
BUNDLE := gateway/_web/index.html
WEB_MODULES := web/node_modules/.hawse-stamp
WEB_SOURCES := $(shell find web \( -name node_modules -o -name coverage -o -name dist \) -prune -o -type f ! -name '*.tsbuildinfo' -print 2>/dev/null)
ARGS ?=

export PYTHON UPGRADE

.PHONY: help run test check e2e bench build pins clean dev web web-modules

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/.run $(BUNDLE) ## start a gateway on this machine (ARGS="--port 8081" are handed to `hawse serve`)
	@exec $(BIN)/hawse serve $(ARGS)

test: dev web ## everything there is to test: pytest, vitest, and a real Chromium against a real gateway
	@scripts/need_tools.sh
	@scripts/find_chromium.sh >/dev/null
	scripts/pytest.sh
	cd web && npm test
	@$(MAKE) --no-print-directory e2e

check: dev web-modules ## the one door before a commit: lint, format, types, unit tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	cd web && npm run check
	scripts/pytest.sh
	cd web && npm test

e2e: dev web ## the browser tests alone (ARGS="-k resize" are handed to pytest)
	@scripts/need_tools.sh
	HAWSE_CHROMIUM="$$(scripts/find_chromium.sh)" && export HAWSE_CHROMIUM && scripts/pytest.sh e2e $(ARGS)

bench: dev web ## measure, against the project's own limits
	$(BIN)/python -m bench $(ARGS)

build: dev web ## dist/: an sdist and a wheel, the browser client inside
	rm -rf dist
	$(BIN)/python -m build --no-isolation

pins: ## write requirements/*.txt anew (UPGRADE=1: with the newest versions)
	scripts/pins.sh

clean: ## remove all that was built or installed here
	rm -rf .venv build dist gateway/_web web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- what the above stand on

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

$(BUNDLE): $(WEB_MODULES) $(WEB_SOURCES)
	@scripts/need_node.sh
	cd web && npm run build
	@touch $@
