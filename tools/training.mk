.PHONY: checkpoints bench-training

checkpoints: $(VENV)/.test  ## train the models that ship with the collection (a minute)
	@$(PY) -m tools.checkpoints

# What others use is installed beside the collection, not into it; and of torchcfm's many requirements only
# those that its matcher imports.
BENCH_TRAINING := .venv-bench-training

bench-training: $(BENCH_TRAINING)/.done  ## steps per second of the training loop, beside two libraries
	@$(BENCH_TRAINING)/bin/python -m benchmarks.training --write

$(BENCH_TRAINING)/.done: requirements.txt tools/training.mk
	@sh tools/make_venv.sh $(BENCH_TRAINING)
	@$(BENCH_TRAINING)/bin/pip install --quiet --disable-pip-version-check -r requirements.txt POT==0.9.7.post1 torchdiffeq==0.2.5
	@$(BENCH_TRAINING)/bin/pip install --quiet --disable-pip-version-check --no-deps flow_matching==1.0.10 torchcfm==1.0.7
	@touch $@
