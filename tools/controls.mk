.PHONY: test-stacks bench-sliders soak-sliders

test-stacks: $(VENV)/.test  ## the slider tests on Notebook 7 and on a twin of Colab's stack
	@$(PY) -m tools.stacks

bench-sliders: $(VENV)/.test  ## key press to pixels, beside interact, ipympl and others; rewrites its table
	@$(PY) -m benchmarks.sliders

soak-sliders: $(VENV)/.test  ## 200 reruns and 10,000 updates of each kind of view
	@SOAK=1 $(PY) -m pytest tests/test_controls.py -k leave_nothing_behind -s --timeout=3600
