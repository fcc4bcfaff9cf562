# make lab   sets up .venv and opens lesson 01 in JupyterLab
# make test  sets up .venv and runs every test
# `make help` lists the rest. CONTRIBUTING.md says when to use which.

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python

# One thread: the collection's models are small, and two threads are slower on them.
export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help lab test notebooks golden mutations bench-norms readme-picture format clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  make %-16s %s\n", $$1, $$2}'

lab: $(VENV)/.lab  ## set up and open lesson 01 in JupyterLab
	@$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/01_norm_geometry.ipynb

test: $(VENV)/.test  ## set up and run all tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(PY) -m pytest

notebooks: $(VENV)/.test  ## build notebooks/*.ipynb from notebooks/source/*.py
	@$(PY) -m tools.notebooks

golden: $(VENV)/.test  ## check the helpers against pi0.5's numbers, one line a case
	@$(PY) -m tests.golden tests/data/openpi_golden.json

mutations: $(VENV)/.test  ## break the helpers in many plausible ways and see each caught
	@$(PY) -m tools.mutations

bench-norms: $(VENV)/.test  ## the norms beside torch's own
	@$(PY) -m benchmarks.norms

readme-picture: $(VENV)/.test  ## record README's picture from a real JupyterLab
	@$(PY) -m tools.readme_picture

format: $(VENV)/.test  ## let ruff mend layout and imports
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

# The stamp is written last, so that an interrupted install is taken up again. A venv that was moved, or
# whose Python is gone, is made anew.
$(VENV)/.lab: requirements.txt pyproject.toml
	@$(PY) -c "" 2>/dev/null || sh tools/make_venv.sh $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(BIN)/jupyter labextension disable "@jupyterlab/apputils-extension:announcements" >/dev/null 2>&1
	@touch $@

$(VENV)/.test: requirements-test.txt $(VENV)/.lab
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@touch $@

-include tools/*.mk
