"""The palette: contrast on white, and colours of one picture apart for every common kind of colour vision.

That each picture has words for what it shows, and letters of 12 points at 9 inches, is checked in
test_notebook_sliders.py, where all pictures are made.
"""

import base64
import io
import itertools
import json

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from helpers.figures.style import COLORS
from tests.color_vision import KINDS, ciede2000, contrast, distance, lab, linear, seen
from tools import notebooks

LEAST_CONTRAST = 3.0  # WCAG 2 asks this of graphics and of large letters
LEAST_DISTANCE = 9.0  # CIEDE2000; 2 is just noticeable side by side
# Helper lines that nothing depends on.
NOT_READ = {COLORS["faint"]}
SOURCES = notebooks.sources()


# From table 1 of Sharma, Wu and Dalal (2005), among them pairs whose hues lie on both sides of 0 degrees.
@pytest.mark.parametrize(
    "one,other,wanted",
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distance_is_that_of_its_authors(one, other, wanted):
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(wanted, abs=1e-4)


def test_simulation_keeps_grey_and_confuses_what_it_must():
    for kind in KINDS:
        np.testing.assert_allclose(seen("#888888", kind), linear("#888888"), atol=1e-5)
    # A red and a green that matplotlib's first two defaults made famous, and a pair of blue and green.
    assert distance("#B5651D", "#6B8E23", "usual") > 25
    assert distance("#B5651D", "#6B8E23", "deuteranopia") < 12
    assert contrast("black") == pytest.approx(21)
    assert np.allclose(lab(linear("white")), [100, 0, 0], atol=0.02)


@pytest.mark.parametrize("name", [name for name in COLORS if COLORS[name] not in NOT_READ])
def test_contrast_on_white(name):
    assert contrast(COLORS[name]) >= LEAST_CONTRAST


def colors_in(picture: bytes) -> list[str]:
    """The palette's colours that a picture shows; `faint` left out."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    counts, shades = zip(*image.getcolors(maxcolors=1 << 12), strict=True)
    counts, shades = np.array(counts), np.array(shades)
    found = []
    greys = np.ptp(shades, axis=1) <= 4
    for color in sorted(set(COLORS.values()) - NOT_READ):
        wanted = 255 * np.array(to_rgb(color))
        off = np.abs(shades - wanted).max(axis=1)
        there = counts[off <= 4].sum() > 60
        if there and np.ptp(wanted) == 0:
            # The edges of black letters have all greys: one that is meant stands out from those beside it.
            beside = counts[greys & (off > 4) & (off <= 20)].sum()
            there = counts[off <= 1].sum() > 0.22 * beside
        if there:
            found.append(color)
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_colors_of_one_picture_stay_apart(source):
    notebook = json.loads(notebooks.built(source).read_text(encoding="utf-8"))
    seen_at_all, close = set(), []
    for number, cell in enumerate(notebook["cells"]):
        for output in cell.get("outputs", []):
            picture = output.get("data", {}).get("image/png")
            colors = colors_in(base64.b64decode(picture)) if picture else []
            seen_at_all.update(colors)
            for one, other in itertools.combinations(colors, 2):
                near, kind = min((distance(one, other, kind), kind) for kind in KINDS)
                if near < LEAST_DISTANCE:
                    close.append(f"cell {number}: {one} and {other}, {near:.1f} with {kind} vision")
    assert len(seen_at_all) >= 3, "no colours found in the pictures"
    assert not close
