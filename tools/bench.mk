.PHONY: bench

bench: $(VENV)/.test  ## time and peak memory of each lesson, top to bottom; rewrites its table
	@$(PY) -m benchmarks.collection
