"""A real Jupyter server and a real browser: open a notebook, run it, move its sliders, look at it."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import TimeoutError

ROOT = Path(__file__).resolve().parent.parent.parent
SCREENSHOTS = ROOT / "screenshots"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What a front end is started with, where its pages are, how it is told to run all cells.
APPS = {
    "lab": ("jupyterlab", "--LabApp.expose_app_in_browser=True", "doc/tree"),
    "notebook7": ("notebook", "--JupyterNotebookApp.expose_app_in_browser=True", "notebooks"),
    "notebook6": ("notebook", None, "notebooks"),
}

# On Linux the server asks to be told to stop when the tests are killed: PR_SET_PDEATHSIG is 1.
LAUNCH = """
import ctypes, runpy, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def find_chromium() -> str | None:
    """The browser to drive: the one named by CHROMIUM, else the first found."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    return None


@contextlib.contextmanager
def serve(app: str, folder: Path, python: str = sys.executable):
    """Start a server of `app` on a free port with `folder` as its root, yield a `Server`, stop it."""
    module, expose, _ = APPS[app]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        "--ServerApp.root_dir=" + str(folder),
        "--IdentityProvider.token=",
        "--ServerApp.disable_check_xsrf=True",
        expose,
    ]
    if app == "notebook6":
        options = [
            "--no-browser",
            "--allow-root",
            f"--port={port}",
            "--ip=127.0.0.1",
            "--NotebookApp.port_retries=0",
            "--NotebookApp.token=",
            "--NotebookApp.disable_check_xsrf=True",
            "--notebook-dir=" + str(folder),
        ]
    state = folder / ".state"
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(state / "config"),
        "JUPYTER_DATA_DIR": str(state / "data"),
        "JUPYTER_RUNTIME_DIR": str(state / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(state / "settings"),
        "IPYTHONDIR": str(state / "ipython"),
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
    }
    environment.pop("HELPERS_STILL", None)
    settings = state / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    with open(state / "server.log", "w") as log:
        process = subprocess.Popen(
            [python, "-W", "ignore", "-c", LAUNCH, module, *options],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            server = Server(app, f"http://127.0.0.1:{port}")
            deadline = time.monotonic() + 60
            while not server.answers():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("no server: " + (state / "server.log").read_text()[-2000:])
                time.sleep(0.2)
            yield server
        finally:
            with contextlib.suppress(OSError):
                server.stop_kernels()
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class Server:
    def __init__(self, app, url):
        self.app, self.url = app, url

    def address(self, notebook: str) -> str:
        return f"{self.url}/{APPS[self.app][2]}/{notebook}"

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "/api", timeout=5):
                return True
        except OSError:
            return False

    def stop_kernels(self):
        with urllib.request.urlopen(self.url + "/api/kernels", timeout=10) as reply:
            kernels = json.load(reply)
        for kernel in kernels:
            request = urllib.request.Request(
                f"{self.url}/api/kernels/{kernel['id']}", method="DELETE"
            )
            with urllib.request.urlopen(request, timeout=20):
                pass


# Errors of Jupyter's own pages, which they print with no notebook of ours open.
NOT_OURS = (
    "reading 'schema'",  # Notebook 7 with jupytext's extension
    "Failed to load resource",
    "ERR_CONNECTION",
    "Access to font",  # Notebook 6's icons
    "API request failed",
)


class NotebookPage:
    """One notebook in a tab."""

    def __init__(self, page, server: Server):
        self.page, self.server = page, server
        self.errors = []
        page.on("pageerror", lambda error: self._note(f"{error.name}: {error.message}"))
        page.on("console", lambda m: self._note(m.text) if m.type == "error" else None)

    def _note(self, text):
        if not any(known in text for known in NOT_OURS):
            self.errors.append(text)

    def open(self, notebook: str):
        self.page.goto(self.server.address(notebook))
        if self.server.app == "notebook6":
            self.page.wait_for_function(
                "window.Jupyter && Jupyter.notebook && Jupyter.notebook.kernel"
                " && Jupyter.notebook.kernel.is_connected()",
                timeout=60_000,
            )
            self.page.wait_for_timeout(
                2000
            )  # its widget manager asks the kernel what widgets there are
        else:
            self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
            self._wait_until_idle()

    def _wait_until_idle(self, timeout: float = 90):
        try:
            self.page.wait_for_function(
                """() => { const app = window.jupyterapp; const p = app && app.shell.currentWidget;
                const k = p && p.sessionContext && p.sessionContext.session
                  && p.sessionContext.session.kernel;
                return k && k.status === 'idle'; }""",
                timeout=timeout * 1000,
            )
        except TimeoutError:
            state = self.page.evaluate(
                """() => { const p = window.jupyterapp.shell.currentWidget;
                const k = p && p.sessionContext && p.sessionContext.session
                  && p.sessionContext.session.kernel;
                return k ? k.status + ', ' + k.connectionStatus : 'no kernel'; }"""
            )
            raise AssertionError(f"the kernel was not idle after {timeout} s: {state}") from None

    def run_all(self, timeout: float = 300):
        """Run every cell and wait until the kernel has nothing left to do, or a cell has failed."""
        if self.server.app == "notebook6":
            self.page.evaluate("Jupyter.notebook.execute_all_cells()")
            self.page.wait_for_function(
                """() => { const cells = Jupyter.notebook.get_cells()
                     .filter(c => c.cell_type === 'code' && c.get_text().trim());
                   return document.querySelector('.output_error')
                     || cells.every(c => typeof c.input_prompt_number === 'number'); }""",
                timeout=timeout * 1000,
            )
        else:
            self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
            self.page.wait_for_function(
                """() => { const p = window.jupyterapp.shell.currentWidget;
                   const cells = p.content.widgets.map(w => w.model)
                     .filter(m => m.type === 'code' && m.sharedModel.getSource().trim());
                   const failed = cells.some(m => m.outputs.toJSON().some(o => o.output_type === 'error'));
                   return (failed || cells.every(m => m.executionCount !== null))
                     && p.sessionContext.session.kernel.status === 'idle'; }""",
                timeout=timeout * 1000,
            )

    def failures(self) -> list[str]:
        """The text of every error that a cell shows."""
        if self.server.app == "notebook6":
            return self.page.locator(".output_error").all_inner_texts()
        return self.page.evaluate(
            """() => window.jupyterapp.shell.currentWidget.content.widgets
                 .filter(w => w.model.type === 'code')
                 .flatMap(w => w.model.outputs.toJSON())
                 .filter(o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue)"""
        )

    def ask_kernel(self, code: str) -> str:
        """Run code in the notebook's kernel, not in a cell; returns what it prints."""
        if self.server.app == "notebook6":
            script = """code => new Promise(done => { let out = '';
              Jupyter.notebook.kernel.execute(code,
                {iopub: {output: m => { out += m.content.text || m.content.evalue || ''; }},
                 shell: {reply: () => setTimeout(() => done(out), 200)}},
                {silent: false, store_history: false}); })"""
        else:
            script = """async code => { let out = '';
              const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              const future = kernel.requestExecute({code, store_history: false});
              future.onIOPub = m => { out += m.content.text || m.content.evalue || ''; };
              await future.done; return out; }"""
        return self.page.evaluate(script, code)

    def rerun(self, cell: int):
        """Run one cell again and wait for it."""
        if self.server.app == "notebook6":
            self.page.evaluate("cell => Jupyter.notebook.execute_cells([cell])", cell)
            self.page.wait_for_timeout(300)
            self.page.wait_for_function(
                "cell => typeof Jupyter.notebook.get_cell(cell).input_prompt_number === 'number'",
                arg=cell,
            )
        else:
            self.page.evaluate(
                """async cell => { const app = window.jupyterapp;
                  app.shell.currentWidget.content.activeCellIndex = cell;
                  await app.commands.execute('notebook:run-cell'); }""",
                cell,
            )
        self.page.wait_for_timeout(500)

    def restart(self):
        """Restart the kernel and clear what the cells show."""
        if self.server.app == "notebook6":
            self.page.evaluate(
                """Jupyter.notebook.clear_all_output();
                  Jupyter.notebook.get_cells().forEach(c => c.set_input_prompt && c.set_input_prompt());
                  Jupyter.notebook.kernel.restart();"""
            )
            self.page.wait_for_timeout(1000)
            self.page.wait_for_function("Jupyter.notebook.kernel.is_connected()", timeout=60_000)
            self.page.wait_for_timeout(2000)
        else:
            self.page.evaluate(
                """async () => { const app = window.jupyterapp;
                  await app.shell.currentWidget.sessionContext.session.kernel.restart();
                  await app.commands.execute('notebook:clear-all-cell-outputs'); }"""
            )
            self._wait_until_idle()

    def reveal_all(self):
        """Bring each cell into view once: front ends attach outputs only when they are near."""
        cells = self.page.locator(".cell" if self.server.app == "notebook6" else ".jp-Cell")
        for i in range(cells.count()):
            with contextlib.suppress(TimeoutError):
                cells.nth(i).scroll_into_view_if_needed(timeout=5000)
        self.page.wait_for_timeout(300)

    def explorers(self) -> list["ExplorerOnPage"]:
        boxes = self.page.locator(".explore")
        return [ExplorerOnPage(self.page, boxes.nth(i)) for i in range(boxes.count())]

    def films(self) -> list["FilmOnPage"]:
        roots = self.page.locator(".film")
        return [FilmOnPage(self.page, roots.nth(i)) for i in range(roots.count())]

    def screenshot(self, name: str, of=None):
        SCREENSHOTS.mkdir(exist_ok=True)
        (of or self.page).screenshot(path=SCREENSHOTS / f"{name}.png")


