"""What sliders may be asked for: `slider`, `log_slider`, `choice`, `checkbox`. Knows no widget library."""

import math
import numbers
import re
from dataclasses import dataclass, field

# What both Python's format and the page's d3-format understand in the same way.
FORMAT = re.compile(r"[+]?,?(\.\d+)?[defg%]")
MOST_FRAMES = 400


@dataclass
class Control:
    """What one slider, menu or checkbox is to be; `explore` makes the widget when it knows the name."""

    kind: str
    value: object
    label: str | None = None
    unit: str = ""
    traits: dict = field(default_factory=dict)

    def positions(self, frames: int) -> list[tuple[object, str]]:
        """The (value, text) of each frame of a film: every option of a menu, every step of a slider of
        integers, `frames` values spread evenly (by equal factors on a logarithmic slider) else."""
        if self.kind == "Dropdown":
            found = [(option, text) for text, option in self.traits["options"]]
        elif self.kind == "Checkbox":
            found = [(False, "off"), (True, "on")]
        else:
            found = [(value, self.text(value)) for value in self._spread(frames)]
        if len(found) > MOST_FRAMES:
            raise ValueError(
                f"a film has at most {MOST_FRAMES} frames, this slider has {len(found)}"
            )
        return found

    def few_positions(self, frames: int, start) -> list[tuple[object, str]]:
        """As `positions`, but of a slider of integers `frames` steps too, and the value `start` is one."""
        if self.kind in ("Dropdown", "Checkbox"):
            return self.positions(frames)
        values = self._spread(frames)
        if len(values) > frames:
            values = [values[round(i * (len(values) - 1) / (frames - 1))] for i in range(frames)]
        values = [value for value in values if not math.isclose(value, start, abs_tol=1e-9)]
        return [(value, self.text(value)) for value in sorted([*values, start])]

    def _spread(self, frames):
        low, high, step = (self.traits[name] for name in ("min", "max", "step"))
        if self.kind == "IntSlider":
            return list(range(low, high + 1, step))
        ends = [low + (high - low) * i / (frames - 1) for i in range(frames)]
        return [10**end for end in ends] if self.kind == "FloatLogSlider" else ends

    def text(self, value) -> str:
        """The value as the slider, the menu or the box shows it, with its unit."""
        if self.kind == "Dropdown":
            return next(text for text, option in self.traits["options"] if option == value)
        if self.kind == "Checkbox":
            return "on" if value else "off"
        form = self.traits["readout_format"]
        shown = format(round(value) if form.endswith("d") else value, form)
        return f"{shown} {self.unit}" if self.unit else shown


def slider(low, high, value=None, step=None, label=None, format=None, unit=""):
    """A linear slider from `low` to `high`; integers give an integer slider.

    Args:
        value: where it starts and what "reset" returns to, one of its steps; the middle if left out.
        step: one press of an arrow key; 1 for integers, otherwise about a hundredth of the way, so that
            `value` is one of the steps.
        label: the name shown; the keyword's own name if left out.
        format: how the value is shown: ".2f", "d", ".3g", ".0%".
        unit: a few letters after the value, such as "°" or "steps".
    """
    _check_range(low, high)
    _check_text("label", label)
    _check_text("unit", unit)
    whole = all(isinstance(v, numbers.Integral) for v in (low, high, 1 if step is None else step))
    whole = whole and (value is None or isinstance(value, numbers.Integral))
    _check_inside("value", low if value is None else value, low, high)
    if step is not None:
        if not _all_numbers((step,)):
            raise TypeError(f"step must be a number, got {step!r}")
        if not 0 < step < math.inf:
            raise ValueError(f"step must be above 0 and finite, got {step!r}")
    if value is None:
        halfway = (high - low) / 2 if step is None else round((high - low) / 2 / step - 1e-9) * step
        value = (low + high) // 2 if whole and step is None else min(low + halfway, high)
    if step is None:
        step = 1 if whole else (high - low) / _steps((value - low) / (high - low))
    elif value != high and not _is_whole((value - low) / step):
        raise ValueError(
            f"value must be low and whole steps, {low!r} + k * {step!r}, or high, got {value!r}: "
            "a slider shows nothing between its steps"
        )
    kind, cast = ("IntSlider", int) if whole else ("FloatSlider", float)
    traits = {
        "min": cast(low),
        "max": cast(high),
        "step": cast(step),
        "readout_format": _checked(format or ("d" if whole else ".2f")),
    }
    return Control(kind, cast(value), label, unit, traits)


