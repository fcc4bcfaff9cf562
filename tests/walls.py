"""Walls round a kernel: it reaches no network, and what it writes elsewhere than it may is told.

`walls` makes a home folder and a temporary folder for one kernel and puts a startup file into its IPython
profile; Python's audit hooks do the rest.
"""

import os
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.warned import STARTUP as WARNED
from tools import notebooks

# Runs in the kernel before the first cell. An audit hook sees every socket that Python code opens; the
# kernel's own sockets are ZeroMQ's and are not Python's, so they go on working.
BLOCKER = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"):
        raise OSError(f"the network is blocked in this test: {event}")
sys.addaudithook(refuse)
"""

# Beside it: Python code that writes, makes, moves or removes a file is seen; what a library writes by
# itself is found in the home folder.
WATCH = """
import os, sys
allowed, refused, log = {allowed!r}, {refused!r}, {log!r}
report = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def place(path, folder=None):
    if isinstance(path, int) or path is None:
        return None
    if isinstance(folder, int) and folder >= 0:  # an open folder, as rmtree uses it
        path = os.path.join(os.path.realpath(f"/proc/self/fd/{{folder}}"), os.fsdecode(path))
    return os.path.realpath(os.fsdecode(path))
def within(path, folders):
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if not (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            return
        touched = [place(path)]
    elif event in ("os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.utime"):
        touched = [place(arguments[0], arguments[-1])]
    elif event == "os.rename":
        touched = [place(path, folder) for path, folder in zip(arguments[:2], arguments[2:])]
    elif event in ("os.link", "os.symlink"):
        touched = [place(arguments[1], arguments[-1])]
    elif event == "os.truncate":
        touched = [place(arguments[0])]
    else:
        return
    for path in touched:
        if path is None or path.startswith(("/dev/", "/proc/")):
            continue
        if within(path, refused):
            raise OSError(30, "Read-only file system", path)
        if not within(path, allowed):
            os.write(report, (event + " " + path + "\\n").encode())
sys.addaudithook(watch)
"""

# Made by the programs that any notebook runs in, in the folder of the user, not by the lessons: IPython's
# history and matplotlib's list of the fonts of this machine.
ITS_OWN = (".ipython", ".config/matplotlib", ".cache/matplotlib")


@dataclass(frozen=True)
class Walls:
    """Attributes: environment, of the kernel; home, its home folder; log, in which strays are noted."""

    environment: dict
    home: Path
    log: Path

    def strayed(self) -> list[str]:
        """Files that were written where they may not be, one line each, and what else lies in `home`."""
        found = sorted(set(self.log.read_text(encoding="utf-8").splitlines()))
        for path, _, names in os.walk(self.home):
            for name in names:
                inside = (Path(path) / name).relative_to(self.home)
                if not any(inside.is_relative_to(own) for own in ITS_OWN):
                    found.append(f"left in the home folder: {inside}")
        return found


def walls(folder: Path, read_only: bool) -> Walls:
    """Make them in `folder`, which is empty. read_only: a write into the project is refused, too."""
    home, temporary, log = folder / "home", folder / "tmp", folder / "log"
    startup = home / ".ipython" / "profile_default" / "startup"
    for made in (startup, temporary, home / ".config", home / ".cache"):  # as in anyone's home
        made.mkdir(parents=True)
    log.touch()
    root = str(notebooks.ROOT)
    allowed = [str(temporary), *(str(home / name) for name in ITS_OWN)]
    watch = WATCH.format(
        allowed=allowed if read_only else [root, *allowed],
        refused=[root] if read_only else [],
        log=str(log),
    )
    # In a function, as a startup file shares its names with the lesson.
    inside = textwrap.indent(BLOCKER + watch + WARNED, "    ")
    code = f"def _walls():\n{inside}\n_walls()\ndel _walls\n"
    (startup / "00-walls.py").write_text(code, encoding="utf-8")
    environment = {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "IPYTHONDIR": str(home / ".ipython"),
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
        # Set otherwise, these would lead out of the home folder.
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "MPLCONFIGDIR": str(home / ".config" / "matplotlib"),
        # torch sets it in a process that compiled something, as an earlier test may have done in this one.
        "TORCHINDUCTOR_CACHE_DIR": str(temporary / "torchinductor"),
        "ADARMS_CACHE": str(home / ".cache" / "adarms-notebooks"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return Walls(environment, home, log)
