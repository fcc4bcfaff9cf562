.PHONY: site slides test-site

site: $(VENV)/.test  ## the lessons as web pages that need no kernel and no network, in dist/site (takes npm)
	@$(PY) -m tools.site

slides: $(VENV)/.test  ## one reveal.js deck a lesson, each a single file, in dist/slides (takes npm)
	@$(PY) -m tools.slides

test-site: site slides  ## make both and test them whole; make test does it with the films of one lesson
	@PUBLISHED=dist $(PY) -m pytest tests/browser/test_published.py
