"""The real pi0.5 code's numbers, through the helpers' public names; and the program that checks files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden

FILE = Path(__file__).parent / "data" / "openpi_golden.json"
CONTENT = json.loads(FILE.read_text())
CASES = {case["name"]: case for case in CONTENT["cases"]}


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    result = golden.check(CASES[name], CASES)
    assert result.passed, result


def test_there_are_44_cases():
    assert len(CONTENT["cases"]) == len(CASES) == 44


def run(tmp_path, capsys, cases):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"cases": cases}))
    code = golden.main([str(path)])
    return code, capsys.readouterr().out.splitlines()


def test_a_file_with_other_names_and_sources_is_understood(tmp_path, capsys):
    names = {name: f"case {i}" for i, name in enumerate(CASES)}
    text = json.dumps(CONTENT["cases"])
    for name, other in names.items():
        text = text.replace(f'"name": "{name}"', f'"name": "{other}"')
        text = text.replace(f'"same_as": "{name}"', f'"same_as": "{other}"')
    cases = [{**case, "source": "elsewhere"} for case in json.loads(text)]
    code, lines = run(tmp_path, capsys, cases)
    assert code == 0 and lines[-1] == "44 passed, 0 failed"


def test_a_wrong_number_fails_in_every_case(tmp_path, capsys):
    """Each output of each case is compared: moving any one of them makes its case fail."""
    wrong = []
    for name, case in CASES.items():
        for key, value in case["outputs"].items():
            moved = moved_number(value)
            outputs = {**case["outputs"], key: moved}
            wrong.append({**case, "name": f"{name} {key}", "outputs": outputs})
    code, lines = run(tmp_path, capsys, [*CONTENT["cases"], *wrong])
    assert code == 1 and lines[-1] == f"44 passed, {len(wrong)} failed"
    assert sum(line.startswith("FAIL") for line in lines) == len(wrong)


def moved_number(value):
    if value is None:
        return [0.0]
    if isinstance(value, list):
        return [moved_number(value[0]), *value[1:]]
    return 1 - value if value in (0, 1) else value + 0.5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": {"z": [1.0]}}, "no helper takes inputs ['z']"),
        ({"outputs": {"normed": [1.0]}}, "expected shape (1,)"),
        ({"outputs": {"other": [1.0]}}, "no helper gives it"),
        ({"outputs": {}}, "no outputs to compare"),
        ({"params": {"same_as": "nobody"}}, "not in the file"),
        ({"params": {"scale": [0.0], "override": "turn it"}}, "override 'turn it'"),
        ({"params": {"scale": [0.0]}}, "ValueError: hidden_states must be 1 wide"),
        ({"tolerance": {}}, "KeyError"),
    ],
)
def test_a_case_that_cannot_be_checked_fails_and_says_why(change, says):
    result = golden.check({**CASES["rmsnorm_plain_batch"], **change}, CASES)
    assert not result.passed and says in result.problem


def test_the_program(tmp_path):
    def program(*arguments):
        command = [sys.executable, "-m", "tests.golden", *map(str, arguments)]
        root = FILE.parents[2]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)

    done = program(FILE)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 45 and lines[-1] == "44 passed, 0 failed"
    assert all(line.startswith("pass") and "largest error" in line for line in lines[:-1])
    done = program(tmp_path / "absent.json")
    assert done.returncode == 2 and "cannot read" in done.stderr


def test_files_that_are_not_golden(tmp_path, capsys):
    for content in ("{", "[]", '{"cases": 3}'):
        path = tmp_path / "bad.json"
        path.write_text(content)
        assert golden.main([str(path)]) == 2
        assert "cannot read" in capsys.readouterr().err
    assert golden.main([]) == 2
