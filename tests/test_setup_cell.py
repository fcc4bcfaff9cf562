"""The setup cell, the same in every lesson: it finds the helpers, or fetches them, or says what to do.

Colab is played by an empty folder, a package `google.colab`, a local server that lists sessions as Colab's
does, and a bare repository that git takes for the one on GitHub.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import nbformat
import pytest

from tools import notebooks, publish

ROOT = notebooks.ROOT
REPOSITORY = "some-one/the.repo"
OPENED_FROM = f"fileId=https://github.com/{REPOSITORY}/blob/main/notebooks/01.ipynb"
MESSAGE = "Open this notebook from GitHub or in its repository"

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("curl")),
    reason="needs git and curl, as Colab has them",
)


def _setup(text: str) -> str:
    """The setup cell of a source."""
    begin = '# %% tags=["setup"]\n'
    return text.split(begin)[1].split("\n# %%")[0].strip()


CELL = _setup(notebooks.sources()[0].read_text(encoding="utf-8"))


def _published() -> str:
    source = notebooks.sources()[0]
    text = source.read_text(encoding="utf-8")
    return _setup(publish.published_source(text, source.stem, REPOSITORY, "main"))


def _repository(folder, *names):
    """A bare git repository with these files and folders of ours."""
    work, bare = folder / "work", folder / "origin.git"
    work.mkdir()
    for name in names:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, work / name)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", work]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    subprocess.run(["git", "clone", "-q", "--bare", work, bare], check=True, capture_output=True)
    return bare


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    names = ("helpers", "notebooks/verdicts.json", "experiments/results")
    return _repository(tmp_path_factory.mktemp("origin"), *names)


@pytest.fixture
def colab(tmp_path, origin):
    """An environment like Colab's, whose list of sessions is `colab.sessions`, and an empty folder."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            colab.asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(colab.sessions.encode())

        def log_message(self, *arguments):
            pass

    class Colab:
        def __init__(self, port):
            self.asked, self.sessions = [], json.dumps([_session(OPENED_FROM)])
            self.folder = tmp_path / "content"
            self.folder.mkdir()
            fake = tmp_path / "fake" / "google" / "colab"
            fake.mkdir(parents=True)
            (fake / "__init__.py").touch()
            (tmp_path / "temporary").mkdir()
            self.environment = {
                "PYTHONPATH": str(tmp_path / "fake"),
                "COLAB_JUPYTER_IP": "127.0.0.1",
                "KMP_TARGET_PORT": str(port),
                "TMPDIR": str(tmp_path / "temporary"),
                "GIT_TERMINAL_PROMPT": "0",
            }
            self.redirect(origin)

        def redirect(self, bare):
            """Git takes `bare` for the repository on GitHub."""
            self.environment |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.file://{bare}.insteadOf",
                "GIT_CONFIG_VALUE_0": f"https://github.com/{REPOSITORY}",
            }

        def clones(self):
            return len(list((tmp_path / "temporary").iterdir()))

        def run(self, code):
            return _run(code, self.folder, self.environment)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    colab = Colab(server.server_port)
    yield colab
    server.shutdown()
    server.server_close()


def _session(path):
    """An entry of the list, with the path as Colab writes it."""
    encoded = path.replace(":", "%3A").replace("/", "%2F")
    return {"id": "1", "path": encoded, "name": "01.ipynb", "type": "notebook"}


def _run(code, folder, environment=None):
    # -S: without site-packages, where the collection's helpers are installed.
    return subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", **(environment or {})},
        capture_output=True,
        text=True,
        timeout=60,
    )


def _ours(done) -> bool:
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "adarms-notebooks"


SHOW = "\nimport helpers; print(helpers.COLLECTION)"


def test_is_the_same_everywhere_and_short():
    cells = {_setup(source.read_text(encoding="utf-8")) for source in notebooks.sources()}
    (cell,) = cells
    for version in (cell, _published()):
        lines = [line for line in version.splitlines() if line.strip()]
        assert len(lines) <= 8 and max(map(len, lines)) <= 100
        assert "pip" not in version and "%" not in version.replace("%2F", "")


def test_finds_the_folder_it_is_in_or_one_above(tmp_path):
    shutil.copytree(ROOT / "helpers", tmp_path / "helpers")
    below = tmp_path / "notebooks" / "deep"
    below.mkdir(parents=True)
    for folder in (tmp_path, below):
        assert _ours(_run(CELL + SHOW, folder))


def test_importable_already_needs_nothing_else(colab, tmp_path):
    shutil.copytree(ROOT / "helpers", tmp_path / "site" / "helpers")
    colab.environment["PYTHONPATH"] += os.pathsep + str(tmp_path / "site")
    assert _ours(colab.run(CELL + SHOW))
    assert not colab.asked and not colab.clones()


