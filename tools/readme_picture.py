"""Make docs/lesson_01.gif, the picture README opens with: lesson 01's slider, dragged in a real JupyterLab.

python -m tools.readme_picture      needs a Chromium (CHROMIUM names another than the first found)
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser import harness
from tools import notebooks

PICTURE = notebooks.ROOT / "docs" / "lesson_01.gif"
# The slider runs from 200 to -200. Most happens round -11, where the mean of [10, 11, 12] + shift is zero.
SHIFTS = [200, 150, 100, 65, 40, 25, 15, 8, 3, 0, -3, -5, -7, -8, -9, -10, -11, -12, -13, -14, -15]
SHIFTS += [-17, -20, -25, -35, -60, -100, -150, -200]
SECONDS_EACH = 0.12


def record(page: harness.NotebookPage) -> list[Image.Image]:
    """Drag the first slider from its right end to its left end, a screenshot after each stretch."""
    explorer = page.explorers()[0]
    handle = explorer.sliders()[0]
    handle.scroll_into_view_if_needed()
    explorer.drag(handle, 1000)
    explorer.wait_until_still()
    track = handle.locator("xpath=../..").bounding_box()
    mouse, start = page.page.mouse, handle.bounding_box()
    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
    mouse.move(x, y)
    mouse.down()
    pictures = []
    for shift in SHIFTS:
        mouse.move(x - track["width"] * (200 - shift) / 400, y)
        explorer.wait_until_still()
        pictures.append(Image.open(io.BytesIO(explorer.box.screenshot())).convert("RGB"))
    mouse.up()
    return pictures


def main() -> int:
    browser_path = harness.find_chromium()
    if browser_path is None:
        print("No Chromium found: install one, or name it with CHROMIUM.", file=sys.stderr)
        return 1
    lesson = notebooks.built(notebooks.sources()[0])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        shutil.copy(lesson, folder)
        with harness.serve("lab", Path(folder)) as server:
            browser = playwright.chromium.launch(executable_path=browser_path, args=harness.FLAGS)
            page = harness.NotebookPage(
                browser.new_page(viewport={"width": 1280, "height": 1000}), server
            )
            page.open(lesson.name)
            page.run_all()
            page.reveal_all()
            pictures = record(page)
            browser.close()
    # One palette for all frames, so that what stands still does not flicker.
    palette = pictures[len(pictures) // 2].quantize(96, dither=Image.Dither.NONE)
    frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    frames += frames[::-1]
    PICTURE.parent.mkdir(exist_ok=True)
    frames[0].save(
        PICTURE,
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 * SECONDS_EACH),
        loop=0,
        optimize=True,
    )
    print(
        f"{PICTURE.relative_to(notebooks.ROOT)}: {len(frames)} frames, {PICTURE.stat().st_size // 1000} kB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
