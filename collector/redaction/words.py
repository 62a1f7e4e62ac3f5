"""Reads `words.toml`: the words around secrets."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def words() -> dict[str, Any]:
    """Lists of words by what they say; `password` has one per language."""
    path = Path(__file__).with_name("words.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
