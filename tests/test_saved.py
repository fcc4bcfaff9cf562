"""What Colab and other front ends leave in a notebook is refused, by the check and by the git hook."""

import copy
import json
import os
import shutil
import subprocess

import nbformat
import pytest

from tools import notebooks, saved

ROOT = notebooks.ROOT
CLEAN = json.loads(notebooks.built(notebooks.sources()[0]).read_text(encoding="utf-8"))
STATE = "application/vnd.jupyter.widget-state+json"


def _first_code(notebook):
    return next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def _as_colab_saves(notebook):
    """What Colab wrote into a notebook saved after a run, names and numbers replaced."""
    notebook["metadata"] |= {
        "colab": {
            "provenance": [{"file_id": "1AbC", "timestamp": 1700000000000}],
            "name": "01.ipynb",
        },
        "widgets": {STATE: {"5f0d": {"model_module": "@jupyter-widgets/controls"}}},
    }
    _first_code(notebook)["metadata"] |= {
        "id": "5f0d",
        "outputId": "5f0d-1",
        "executionInfo": {
            "status": "ok",
            "timestamp": 1700000000000,
            "user_tz": 0,
            "elapsed": 512,
            "user": {"displayName": "Some One", "userId": "012345"},
        },
    }


def _print(path):
    def spoil(notebook):
        _first_code(notebook)["outputs"] = [
            {"output_type": "stream", "name": "stdout", "text": ["all is well\n", f"{path}\n"]}
        ]

    return spoil


def test_what_is_committed_passes():
    assert not saved.findings(CLEAN)
    words = copy.deepcopy(CLEAN)
    words["cells"][0]["source"] = ["see https://example.org/home/a, ../tmp/b and a/content/c"]
    assert not saved.findings(words)


def test_what_colab_saves_is_refused_thing_by_thing():
    notebook = copy.deepcopy(CLEAN)
    _as_colab_saves(notebook)
    found = "\n".join(saved.findings(notebook))
    for words in (
        "widget state without `state`",
        "Colab's record of where the file lies",
        "execution times and the name of who ran it",
        "Colab's number of its outputs",
    ):
        assert words in found


@pytest.mark.parametrize(
    "spoil,says",
    [
        (lambda nb: nb["metadata"].update(widgets={STATE: {"state": {}}}), "widget state in"),
        (lambda nb: nb["metadata"].update(vscode={"interpreter": {"hash": "1"}}), "VS Code"),
        (lambda nb: nb["cells"][1]["metadata"].update(execution={}), "execution times"),
        (lambda nb: nb["cells"][1]["metadata"].update(ExecuteTime={}), "execution times"),
        (lambda nb: nb["cells"][1].update(source=["open('/content/drive/x')"]), "(/content/)"),
        (_print("/home/some/one"), "(/home/)"),
        (_print("see file:///Users/x"), "(file:///)"),
        (_print(r"C:\Users\x"), "one machine (C:"),
        (_print("lib/python3.12/site-packages/torch"), "site-packages"),
    ],
)
def test_each_kind_is_found(spoil, says):
    notebook = copy.deepcopy(CLEAN)
    spoil(notebook)
    (line,) = saved.findings(notebook)
    assert says in line


def test_the_build_refuses_them_too():
    notebook = nbformat.from_dict(copy.deepcopy(CLEAN))
    _as_colab_saves(notebook)
    assert set(saved.findings(notebook)) <= set(notebooks.problems(notebook))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")
def test_the_hook_looks_at_what_is_staged(tmp_path):
    """A bad notebook stops the commit; mended in the folder but not staged, still; staged, it passes."""
    (tmp_path / "tools").mkdir()
    shutil.copytree(ROOT / "tools" / "hooks", tmp_path / "tools" / "hooks")
    shutil.copy(ROOT / "tools" / "saved.py", tmp_path / "tools")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}

    def git(*arguments):
        named = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
        return subprocess.run(
            named, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8"
        )

    git("init", "-q")
    git("config", "core.hooksPath", "tools/hooks")
    path = tmp_path / "a name with spaces.ipynb"
    bad = copy.deepcopy(CLEAN)
    _as_colab_saves(bad)
    path.write_text(json.dumps(bad), encoding="utf-8")
    git("add", ".")
    path.write_text(json.dumps(CLEAN), encoding="utf-8")
    done = git("commit", "-m", "bad")
    assert done.returncode and "a name with spaces.ipynb: widget state" in done.stderr
    assert git("log").returncode, "something was committed"
    git("add", ".")
    assert git("commit", "-m", "good").returncode == 0
    path.write_text("{", encoding="utf-8")
    git("add", ".")
    assert "not a notebook" in git("commit", "-m", "broken").stderr