def log_slider(low, high, value=1.0, label=None, format=".3g", unit=""):
    """A slider that moves by equal factors: `low`, `high` and `value` are the real values (0.01 to 100).

    An arrow key moves by about a hundredth of the way. The rest is as for `slider`.
    """
    _check_range(low, high)
    _check_text("label", label)
    _check_text("unit", unit)
    if low <= 0:
        raise ValueError(f"low must be above 0 for a logarithmic slider, got {low!r}")
    _check_inside("value", value, low, high)
    lowest, highest = math.log10(low), math.log10(high)
    traits = {
        "base": 10,
        "min": lowest,
        "max": highest,
        "step": (highest - lowest) / _steps((math.log10(value) - lowest) / (highest - lowest)),
        "readout_format": _checked(format),
    }
    return Control("FloatLogSlider", float(value), label, unit, traits)


def choice(options, value=None, label=None):
    """A menu. `options` is a list of values, or a dict from what is shown to the value it stands for."""
    _check_text("label", label)
    if isinstance(options, dict):
        pairs = list(options.items())
    elif isinstance(options, (list, tuple)):
        pairs = [(str(option), option) for option in options]
    else:
        raise TypeError(f"options must be a list or a dict, got {type(options).__name__}")
    if not pairs:
        raise ValueError("options is empty: a menu needs at least one")
    allowed = [option for _, option in pairs]
    if value is None:
        value = allowed[0]
    if value not in allowed:
        raise ValueError(f"value must be one of {allowed}, got {value!r}")
    return Control("Dropdown", value, label, "", {"options": pairs})


def checkbox(value=False, label=None):
    """A box to tick: True or False."""
    _check_text("label", label)
    if not isinstance(value, bool):
        raise TypeError(f"value must be True or False, got {value!r}")
    return Control("Checkbox", value, label, "", {"indent": False})


def control(name, given):
    """The `Control` that was meant: given as one, or for short as (low, high), a list, a dict or a bool."""
    if isinstance(given, Control):
        return given
    if isinstance(given, bool):
        return checkbox(given)
    if isinstance(given, tuple) and len(given) in (2, 3) and _all_numbers(given):
        low, high, *step = given
        return slider(low, high, step=step[0] if step else None)
    if isinstance(given, (list, dict)):
        return choice(given)
    raise TypeError(
        f"{name} must be slider(...), log_slider(...), choice(...), checkbox(...), a pair of numbers, "
        f"a list or a bool; got {given!r}"
    )


def _is_whole(number) -> bool:
    """Whether it is an integer to within a hundredth: no readout shows the difference."""
    return abs(number - round(number)) < 0.01


def _steps(way) -> int:
    """Into how many steps to part a slider so that `way` (0 to 1) of it are whole ones; about 100.

    ipywidgets 8 moves a slider that stands between two of its steps to one of them, and so its picture.
    """
    counts = sorted(range(20, 1001), key=lambda count: abs(count - 100))
    return next((count for count in counts if _is_whole(way * count)), 100)


def _checked(format):
    _check_text("format", format)
    if not FORMAT.fullmatch(format):
        raise ValueError(f'format must be like ".2f", "d", ".3g" or ".0%", got {format!r}')
    return format


def _check_text(name, value):
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {type(value).__name__}")


def _all_numbers(values):
    return all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values)


def _check_range(low, high):
    if not _all_numbers((low, high)):
        raise TypeError(f"low and high must be numbers, got {low!r} and {high!r}")
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        raise ValueError(
            f"low and high must be both finite, and their distance, got {low!r} and {high!r}"
        )
    if low >= high:
        raise ValueError(f"low must be below high, got {low!r} and {high!r}")


def _check_inside(name, value, low, high):
    if not _all_numbers((value,)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, got {value!r}")
