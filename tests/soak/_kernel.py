"""A lesson in a kernel of its own, whose cells are run in any order, interrupted, and looked at."""

import os
import queue
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_client import KernelManager

from tools import notebooks

TIMEOUT = 600  # seconds for one cell; a cell that takes longer hangs
WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass
class Run:
    """What one run of a cell gave: its status, its outputs as the page would show them, and its error."""

    status: str = "no reply"  # "ok" or "error"
    error: str = ""  # "NameError: name 'x' is not defined"
    outputs: list[dict] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def printed(self) -> list:
        """Text and pictures, in order: what must be the same whenever the cell runs.

        Without progress bars, which show times, and without a film's player, which holds a random name;
        its first picture and its words stand beside it.
        """
        found = []
        for output in self.outputs:
            if "text" in output:
                if found and found[-1][0] == output["name"]:  # how prints are cut depends on time
                    found[-1] = (output["name"], found[-1][1] + output["text"])
                else:
                    found.append((output["name"], output["text"]))
                continue
            data = output["data"]
            if WIDGET in data and "image/png" not in data:
                continue
            kept = {kind: data[kind] for kind in ("text/plain", "image/png") if kind in data}
            found.append(tuple(sorted(kept.items())))
        return found

    @property
    def complaints(self) -> list[str]:
        """Errors and what was written to stderr, one line each."""
        found = [self.error] if self.status != "ok" else []
        for output in self.outputs:
            if output.get("name") == "stderr" and (text := output["text"].strip()):
                found.append(f"stderr: {text.splitlines()[-1]}"[:300])
        return found


class Lesson:
    """A lesson's code cells and a fresh kernel: `with Lesson("01_norm_geometry") as lesson: lesson.run(0)`.

    `environment` is added to this process's own; `folder` is where the kernel starts, the notebooks' own if
    left out; `wrap` is put before the kernel's command line. Sliders and films are shown as to a reader who
    runs the cells, unless HELPERS_STILL is in `environment`.
    """

    def __init__(self, name, environment=None, folder=None, wrap=()):
        self.name = name
        self.source = notebooks.SOURCE / f"{name}.py"
        cells = notebooks.read_source(self.source).cells
        self.cells = [cell for cell in cells if cell.cell_type == "code"]
        shown = {key: value for key, value in os.environ.items() if key != "HELPERS_STILL"}
        self._environment = {**shown, "OMP_NUM_THREADS": "1", **(environment or {})}
        self._wrap = list(wrap)
        self._folder = Path(folder or notebooks.NOTEBOOKS)

    def __enter__(self):
        self.manager = KernelManager(kernel_name="python3")
        # The first word, "python", would be found by the manager only if nothing stood before it.
        arguments = self.manager.kernel_spec.argv[1:]
        self.manager.kernel_spec.argv = [*self._wrap, sys.executable, *arguments]
        self.manager.start_kernel(
            env=self._environment,
            cwd=str(self._folder),
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
        )
        self._connect()
        return self

    def _connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)

    def __exit__(self, *error):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def restart(self):
        """Kill the kernel without warning, as "Restart" does, and start another."""
        self.client.stop_channels()
        self.manager.restart_kernel(now=True)
        self._connect()

    def tags(self, number) -> list[str]:
        return self.cells[number].metadata.get("tags", [])

    def measured(self, number) -> bool:
        return "measured" in self.tags(number)

    def run(self, number, interrupts=()) -> Run:
        """Run code cell `number`; send an interrupt at each of these seconds after its start."""
        return self.execute(self.cells[number].source, self.cells[number].id, interrupts)

    def run_all(self) -> list[Run]:
        return [self.run(number) for number in range(len(self.cells))]

    def value(self, expression) -> str:
        """The repr of an expression in the kernel; raises RuntimeError where it fails."""
        run = self.execute(f"print(repr({expression}))", "value")
        if run.status != "ok":
            raise RuntimeError(f"{expression}: {run.error}")
        return "".join(output.get("text", "") for output in run.outputs).strip()

    def execute(self, code, cell_id="none", interrupts=()) -> Run:
        began = time.monotonic()
        request = self.client.session.msg(
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": False,
                "stop_on_error": False,
            },
        )
        request["metadata"]["cellId"] = cell_id  # as JupyterLab does
        self.client.shell_channel.send(request)
        found, waiting = Run(), sorted(interrupts)
        idle = replied = False
        cleared = False
        while not (idle and replied):
            passed = time.monotonic() - began
            if passed > TIMEOUT:
                raise TimeoutError(
                    f"{self.name}: a cell ran longer than {TIMEOUT} s: {code[:80]!r}"
                )
            if not self.manager.is_alive():
                raise RuntimeError(f"{self.name}: the kernel died in {code[:80]!r}")
            if waiting and passed >= waiting[0]:
                waiting.pop(0)
                self.manager.interrupt_kernel()
            pause = min(0.5, max(0.001, waiting[0] - passed)) if waiting else 0.5
            if idle:
                replied = self._reply(request, found, pause)
                continue
            try:
                message = self.client.get_iopub_msg(timeout=pause)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
                continue
            idle, cleared = _take(message, found, cleared)
        found.seconds = time.monotonic() - began
        return found

    def _reply(self, request, found, pause) -> bool:
        try:
            message = self.client.get_shell_msg(timeout=pause)
        except queue.Empty:
            return False
        if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
            return False
        content = message["content"]
        found.status = content["status"]
        if found.status == "error":
            value = re.sub(r"\x1b\[[0-9;]*m", "", content["evalue"])
            found.error = f"{content['ename']}: {value}"
        return True


def _take(message, found, cleared):
    """Add one message to the outputs, as a page would; -> (whether the cell is done, clear at the next)."""
    kind, content = message["msg_type"], message["content"]
    if kind == "status":
        return content["execution_state"] == "idle", cleared
    if kind == "clear_output":
        if content.get("wait"):
            return False, True
        found.outputs.clear()
    elif kind == "update_display_data":
        name = content.get("transient", {}).get("display_id")
        for output in found.outputs:
            if output.get("display_id") == name and name is not None:
                output["data"] = content["data"]
    elif kind in ("stream", "display_data", "execute_result"):
        if cleared:
            found.outputs.clear()
        if kind == "stream":
            found.outputs.append({"name": content["name"], "text": content["text"]})
        else:
            name = content.get("transient", {}).get("display_id")
            found.outputs.append({"data": content["data"], "display_id": name})
        return False, False
    return False, cleared