class ExplorerOnPage:
    """The sliders and picture of one `explore`."""

    def __init__(self, page, box):
        self.page, self.box = page, box
        self.image = box.locator("img")

    def sliders(self):
        """The handles of its sliders: ipywidgets 8's, then 7's."""
        found = self.box.locator(".noUi-handle, .ui-slider-handle")
        return [found.nth(i) for i in range(found.count())]

    def words(self) -> str:
        """What the picture shows, as a screen reader says it."""
        return self.box.locator("[role=status]").inner_text()

    def alert(self) -> str:
        return " ".join(self.box.locator("[role=alert]").all_inner_texts())

    def readout(self, i: int) -> str:
        return self.box.locator(".widget-readout").nth(i).inner_text()

    def count_pictures(self):
        """From now on, count the pictures that arrive and note when (milliseconds of the page's clock)."""
        self.image.evaluate(
            """image => { window.arrivals = [];
              new MutationObserver(() => window.arrivals.push(performance.now()))
                .observe(image, {attributes: true, attributeFilter: ['src']}); }"""
        )

    def source(self) -> str:
        """Changes with every picture that arrives."""
        return self.image.get_attribute("src")

    def pixels(self) -> str:
        """A fingerprint of the picture that stands."""
        return self.image.evaluate(FINGERPRINT)

    def wait_for_change(self, before: str, timeout: float = 10):
        self.page.wait_for_function(
            "([image, before]) => image.getAttribute('src') !== before && image.complete",
            arg=[self.image.element_handle(), before],
            timeout=timeout * 1000,
        )

    def wait_until_still(self, quiet: float = 0.5) -> str:
        """Wait until no picture has arrived for `quiet` seconds; returns the last one's fingerprint."""
        last, since = self.source(), time.monotonic()
        while time.monotonic() - since < quiet:
            self.page.wait_for_timeout(50)
            now = self.source()
            if now != last:
                last, since = now, time.monotonic()
        return self.pixels()

    def wait_for_another(self, picture: str, timeout: float = 20) -> str:
        """Wait until another picture than this one stands; returns the one that stands in the end.

        A slow or busy machine only makes it wait longer: what is asked is whether the picture changes.
        """
        deadline = time.monotonic() + timeout
        standing = self.wait_until_still(0.2)
        while standing == picture and time.monotonic() < deadline:
            standing = self.wait_until_still(0.2)
        return standing

    def drag(self, handle, across: float, steps: int = 10):
        """Drag a handle by `across` pixels with the mouse."""
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for step in range(1, steps + 1):
            self.page.mouse.move(x + across * step / steps, y)
        self.page.mouse.up()

    def press(self, handle, key: str):
        handle.focus()
        self.page.keyboard.press(key)


class FilmOnPage:
    """The player of one `film`."""

    def __init__(self, page, root):
        self.page, self.root = page, root
        self.slider = root.locator("input[type=range]")
        self.output = root.locator("output")
        self.canvas = root.locator("canvas")
        self.button = root.locator("button")

    def pixels(self) -> str:
        return self.canvas.evaluate(FINGERPRINT)


# A 32-bit hash of what an image or a canvas shows.
FINGERPRINT = """element => {
  const canvas = document.createElement('canvas');
  canvas.width = element.naturalWidth || element.width;
  canvas.height = element.naturalHeight || element.height;
  const paper = canvas.getContext('2d');
  paper.drawImage(element, 0, 0);
  const data = paper.getImageData(0, 0, canvas.width, canvas.height).data;
  let hash = 2166136261;
  for (let i = 0; i < data.length; i++) { hash ^= data[i]; hash = Math.imul(hash, 16777619); }
  return (hash >>> 0).toString(16);
}"""
