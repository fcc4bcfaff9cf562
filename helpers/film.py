"""Films: every picture of one slider drawn once, then flipped through in the page without a kernel.

The page gets one HTML element with the pictures inside and forty lines of JavaScript; it needs no network,
no widget library and no `require`, and works in exported HTML. Where scripts may not run (a notebook that
is not trusted) the still picture stands there instead.
"""

import base64
import html
import io
import json
import os
import secrets
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from IPython.display import display
from PIL import Image, features

from helpers.drawing import Painter
from helpers.sliders import choice, control
from helpers.validation import require_count, require_number

FRAMES = 41
FEW_FRAMES = 19  # of a film that stands for live sliders, of which a page has many


def film(view, *, frames=FRAMES, seconds=4.0, still=None, **controls):
    """Show `view` with one slider that needs no kernel: all its pictures are drawn when it is displayed.

    Args:
        view: as for `explore`.
        frames: how many pictures a slider of real numbers gives. Every step of a slider of integers and
            every option of a menu gives one.
        seconds: how long playing it from end to end takes.
        still: the value shown first and kept for readers without a kernel; the slider's first value if left
            out.
        controls: one, by the name that `update` takes: as for `explore`, or an array or list of the
            values in the order of playing, such as `t=np.linspace(1, 0, 41)`.

    Returns:
        A `Film`. End a cell with it, or pass it to `display`.
    """
    if len(controls) != 1:
        raise ValueError(
            f"film needs exactly one slider, got {len(controls)} ({', '.join(controls) or 'none'}); "
            "explore takes several"
        )
    require_count("frames", frames, least=2)
    require_number("seconds", seconds, above=0)
    [(name, given)] = controls.items()
    if isinstance(given, np.ndarray):
        given = choice({f"{value:.2f}": value for value in given.ravel().tolist()})
    asked = control(name, given)
    if still is not None and asked.kind.endswith("Slider"):
        require_number("still", still)
    return Film(view, name, asked, asked.positions(frames), seconds, still)


class Film:
    """A view whose pictures are drawn once; made by `film`.

    Attributes:
        values: what the slider runs through.
        texts: how each value is shown.
        frames: the pictures, each as WebP (or PNG) bytes; drawn when first asked for.
        words: what each picture shows, for readers who cannot see it.
    """

    def __init__(self, view, name, asked, positions, seconds, still, small=False):
        self.view = view
        self._small = small
        self.name = name
        self.label = asked.label or name
        self.values = [value for value, _ in positions]
        self.texts = [text for _, text in positions]
        self.seconds = seconds
        self._painter = Painter(view)
        wanted = asked.value if still is None else still
        self._start = min(range(len(self.values)), key=lambda i: _distance(self.values[i], wanted))
        self._drawn = None
        view.update(**{name: self.values[self._start]})
        self._still = (self._painter.still(), self._painter.describe())

    @property
    def frames(self) -> list[bytes]:
        return self._draw()[0]

    @property
    def words(self) -> list[str]:
        return self._draw()[1]

    def html(self) -> str:
        """The player with its pictures, one self-contained element."""
        frames, words = self._draw()
        width, height = self._painter.size()
        kind = "webp" if frames[0][:4] == b"RIFF" else "png"
        urls = [f"data:image/{kind};base64,{base64.b64encode(f).decode()}" for f in frames]
        data = {
            "urls": urls,
            "width": width,
            "height": height,
            "texts": self.texts,
            "words": words,
            "start": self._start,
            "pause": 1000 * self.seconds / max(1, len(frames) - 1),
        }
        return PLAYER.format(
            id=f"film-{secrets.token_hex(8)}",
            width=width,
            height=height,
            still=urls[self._start],
            alt=html.escape(words[self._start], quote=True),
            label=html.escape(self.label),
            last=len(frames) - 1,
            start=self._start,
            text=html.escape(self.texts[self._start]),
            room=max(map(len, self.texts)) + 1,
            data=json.dumps(data).replace("<", "\\u003c"),
            script=KEEP_KEYS + SCRIPT,
        )

    def _draw(self, progress=None):
        if self._drawn is None:
            frames, words = [], []
            with ThreadPoolExecutor(
                2
            ) as threads:  # compressing is the larger half, and lets go of the GIL
                for value in self.values:
                    self.view.update(**{self.name: value})
                    frames.append(
                        threads.submit(
                            _compressed, self._painter.pixels()[..., :3].copy(), self._small
                        )
                    )
                    words.append(self._painter.describe())
                    if progress is not None:
                        progress(len(frames), len(self.values))
            self.view.update(**{self.name: self.values[self._start]})
            self._drawn = ([frame.result() for frame in frames], words)
        return self._drawn

    def _repr_mimebundle_(self, include=None, exclude=None):
        data, metadata = self._still_bundle()
        if not showing_stills() or showing_films():
            data["text/html"] = self.html()
        return data, metadata

    def _still_bundle(self):
        picture, words = self._still
        data = {"image/png": base64.b64encode(picture).decode(), "text/plain": words}
        return data, {"image/png": {"alt": words}}

    def _ipython_display_(self):
        if showing_stills() and not showing_films():
            data, metadata = self._repr_mimebundle_()
            display(data, metadata=metadata, raw=True)
            display_how_to_run([self.label])
            return
        progress = _Progress()
        try:
            self._draw(progress)
        except KeyboardInterrupt:
            progress.finish(*self._still_bundle())  # stopped: one picture is better than none
            raise
        progress.finish(*self._repr_mimebundle_())


