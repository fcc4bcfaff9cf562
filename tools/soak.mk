.PHONY: soak soak-slice

soak: $(VENV)/.test  ## what a lecture does, at full length (two hours; takes up where it stopped); rewrites its table
	@$(PY) -m tests.soak

soak-slice: $(VENV)/.test  ## the part of it that CI runs (minutes)
	@$(PY) -m tests.soak --slice
