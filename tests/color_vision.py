"""How colours look with the three common kinds of colour blindness, and how far apart they are.

Simulation: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation
of Color Vision Deficiency", IEEE TVCG 15 (2009); its matrices of severity 1.0, applied to linear RGB.
Distance: CIEDE2000 (G. Sharma, W. Wu, E. N. Dalal, 2005); 2 is just noticeable side by side. Contrast:
WCAG 2.
"""

import numpy as np
from matplotlib.colors import to_rgb

MACHADO = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
KINDS = ("usual", *MACHADO)


def linear(color) -> np.ndarray:
    """sRGB, as matplotlib takes it, to linear RGB."""
    given = np.asarray(to_rgb(color))
    return np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)


def seen(color, kind: str) -> np.ndarray:
    """Linear RGB of the colour as it looks with this kind of colour vision."""
    light = linear(color)
    return light if kind == "usual" else np.clip(np.array(MACHADO[kind]) @ light, 0, 1)


def contrast(color, other="white") -> float:
    """WCAG 2's ratio of luminances, 1 to 21."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    light = sorted((weights @ linear(color), weights @ linear(other)))
    return float((light[1] + 0.05) / (light[0] + 0.05))


def lab(light) -> np.ndarray:
    """Linear RGB to CIE L*a*b* (D65)."""
    matrix = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    ratio = np.array(matrix) @ light / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, kind: str = "usual") -> float:
    """CIEDE2000 between two colours as this kind of colour vision sees them."""
    return ciede2000(lab(seen(one, kind)), lab(seen(other, kind)))


def ciede2000(one, other) -> float:
    """Between two colours in L*a*b*."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = 0.5 * (1 - np.sqrt(mean_chroma**7 / (mean_chroma**7 + 25.0**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = h1 + turn / 2 if c1 * c2 else h1 + h2
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    dl, dc, dh = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    t = (
        1
        - 0.17 * np.cos(np.radians(hue - 30))
        + 0.24 * np.cos(np.radians(2 * hue))
        + 0.32 * np.cos(np.radians(3 * hue + 6))
        - 0.20 * np.cos(np.radians(4 * hue - 63))
    )
    sl = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    around = 30 * np.exp(-((((hue % 360) - 275) / 25) ** 2))
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7)) * np.sin(np.radians(2 * around))
    x, y, z = dl / sl, dc / sc, dh / sh
    return float(np.sqrt(x**2 + y**2 + z**2 + rotation * y * z))
