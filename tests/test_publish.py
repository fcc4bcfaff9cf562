"""Badges: written everywhere at once, the same when written twice; those that are there are right."""

import re
import shutil
from urllib.parse import unquote

import jupytext
import nbformat
import pytest

from tools import notebooks, publish

BADGE = re.compile(
    r"https://colab\.research\.google\.com/github/([^/)]+/[^/)]+)/blob/([^)]+?)/(notebooks/[^)]+)\)"
    r"|https://mybinder\.org/v2/gh/([^/)]+/[^/)]+)/([^)?]+)\?labpath=([^)]+)\)"
)


@pytest.fixture
def whole_tree(tmp_path, monkeypatch):
    return _copy(tmp_path, monkeypatch, notebooks.sources())


@pytest.fixture
def tree(tmp_path, monkeypatch):
    return _copy(tmp_path, monkeypatch, notebooks.sources()[:2])


def _copy(tmp_path, monkeypatch, sources):
    """A copy of README and some lessons, which the tools take for the repository."""
    (tmp_path / "notebooks" / "source").mkdir(parents=True)
    for path in (notebooks.ROOT / "README.md", *sources, *map(notebooks.built, sources)):
        shutil.copy(path, tmp_path / path.relative_to(notebooks.ROOT))
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr(notebooks, "SOURCE", tmp_path / "notebooks" / "source")
    return tmp_path


def _texts(root) -> dict[str, str]:
    """Name to text of everything that can hold a badge; of a notebook, what its cells say."""
    found = {"README.md": (root / "README.md").read_text(encoding="utf-8")}
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        found[path.name] = "\n".join(cell.source for cell in notebook.cells)
    for path in sorted((root / "notebooks" / "source").glob("*.py")):
        cells = jupytext.read(path, fmt="py:percent").cells
        found[path.name] = "\n".join(cell.source for cell in cells)
    return found


def _wrong(root) -> list[str]:
    """What is wrong with the badges and setup cells of a tree: nothing, or one line each."""
    found, named, complete = [], set(), set()
    lessons = {path.name for path in (root / "notebooks").glob("*.ipynb")}
    for name, text in _texts(root).items():
        badges = [
            (m[1] or m[4], m[2] or unquote(m[5]), unquote(m[3] or m[6]))
            for m in BADGE.finditer(text)
        ]
        named |= {(repository, branch) for repository, branch, _ in badges}
        named |= {
            (m, None) for m in re.findall(r'^    url = "github\.com/(.*)"$', text, re.MULTILINE)
        }
        targets = {path for *_, path in badges}
        wanted = lessons if name == "README.md" else {name.replace(".py", ".ipynb")}
        complete.add(bool(targets))
        if targets and targets != {f"notebooks/{lesson}" for lesson in wanted}:
            found.append(f"{name} has badges for {sorted(targets)}")
        if targets and len(badges) != 2 * len(wanted):
            found.append(f"{name} has {len(badges)} badges")
    if len({repository for repository, _ in named}) > 1 or len({b for _, b in named if b}) > 1:
        found.append(f"more than one place is named: {sorted(map(str, named))}")
    if len(complete) > 1:
        found.append("some files have badges and some have none")
    return found


def test_the_badges_that_are_there_are_right():
    assert not _wrong(notebooks.ROOT)


def test_binder_finds_the_environment_where_the_repository_begins():
    """Binder takes environment.yml at the root, unless a folder `binder` hides it."""
    assert (notebooks.ROOT / "environment.yml").is_file()
    assert not any((notebooks.ROOT / name).exists() for name in ("binder", ".binder"))


def test_publishing_writes_them_and_changes_nothing_that_was_run(whole_tree):
    before = _texts(whole_tree)
    outputs = {
        path.name: [cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells]
        for path in whole_tree.glob("notebooks/*.ipynb")
    }
    publish.publish("some-one/the.repo")
    assert not _wrong(whole_tree)
    for source in notebooks.sources():
        assert not notebooks.differences(source)
        notebook = nbformat.read(notebooks.built(source), as_version=4)
        assert [cell.get("outputs") for cell in notebook.cells] == outputs[f"{source.stem}.ipynb"]
        words = re.findall(r"[\w$\\]+", _text_of(notebook))
        assert len(words) <= 3200, "the badges make the lesson too long"
    after = _texts(whole_tree)
    assert all("some-one/the.repo" in text for text in after.values())
    assert all(len(after[name]) != len(before[name]) for name in after)


def _text_of(notebook):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_publishing_again_changes_nothing_and_elsewhere_replaces_all(tree):
    def files():
        return {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}

    publish.publish("some-one/the.repo")
    first = files()
    publish.publish("some-one/the.repo")
    assert files() == first
    publish.publish("another/place", "trunk")
    assert not _wrong(tree)
    assert all("some-one" not in text for text in _texts(tree).values())
    publish.publish("some-one/the.repo")
    assert files() == first


def test_a_wrong_badge_is_seen(tree):
    publish.publish("some-one/the.repo")
    readme = tree / "README.md"
    text = readme.read_text(encoding="utf-8")
    for old, new, says in (
        ("notebooks%2F01_", "notebooks%2F91_", "README.md has badges for"),
        ("/github/some-one/", "/github/any-one/", "more than one place"),
        ("/blob/main/", "/blob/old/", "more than one place"),
    ):
        readme.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert any(says in line for line in _wrong(tree))
    readme.write_text(publish.BADGES.sub("", text), encoding="utf-8")
    assert _wrong(tree) == ["some files have badges and some have none"]


@pytest.mark.parametrize(
    "name",
    ["", "name", "owner/", "/name", "a/b/c", "own er/name", "-a/b", "a-/b", "a/b.git", "a/..", "ä/b",
     "https://github.com/a/b", "a/b\n", "a/b)", "a" * 40 + "/b"],
)  # fmt: skip
def test_a_name_that_github_cannot_have_is_refused(name):
    with pytest.raises(ValueError, match="REPO must be owner/name"):
        publish.publish(name)


def test_a_stale_notebook_is_not_published(tree):
    source = notebooks.sources()[0]
    source.write_text(
        source.read_text(encoding="utf-8").replace("SEED = 0", "SEED = 1"), encoding="utf-8"
    )
    before = _texts(tree)
    with pytest.raises(ValueError, match="run `make notebooks`"):
        publish.publish("some-one/the.repo")
    with pytest.raises(ValueError, match="BRANCH must be the name of a branch, got 'a branch'"):
        publish.publish("some-one/the.repo", "a branch")
    assert _texts(tree) == before
