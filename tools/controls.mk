.PHONY: test-stacks bench-sliders

test-stacks: $(VENV)/.test  ## the slider tests on Notebook 7 and on a twin of Colab's stack
	@$(PY) -m tools.stacks

bench-sliders: $(VENV)/.test  ## key press to pixels, beside interact, ipympl and others; rewrites its table
	@$(PY) -m benchmarks.sliders
