.PHONY: experiments
experiments: $(VENV)/.test  ## run the experiments whose results ship (minutes; takes up where it stopped)
	@$(PY) -m experiments.run
