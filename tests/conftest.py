"""What tests of several modules share. Imports stand inside: the twin of Colab's stack has no jupytext."""

import pytest


@pytest.fixture(scope="session")
def offline(tmp_path_factory):
    """Environment of a kernel that cannot reach the network."""
    from tests import notebook_runs

    return notebook_runs.offline(tmp_path_factory.mktemp("ipython"))


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """A function of a source: what `notebook_runs.run_twice` gave, run once for all tests that ask."""
    from tests import notebook_runs

    kept = {}

    def get(source):
        if source not in kept:
            try:
                folder = tmp_path_factory.mktemp(source.stem)
                kept[source] = notebook_runs.run_twice(source, folder)
            except Exception as error:  # a notebook that fails is not run again for the next test
                kept[source] = error
        if isinstance(kept[source], Exception):
            raise kept[source]
        return kept[source]

    return get
