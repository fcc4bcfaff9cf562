"""The picture that follows a training: it moves while the cell runs, and ■ leaves all whole."""

import time

import nbformat

SETUP = """
import torch
from helpers.action_expert import ActionExpert, ExpertConfig
from helpers.comparison import reach_data
from helpers.figures.training import Learning
from helpers.live import Live
from helpers.training import Training, TrainSettings

torch.set_num_threads(1)
scene, actions = reach_data(200, seed=0)
config = ExpertConfig(width=8, depth=2, mlp_width=8, observation_dim=4, one_token=True)
run = Training(ActionExpert(config), actions, scene.observation, TrainSettings(steps=100_000, batch=8))
picture = Learning((1.0, 0.1), (0.5, 0.0), 0.18, steps=2000, layers=2)

def snapshot(run):
    paths = torch.full((1, 16, 2), run.step / 2000)
    return {"losses": run.losses[-2000:], "gates": [], "paths": paths}
"""
TRAIN = """with Live(picture, snapshot) as show:
    run.run(on_step=show)
print("kept", run.step == len(run.losses))"""


def test_it_moves_while_the_cell_runs_and_stays_when_it_is_stopped(open_notebook, server, app):
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code in (SETUP, TRAIN)]
    )
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    nbformat.write(notebook, server.folder / "live.ipynb")
    opened = open_notebook("live.ipynb", height=1400)
    page = opened.page
    if app == "notebook6":
        page.evaluate("Jupyter.notebook.execute_all_cells()")
    else:
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.wait_for_selector("img.widget-image, .widget-image img", timeout=60_000)
    pictures = page.locator("img.widget-image, .widget-image img")
    seen = set()
    deadline = time.monotonic() + 60
    while len(seen) < 4 and time.monotonic() < deadline:
        seen.add(pictures.first.get_attribute("src"))
        page.wait_for_timeout(200)
    assert len(seen) >= 4, "the picture stands still while the training runs"
    assert pictures.count() == 1, "it is updated in place"
    opened.screenshot(f"{app}-live")

    if app == "notebook6":
        page.evaluate("Jupyter.notebook.kernel.interrupt()")
    else:
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    page.get_by_text("kept True").wait_for(timeout=60_000)
    assert page.get_by_text("stopped after").count() == 1 and opened.failures() == []
    page.wait_for_timeout(500)
    assert pictures.count() == 0, "the widget is gone"
    still = page.locator("img[src^='data:image/png']")
    assert still.count() == 1, "its last picture stands there"
    opened.screenshot(f"{app}-live-stopped")
    assert opened.errors == []
