"""The frame of the project: what is pinned, what is ranged, what a wrong Python is told."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
# conda-forge calls torch's CPU build so; every other package has the same name there.
CONDA_NAMES = {"pytorch-cpu": "torch"}


def _pins(name: str) -> dict[str, str]:
    """Package to version, from a requirements file in which every line must be an exact pin."""
    pins = {}
    for line in (ROOT / name).read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            requirement = Requirement(line)
            (specifier,) = requirement.specifier
            assert specifier.operator == "==", f"{name}: {line} is not an exact pin"
            pins[requirement.name] = specifier.version
    return pins


def _ranges() -> dict[str, SpecifierSet]:
    """Package to range, from the dependencies of environment.yml."""
    text = (ROOT / "environment.yml").read_text().split("dependencies:")[1]
    found = {}
    for entry in re.findall(r"^\s+- (\S+)$", text, re.MULTILINE):
        requirement = Requirement(entry)
        found[CONDA_NAMES.get(requirement.name, requirement.name)] = requirement.specifier
    return found


def test_environment_lists_what_requirements_list():
    ranges = _ranges()
    python = ranges.pop("python")
    assert set(ranges) == set(_pins("requirements.txt"))
    assert python.contains("3.11") and python.contains("3.13.5")
    assert not python.contains("3.10.9") and not python.contains("3.14")


@pytest.mark.parametrize("package,version", sorted(_pins("requirements.txt").items()))
def test_pin_lies_in_the_environments_range(package, version):
    allowed = _ranges()[package]
    assert allowed.contains(version), f"{package}=={version} is outside {allowed}"
    assert {">=", "<"} == {part.operator for part in allowed}, (
        f"{package}: a lower and an upper end"
    )


def test_installed_is_what_is_pinned():
    from importlib.metadata import version

    for package, pinned in {**_pins("requirements.txt"), **_pins("requirements-test.txt")}.items():
        assert version(package).split("+")[0] == pinned, package


@pytest.mark.skipif(sys.platform == "win32", reason="make and sh are not there")
def test_wrong_python_gets_one_line(tmp_path):
    old = tmp_path / "python-old"
    old.write_text('#!/bin/sh\ncase "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac\n')
    old.chmod(0o755)
    done = subprocess.run(
        ["sh", ROOT / "tools" / "make_venv.sh", tmp_path / "venv"],
        env={**os.environ, "PYTHON": str(old)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and not (tmp_path / "venv").exists()
    (line,) = done.stderr.strip().splitlines()
    assert "3.11, 3.12 or 3.13" in line and "Python 3.9.2" in line


@pytest.mark.skipif(sys.platform == "win32", reason="make and sh are not there")
def test_right_python_makes_an_environment(tmp_path):
    subprocess.run(
        ["sh", ROOT / "tools" / "make_venv.sh", tmp_path / "venv"],
        env={**os.environ, "PYTHON": sys.executable},
        check=True,
    )
    assert (tmp_path / "venv" / "bin" / "python").exists()


def test_readme_names_only_what_is_there():
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), f"a link to {target}, which does not exist"
    rules = "".join(p.read_text() for p in [ROOT / "Makefile", *(ROOT / "tools").glob("*.mk")])
    for name in re.findall(r"`make ([a-z-]+)", text):
        assert re.search(rf"^{name}:", rules, re.MULTILINE), f"no target for `make {name}`"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")
def test_nothing_generated_is_tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    bad = [n for n in listed if re.search(r"(__pycache__|\.ipynb_checkpoints|\.venv|\.tmp$)", n)]
    assert not bad