class _Progress:
    """Says how far the drawing is where the result will stand, once it has taken long enough to notice."""

    def __init__(self):
        self.place = None
        self.next_at = time.monotonic() + 0.5

    def __call__(self, done, total):
        if time.monotonic() < self.next_at:
            return
        self.next_at = time.monotonic() + 0.25
        message = {"text/plain": f"drawing picture {done} of {total}"}
        if self.place is None:
            self.place = display(message, raw=True, display_id=True)
        else:
            self.place.update(message, raw=True)

    def finish(self, data, metadata):
        if self.place is None:
            display(data, metadata=metadata, raw=True)
        else:
            self.place.update(data, metadata=metadata, raw=True)


def _compressed(pixels: np.ndarray, small: bool) -> bytes:
    """Lossless: WebP at its second quickest, a third of PNG's size in the same time.

    `small` keeps 256 colours, as the stills do: a quarter less, in twice the time.
    """
    picture = Image.fromarray(pixels)
    if small:
        picture = picture.quantize(256, dither=Image.Dither.NONE).convert("RGB")
    buffer = io.BytesIO()
    if features.check("webp"):
        picture.save(buffer, "WEBP", lossless=True, method=1, quality=50)
    else:
        picture.save(buffer, "PNG")
    return buffer.getvalue()


def _distance(value, wanted):
    return abs(value - wanted) if isinstance(value, (int, float)) else float(value != wanted)


def showing_stills() -> bool:
    """Whether notebooks are being built for readers without a kernel, so that only stills are published.

    `tools/` sets the environment variable HELPERS_STILL=1 for the kernel it builds a notebook with.
    """
    return os.environ.get("HELPERS_STILL") == "1"


def showing_films() -> bool:
    """Whether pages are being made (site, slides), in which a film stands for every picture with sliders.

    `tools/` sets the environment variable HELPERS_FILMS=1 beside HELPERS_STILL=1 for their kernels.
    """
    return os.environ.get("HELPERS_FILMS") == "1"


class OneSlider:
    """A view of several sliders as a view of one: `moving_name` moves, the others rest at their values."""

    def __init__(self, view, moving_name, values):
        self._view = view
        self._resting = {name: value for name, value in values.items() if name != moving_name}

    def __getattr__(self, name):
        return getattr(self._view, name)

    def update(self, **moved):
        self._view.update(**self._resting, **moved)


