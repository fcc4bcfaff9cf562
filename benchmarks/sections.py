"""Each table of benchmarks/README.md stands between two marks, and its benchmark replaces what is there."""

from pathlib import Path

README = Path(__file__).with_name("README.md")


def with_section(text: str, begin: str, end: str, body: str) -> str:
    """`text` with what stands between the marks replaced by `body`, or with both added at its end."""
    section = f"{begin}\n{body}\n{end}"
    if begin not in text:
        return f"{text.rstrip()}\n\n{section}\n"
    head, rest = text.split(begin)
    return head + section + rest.split(end)[1]


def write_section(begin: str, end: str, body: str) -> None:
    """Put `body` between these marks of benchmarks/README.md."""
    text = with_section(README.read_text(encoding="utf-8"), begin, end, body)
    README.write_text(text, encoding="utf-8")
