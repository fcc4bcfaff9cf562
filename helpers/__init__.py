"""The shared module behind the notebooks: small files, one job each.

Nothing is imported here, so that `import helpers` costs nothing and a lesson pays only for what it uses.
What the lessons need and this Python lacks is named in a warning; nothing is installed.
"""

from importlib.util import find_spec as _find_spec
from warnings import warn as _warn

# PyPI has another package named `helpers`, without this name and without claims.py, for which the
# notebooks' setup cell looks.
COLLECTION = "adarms-notebooks"

_NEEDED = ("torch", "numpy", "matplotlib", "ipywidgets", "IPython", "tqdm", "safetensors")
_missing = [name for name in _NEEDED if _find_spec(name) is None]
if _missing:
    _warn(
        f"the lessons need what is not installed here: {', '.join(_missing)}. "
        f"To install it: pip install {' '.join(_missing).lower()}",
        stacklevel=2,
    )
