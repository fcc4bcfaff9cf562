"""docs/lecturing.md, the lecturer's guide, agrees with the lessons: beats, minutes, sliders, resets."""

import re
from pathlib import Path

import pytest
from jupyterlab.commands import get_app_dir

from tests import guide
from tests.notebook_runs import SOURCES
from tools import notebooks

SECTIONS = guide.sections()
lessons = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


def _head(source) -> str:
    return notebooks.read_source(source).cells[0].source


@lessons
def test_every_beat_has_its_minutes_and_they_add_up(source):
    section = SECTIONS[source.name[:2]]
    assert section.title == re.match(r"# (.+)", _head(source))[1]
    assert [beat.title for beat in section.beats] == list(guide.beats_of(source))
    assert all(beat.minutes >= 3 for beat in section.beats)
    (stated,) = re.findall(r"^About (\d+) minutes\.", _head(source), re.MULTILINE)
    total = sum(beat.minutes for beat in section.beats) + section.closing
    assert total == section.minutes == int(stated)


@lessons
def test_every_slider_is_named_with_a_question_and_what_people_answer(source):
    for beat, pictures in zip(
        SECTIONS[source.name[:2]].beats, guide.beats_of(source).values(), strict=True
    ):
        wanted = []
        for names in pictures:  # the race of lesson 03 is shown three times
            if names not in wanted:
                wanted.append(names)
        assert beat.sliders == wanted, beat.title
        assert beat.questions == max(1, len(wanted)), f"{beat.title}: a question and an answer each"


@lessons
def test_the_stops_fit_into_45_and_90_minutes(source):
    section = SECTIONS[source.name[:2]]
    (short,) = re.findall(r"^\*\*45 minutes:\*\* (.+?)\. \*\*90", section.text, re.MULTILINE)
    if section.minutes <= 45:
        assert short == "the whole lesson"
    else:
        last, said = map(
            int, re.fullmatch(r"stop after beat (\d) \((\d+) minutes\)", short).groups()
        )
        minutes = [beat.minutes for beat in section.beats]
        assert said == sum(minutes[:last]) <= 45 < sum(minutes[: last + 1])
    (left, exercises) = re.search(
        r"\*\*90 minutes:\*\* the whole lesson, then (\d+) minutes for exercises? (.+)\.$",
        section.text,
        re.MULTILINE,
    ).groups()
    assert int(left) == 90 - section.minutes
    there = re.findall(r"^# \*\*Exercise (\d)", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"\d", exercises)) <= set(there)


@lessons
def test_each_lesson_has_one_message_and_a_reset(source):
    section = SECTIONS[source.name[:2]]
    (message,) = re.findall(r"^\*\*Message\.\*\* (.+)$", section.text, re.MULTILINE)
    assert message.count(".") == 1 + message.count("pi0.5") and message.endswith(".")
    assert section.resets


def test_the_guide_has_these_lessons_and_no_other():
    assert list(SECTIONS) == [source.name[:2] for source in SOURCES]


@lessons
def test_a_reset_brings_back_what_was_broken(source, executed):
    run = executed(source)
    section = SECTIONS[source.name[:2]]
    assert len(run.resets) == len(section.resets)
    for broken, reset, after in run.resets:
        assert reset.source in section.resets
        for cell in (broken, reset, after):
            errors = [o for o in cell.outputs if o.output_type == "error"]
            assert not errors, f"{cell.source}: {errors}"
        before = [c for c in run.elsewhere.cells if c.source == after.source]
        for cell in before:
            assert _shown(cell) == _shown(after), after.source


def _shown(cell) -> list:
    return [o.data for o in cell.outputs if "image/png" in o.get("data", {})]


def test_menus_that_the_guide_names_are_jupyterlabs():
    named = re.findall(r"\*(\w+) > ([^*]+)\*", guide.GUIDE.read_text(encoding="utf-8"))
    texts = [
        path.read_text("utf-8", "ignore") for path in Path(get_app_dir(), "static").glob("*.js")
    ]
    said = "".join(texts)
    assert len(named) >= 5
    for menu, command in named:
        assert menu in ("Run", "View", "Kernel") and command in said, f"{menu} > {command}"
