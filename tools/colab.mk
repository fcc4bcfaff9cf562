.PHONY: colab publish

colab: $(VENV)/.test  ## one file a lesson that runs alone, for Colab or a course page, in dist/colab
	@$(PY) -m tools.colab

BRANCH ?= main
publish: $(VENV)/.test  ## REPO=owner/name: badges for Colab and Binder, and where the setup cell clones from
	@$(PY) -m tools.publish "$(REPO)" --branch "$(BRANCH)"
