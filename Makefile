# make lab   sets up .venv and opens lesson 01 in JupyterLab
# make test  sets up .venv and runs every test
# `make help` lists the rest. CONTRIBUTING.md says when to use which.

VENV := .venv
PY := $(VENV)/bin/python

# One thread: the collection's models are small, and two threads are slower on them.
export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help lab test notebooks golden mutations bench-norms bench-jacobians readme-picture format clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  make %-16s %s\n", $$1, $$2}'

lab: $(VENV)/.lab  ## set up and open lesson 01 in JupyterLab
	@$(PY) -m jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/01_norm_geometry.ipynb

test: $(VENV)/.test  ## set up and run all tests
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m pytest --ignore=tests/browser
	@$(PY) -m pytest tests/browser

notebooks: $(VENV)/.test  ## build notebooks/*.ipynb from notebooks/source/*.py
	@$(PY) -m tools.notebooks

golden: $(VENV)/.test  ## check the helpers against pi0.5's numbers, one line a case
	@$(PY) -m tests.golden tests/data/openpi_golden.json

mutations: $(VENV)/.test  ## break the helpers in many plausible ways and see each caught
	@$(PY) -m tools.mutations

bench-norms: $(VENV)/.test  ## the norms beside torch's own
	@$(PY) -m benchmarks.norms

bench-jacobians: $(VENV)/.test  ## Jacobians of a stack beside torch's own ways; rewrites its table
	@$(PY) -m benchmarks.jacobians

readme-picture: $(VENV)/.test  ## record README's picture from a real JupyterLab
	@$(PY) -m tools.readme_picture

format: $(VENV)/.test  ## let ruff mend layout and imports
	@$(PY) -m ruff check --fix . && $(PY) -m ruff format .

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

# The stamps are written last, so that an interrupted install is taken up again. An environment whose Python
# is gone or of another version, or that was moved here from another folder, is made anew.
READY := $(shell $(PY) -c 'import sys; print((3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null)
MADE_IN := $(shell cat $(VENV)/.lab 2>/dev/null || echo "$(CURDIR)")
ifneq ($(READY) $(MADE_IN),True $(CURDIR))
$(VENV)/.lab: new-environment
endif

.PHONY: new-environment
new-environment:
	@sh tools/make_venv.sh $(VENV)

$(VENV)/.lab: requirements.txt pyproject.toml
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(PY) -m jupyter labextension disable "@jupyterlab/apputils-extension:announcements" >/dev/null 2>&1
	@echo "$(CURDIR)" >$@

$(VENV)/.test: requirements-test.txt $(VENV)/.lab
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@touch $@

-include tools/*.mk
