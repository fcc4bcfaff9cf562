.PHONY: test-latest test-oldest

# All tests but the browser's, which would test the browser's own packages; and but the one that holds what is
# installed against the pins.
ELSEWHERE := -m pytest --ignore=tests/browser --deselect tests/test_project.py::test_installed_is_what_is_pinned

test-latest: .venv-latest/.done  ## all tests but the browser's, with the newest release of everything but torch
	@sed -E '/^torch==/!s/==.*//' requirements.txt requirements-test.txt >.venv-latest/requirements.txt
	@.venv-latest/bin/pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -r .venv-latest/requirements.txt
	@.venv-latest/bin/python $(ELSEWHERE)

test-oldest: .venv-oldest/.done  ## all tests but the browser's, with the oldest numpy, matplotlib and ipywidgets that are supported
	@.venv-oldest/bin/pip install --quiet --disable-pip-version-check -r tools/requirements-oldest.txt
	@.venv-oldest/bin/python $(ELSEWHERE)

.venv-%/.done: tools/dependencies.mk
	@sh tools/make_venv.sh .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
