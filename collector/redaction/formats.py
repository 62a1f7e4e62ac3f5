"""Forms of keys and tokens that tell themselves: `formats.toml` lists them, with their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from collector.redaction.checks import is_any, is_random

Check = Callable[[bytes, int, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A form: `detect` is what is searched for first, where the form has no fixed beginning."""

    name: str
    find: str
    source: str
    detect: str = ""
    is_random: bool = False

    @property
    def check(self) -> Check:
        """What the expression cannot say: that the value looks random."""
        return is_random if self.is_random else is_any


def read_formats() -> tuple[Format, ...]:
    """The formats of `formats.toml`, in its order."""
    path = Path(__file__).with_name("formats.toml")
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["format"]
    return tuple(Format(**row) for row in rows)


FORMATS = read_formats()