@pytest.mark.parametrize("published", [False, True])
def test_another_package_called_helpers_is_never_imported(colab, published):
    (colab.folder / "helpers.py").write_text("print('imported'); version = '0.2'")
    assert _ours(colab.run((_published() if published else CELL) + SHOW))


def test_on_colab_it_clones_what_the_notebook_was_opened_from(colab):
    assert _ours(colab.run(CELL + SHOW))
    assert colab.asked == ["/api/sessions"] and colab.clones() == 1
    assert not list(colab.folder.iterdir())


def test_on_colab_a_published_notebook_asks_nobody(colab):
    assert _ours(colab.run(_published() + SHOW))
    assert not colab.asked and colab.clones() == 1


def test_run_again_it_clones_nothing(colab):
    assert _ours(colab.run(f"cell = {CELL!r}\nexec(cell)\nexec(cell)" + SHOW))
    assert colab.clones() == 1


def test_after_an_interrupted_clone_it_works(colab, tmp_path):
    """Whatever the first try left behind is not looked at by the second."""
    half = tmp_path / "temporary" / "tmp.half" / "the.repo" / "helpers"
    half.mkdir(parents=True)
    (half / "claims.py").touch()
    assert _ours(colab.run(CELL + SHOW))


@pytest.mark.parametrize(
    "sessions",
    [
        "",
        "not json",
        "[]",
        "{}",
        json.dumps([_session("fileId=1AbCdEf")]),  # from Google Drive
        json.dumps([_session("fileId=https://example.org/some-one/the.repo/blob/01.ipynb")]),
        json.dumps(
            [_session("fileId=https://github.com/$(touch here)/x`touch here`/blob/01.ipynb")]
        ),
        json.dumps([_session("fileId=https://github.com/some-one")]),
    ],
)
def test_any_surprise_in_the_list_leads_to_the_message(colab, sessions):
    colab.sessions = sessions
    done = colab.run(CELL)
    assert done.returncode == 1 and MESSAGE in done.stderr.strip().splitlines()[-1]
    assert not list(colab.folder.iterdir())


@pytest.mark.parametrize(
    "spoil", ["no server", "no variables", "no repository", "one without helpers"]
)
def test_whatever_fails_on_colab_leads_to_the_message(colab, tmp_path, spoil):
    if spoil == "no server":
        colab.environment["KMP_TARGET_PORT"] = "1"
    elif spoil == "no variables":
        colab.environment |= {"COLAB_JUPYTER_IP": "", "KMP_TARGET_PORT": ""}
    elif spoil == "no repository":
        colab.redirect(tmp_path / "nowhere.git")
    else:
        colab.redirect(_repository(tmp_path, "notebooks/verdicts.json"))
    done = colab.run(CELL)
    assert done.returncode == 1 and MESSAGE in done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("foreign", [False, True], ids=["no helpers", "a foreign helpers package"])
def test_elsewhere_it_fetches_nothing_and_says_what_to_do(tmp_path, foreign):
    if foreign:
        (tmp_path / "helpers.py").write_text("version = '0.2'")
    for cell in (CELL, _published()):
        done = _run(cell, tmp_path)
        assert done.returncode == 1
        assert MESSAGE in done.stderr.strip().splitlines()[-1] and "Cloning" not in done.stderr


def test_what_is_missing_is_named_at_once(tmp_path):
    shutil.copytree(ROOT / "helpers", tmp_path / "helpers")
    done = _run(CELL + SHOW, tmp_path)
    assert _ours(done)
    assert "pip install torch numpy matplotlib ipywidgets ipython tqdm safetensors" in done.stderr


def test_in_a_fresh_kernel_a_clone_brings_all_that_lessons_read(colab, tmp_path, offline):
    """The helpers that this kernel could import are hidden from it, and the network with them."""
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    shutil.copytree(offline["IPYTHONDIR"], tmp_path / "ipython")
    (startup / "01-hide.py").write_text(
        "import os, sys\n"
        "sys.path[:] = [p for p in sys.path if not os.path.isfile(p + '/helpers/claims.py')]"
    )
    code = textwrap.dedent("""
        from helpers import comparison, race
        from helpers.findings import believed_and_found
        from helpers.training import CHECKPOINTS, load_checkpoint
        assert str(CHECKPOINTS).startswith(os.environ["TMPDIR"]), CHECKPOINTS
        load_checkpoint(CHECKPOINTS / "reach.safetensors")
        assert race.shipped_results() and comparison.shipped_results() and believed_and_found()
    """)
    cells = [nbformat.v4.new_code_cell(text) for text in (CELL, code)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    environment = colab.environment | {"IPYTHONDIR": str(tmp_path / "ipython")}
    asyncio.run(notebooks.execute_async(notebook, colab.folder, environment))
    assert colab.asked and colab.clones() == 1
