"""Each lesson ends with five questions; every choice answers at once, without a kernel."""

import re

import pytest
from nbconvert.filters import markdown2html

from helpers.claims import STATEMENTS
from tests.notebook_runs import SOURCES
from tools import notebooks

QUESTION = re.compile(r"^\*\*(\d)\.\*\* (.+) \(statements? ([\d, and]+)\)$", re.MULTILINE)
CHOICE = re.compile(r"^<details><summary>(.+?)</summary>(.+?)</details>$", re.MULTILINE)


def _quiz(source) -> str:
    cells = notebooks.read_source(source).cells
    (quiz,) = [c.source for c in cells if c.source.startswith("## Quiz")]
    return quiz


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_five_questions_with_feedback_on_each_choice(source):
    quiz = _quiz(source)
    questions = list(QUESTION.finditer(quiz))
    assert [int(match[1]) for match in questions] == [1, 2, 3, 4, 5]
    ends = [match.start() for match in questions[1:]] + [len(quiz)]
    places = []
    for match, end in zip(questions, ends, strict=True):
        choices = CHOICE.findall(quiz[match.end() : end])
        assert len(choices) == 3 and len({words for words, _ in choices}) == 3, match[0]
        verdicts = [feedback.split(":")[0].rstrip(".") for _, feedback in choices]
        assert sorted(verdicts) == ["No", "No", "Right"], f"{match[0]}: {verdicts}"
        places.append(verdicts.index("Right"))
    assert quiz.count("<details>") == 15, "a choice in a form of its own"
    assert set(places) == {0, 1, 2}, "the right choice stands in every place"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_questions_are_drawn_from_the_statements(source):
    asked = {
        int(n) for match in QUESTION.finditer(_quiz(source)) for n in re.findall(r"\d+", match[3])
    }
    tags = [t for c in notebooks.read_source(source).cells for t in c.metadata.get("tags", [])]
    decided = {int(tag.removeprefix("claim-")) for tag in tags if tag.startswith("claim-")}
    assert decided <= asked <= set(STATEMENTS)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_page_without_a_kernel_shows_every_choice(source):
    page = markdown2html(_quiz(source))
    assert len(re.findall(r"<details><summary>[^<]+</summary>[^<]+</details>", page)) == 15
    assert "&lt;" not in page
