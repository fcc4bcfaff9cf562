"""Slide types by rule, and what `make slides` says where npm is missing."""

import nbformat
import pytest

from tools import notebooks, pages, site, slides
from tools.slideshow import slide_types


def code(source, *tags):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def text(source, *tags):
    return nbformat.v4.new_markdown_cell(source, metadata={"tags": list(tags)})


LONG = "a word " * 100


def test_the_rule():
    lesson = [
        (text("# 09 A lesson"), "slide"),
        (code("import sys", "setup"), "skip"),
        (code("x = 1", "parameters"), "skip"),
        (text("| symbol |\n|---|"), "subslide"),
        (text("## 1. A beat"), "slide"),
        (code("def f(x):\n    return x"), "subslide"),
        (code("print(f(1))"), "-"),
        (code("assert f(1) == 1"), "skip"),
        (text("What was printed."), "-"),
        (code("explore(View(f), t=(0, 1))"), "subslide"),
        (text(f"Notice: {LONG}"), "subslide"),
        (code("torch.testing.assert_close(f(1), 1)"), "skip"),
        (code("verdict(1, True, 'so')", "claim-1"), "subslide"),
        (text("<details><summary>The answer</summary>\n\nSo.\n\n</details>"), "-"),
        (text("Now the other one."), "subslide"),
        (code("\n".join(["print(1)"] * 10)), "-"),
        (code("\n".join(["print(2)"] * 10)), "subslide"),
        (text("## Exercises\n\n**Exercise 1 (compute).**"), "slide"),
        (code("answer = ...\nchecks.exercise_1(answer)"), "skip"),
        (text("<details>answer = 1</details>", "solution"), "skip"),
        (text("**Exercise 2 (build).**"), "-"),
        (text("## Summary"), "slide"),
    ]
    found = slide_types([cell for cell, _ in lesson])
    assert [(cell.source, slide) for (cell, _), slide in zip(lesson, found, strict=True)] == [
        (cell.source, wanted) for cell, wanted in lesson
    ]


def test_a_source_may_say_otherwise(tmp_path):
    source = tmp_path / "09_lesson.py"
    source.write_text(
        '# %% [markdown]\n# # 09 A\n\n# %% slideshow={"slide_type": "skip"}\nprint(1)\n'
    )
    cell = notebooks.read_source(source).cells[1]
    assert cell.metadata == {"slideshow": {"slide_type": "skip"}}


def test_metadata_alone_can_be_written_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    source = tmp_path / "09_lesson.py"
    source.write_text("# %% [markdown]\n# # 09 A\n\n# %%\nprint(1)\n")
    notebook = notebooks.read_source(source)
    notebook.cells[1].metadata = {}
    nbformat.write(notebook, notebooks.built(source))
    notebooks.write_metadata(source)
    assert (
        nbformat.read(notebooks.built(source), 4).cells[1].metadata.slideshow.slide_type
        == "subslide"
    )
    source.write_text("# %% [markdown]\n# # 09 A\n\n# %%\nprint(2)\n")
    with pytest.raises(SystemExit, match="has other cells than its notebook"):
        notebooks.write_metadata(source)


def test_a_long_table_is_dealt_onto_several_slides():
    rows = "\n".join(f"| {n} |" for n in range(12))
    cell = code("table")
    cell.outputs = [
        nbformat.v4.new_output("execute_result", {"text/markdown": f"| n |\n|---|\n{rows}"})
    ]
    dealt = slides.for_a_deck(nbformat.v4.new_notebook(cells=[cell])).cells
    tables = [part.outputs[0].data["text/markdown"].split("\n") for part in dealt]
    assert [table[:2] for table in tables] == [["| n |", "|---|"]] * 3
    assert [row for table in tables for row in table[2:]] == rows.split("\n")
    assert all(part.metadata.slideshow.slide_type == "subslide" for part in dealt)


def test_a_quiz_is_one_slide_a_question():
    cell = text(
        "## Quiz\n\nChoose.\n\n**1.** Why?\n\n<details>a</details>\n\n**2.** How?\n\n<details>b</details>"
    )
    cell.metadata["slideshow"] = {"slide_type": "slide"}
    first, second = slides.for_a_deck(nbformat.v4.new_notebook(cells=[cell])).cells
    assert "Choose." in first.source and "Why?" in first.source and "How?" not in first.source
    assert second.source.startswith("**2.** How?")
    assert [c.metadata.slideshow.slide_type for c in (first, second)] == ["slide", "subslide"]


def test_without_npm_one_line_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pages, "WEB", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "package-lock.json").write_text("{}")
    for make in (site.main, slides.main):
        assert make(["--run", "--folder", str(tmp_path / "made")]) == 1
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1 and said[0].startswith("npm is missing") and "Node.js" in said[0]
        assert not (tmp_path / "made").exists()


def test_pictures_of_the_web_give_way_to_their_words():
    given = "[![Open in Colab](https://somewhere/badge.svg)](https://colab/x) ![here](own.png)"
    assert pages.without_web_images(given) == "[Open in Colab](https://colab/x) ![here](own.png)"