def display_as_film(view, controls, values):
    """What a page without a kernel gets in place of live sliders: a film over the first of them that is no
    menu and no box (or the first), and one line that says where the others rest."""
    names = list(controls)
    name = next((n for n in names if controls[n].kind.endswith("Slider")), names[0])
    asked = controls[name]
    positions = asked.few_positions(FEW_FRAMES, values[name])
    shown = OneSlider(view, name, values)
    display(Film(shown, name, asked, positions, 4.0, values[name], small=True))
    resting = [
        f"{controls[n].label or n} ({controls[n].text(values[n])})" for n in names if n != name
    ]
    if resting:
        line = (
            f"Here {asked.label or name} moves; {', '.join(resting)} can be moved in the notebook."
        )
        display({"text/plain": line, "text/markdown": f"*{line}*"}, raw=True)


def display_how_to_run(labels):
    """One line under a still, for who reads the notebook without running it."""
    noun = "slider" if len(labels) == 1 else "sliders"
    line = f"Run this cell for the {noun}: {', '.join(labels)}."
    display({"text/plain": line, "text/markdown": f"*{line}*"}, raw=True)


# JupyterLab and Notebook 7 take the arrow keys for moving between cells before a slider with the focus sees
# them, save on an element with this attribute. Their other shortcuts (saving, say) are left alone.
KEEP_KEYS = """
if (!window.helpersKeepKeys) {
  window.helpersKeepKeys = true;
  const keys = /^(Arrow(Left|Right|Up|Down)|Home|End|PageUp|PageDown| )$/;
  window.addEventListener("keydown", event => {
    if (event.target.closest && event.target.closest(".explore, .film"))
      event.target.toggleAttribute("data-lm-suppress-shortcuts", keys.test(event.key));
  }, true);
}
"""

PLAYER = """\
<div id="{id}" class="film" style="max-width:{width}px">
<img src="{still}" alt="{alt}" width="{width}" height="{height}"
 style="display:block;max-width:100%;height:auto">
<div class="film-controls" style="display:none;align-items:center;gap:12px;margin:6px 0;
font:14px sans-serif">
<button type="button" style="width:64px;padding:3px 0;font:inherit">play</button>
<label style="display:flex;align-items:center;gap:10px;flex:1 1 auto;min-width:0;margin:0;
font-weight:normal">{label}
<input type="range" min="0" max="{last}" value="{start}" step="1" aria-valuetext="{text}"
 style="flex:1 1 auto;min-width:0;margin:0"></label>
<output style="flex:none;padding:0;color:inherit;text-align:right;
min-width:{room}ch;font-variant-numeric:tabular-nums">{text}</output>
</div>
<script type="application/json">{data}</script>
<script>{script}</script>
</div>
"""

SCRIPT = """
(() => {
  for (const root of document.querySelectorAll(".film:not([data-ready])")) {
    root.dataset.ready = "true";
    const film = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const still = root.querySelector("img"), slider = root.querySelector("input");
    const button = root.querySelector("button"), output = root.querySelector("output");
    const pictures = film.urls.map(url => Object.assign(new Image(), {src: url}));
    const canvas = document.createElement("canvas");
    canvas.width = film.width; canvas.height = film.height;
    canvas.style.cssText = "display:block;max-width:100%;height:auto";
    canvas.setAttribute("role", "img");
    const paper = canvas.getContext("2d");
    const show = () => {
      const at = Number(slider.value);
      paper.drawImage(pictures[at], 0, 0);
      output.textContent = film.texts[at];
      slider.setAttribute("aria-valuetext", film.texts[at]);
      canvas.setAttribute("aria-label", film.words[at]);
    };
    let timer = null;
    const stop = () => { clearInterval(timer); timer = null; button.textContent = "play"; };
    const step = () => {
      if (!root.isConnected || slider.value === slider.max) return stop();
      slider.stepUp();
      show();
    };
    button.addEventListener("click", () => {
      if (timer !== null) return stop();
      if (slider.value === slider.max) { slider.value = 0; show(); }
      button.textContent = "pause";
      timer = setInterval(step, film.pause);
    });
    slider.addEventListener("input", () => { if (timer !== null) stop(); show(); });
    root.addEventListener("keydown", event => event.stopPropagation());  // Notebook 6 listens further up
    Promise.all(pictures.map(picture => picture.decode())).then(() => {
      show();
      still.replaceWith(canvas);
      root.querySelector(".film-controls").style.display = "flex";
    });
  }
})();
"""
