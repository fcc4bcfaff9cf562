.PHONY: colab publish bench-first-paint

colab: $(VENV)/.test  ## one file a lesson that runs alone, for Colab or a course page, in dist/colab
	@$(PY) -m tools.colab

BRANCH ?= main
publish: $(VENV)/.test  ## REPO=owner/name: badges for Colab and Binder, and where the setup cell clones from
	@$(PY) -m tools.publish "$(REPO)" --branch "$(BRANCH)"

bench-first-paint: $(VENV)/.test  ## from Run all to the first usable slider of each lesson; rewrites its table
	@$(PY) -m benchmarks.first_paint
