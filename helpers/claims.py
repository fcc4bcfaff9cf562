"""The statements of the article behind this collection, and what the collection found about each.

The cell that decides a statement ends with `verdict(row, holds, value)` and carries the tag `claim-<row>`.
Building the notebooks collects these calls in `notebooks/verdicts.json`.
"""

import json
from dataclasses import dataclass

# In the article's order. The rows' numbers are used in cell tags and in the README's table.
STATEMENTS = {
    1: "RMS(x_norm) is about 1, and RMSNorm leaves the direction unchanged.",
    2: "LayerNorm ignores shift and scale of x; RMSNorm ignores scale only.",
    3: "LayerNorm maps [10, 11, 12] and [101, 102, 103] to the same vector, RMSNorm does not.",
    4: "RMSNorm keeps the direction; LayerNorm drops the all-ones component, then rescales.",
    5: "A learned gamma follows, written (1 + scale), so that scale = 0 is the plain norm.",
    6: "RMSNorm is simpler: one reduction fewer.",
    7: "Hidden states drift in magnitude as residuals add up.",
    8: "10 times larger hidden states make logits 100 times larger and softmax one-hot.",
    9: "RMSNorm before attention keeps what it reads stable.",
    10: "Pre-Norm: the Jacobian is I plus a term, so gradients pass.",
    11: "Post-Norm: everything passes the norm's Jacobian, so deep stacks are unstable.",
    12: "With F = 0 a Pre-Norm stack is the identity at any depth; a Post-Norm one is not.",
    13: "The norm is not on the trunk: a module tidies only what it reads.",
    14: "A small Dense turns a condition vector into scale, shift and gate.",
    15: "Scale stresses or damps features, shift moves the base, gate says how much is written.",
    16: "The whole formula: x + g * F((1 + s) * RMSNorm(x) + b).",
    17: "Zero init makes every block the identity.",
    18: "t near 1 asks for the rough outline, t near 0 for fine detail.",
    19: "pi0 gives the time once, at the input; pi0.5 gives it to every layer.",
    20: "Given once, the time must be carried by the deep layers themselves.",
    21: "The highway x stays untouched in pi0.5.",
    22: "With (1 + scale) training is more stable.",
    23: "Modern Transformers use Pre-Norm throughout.",
    24: "This is why pi0.5 injects the time into every layer.",
}

MIME = "application/vnd.adarms-notebooks.verdict+json"


@dataclass(frozen=True)
class Verdict:
    """What a cell found about one statement. Shown as text; the build reads the machine's form."""

    row: int
    verdict: str
    value: str

    def _repr_mimebundle_(self, include=None, exclude=None):
        statement = f"Statement {self.row}: {STATEMENTS[self.row]}"
        return {
            "text/plain": f"{statement}\n{self.verdict}: {self.value}",
            "text/markdown": f"> *{statement}*\n>\n> **{self.verdict}**: {self.value}",
            MIME: {"row": self.row, "verdict": self.verdict, "value": self.value},
        }

    def __repr__(self):
        return json.dumps({"row": self.row, "verdict": self.verdict, "value": self.value})


def verdict(row: int, holds: bool | str | None, value: str) -> Verdict:
    """State what a cell found about one of the article's statements.

    Args:
        row: the statement's number, a key of `STATEMENTS`.
        holds: True ("holds"), False ("does not hold"), None ("not resolved"), or the condition under
            which it holds, as the words that follow "holds only when".
        value: the number or sentence that the verdict rests on, computed by the cell.

    Raises:
        ValueError: unknown row, empty condition, empty value.
        TypeError: `holds` or `value` of another type.
    """
    if isinstance(row, bool) or not isinstance(row, int) or row not in STATEMENTS:
        raise ValueError(f"row must be one of 1 to {len(STATEMENTS)}, got {row!r}")
    if not isinstance(value, str):
        raise TypeError(f"value must be a string, got {type(value).__name__}")
    if not value.strip():
        raise ValueError("value must say what was found, got an empty string")
    if holds is None:
        words = "not resolved"
    elif isinstance(holds, bool):
        words = "holds" if holds else "does not hold"
    elif not isinstance(holds, str):
        raise TypeError(
            "holds must be True, False, None or the words after 'holds only when', "
            f"got {type(holds).__name__}"
        )
    elif not holds.strip():
        raise ValueError("holds must be a condition in words, got an empty string")
    else:
        words = f"holds only when {holds}"
    return Verdict(int(row), words, value)
