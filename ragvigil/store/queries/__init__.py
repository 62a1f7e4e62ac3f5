"""Named queries: one .sql file each, filled with parameters only.

A line `@name` of a query stands for the text of `parts/name.sql`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_PART = re.compile(r"^ *@(\w+)$", re.MULTILINE)


@cache
def query(name: str) -> str:
    """The text of `queries/<name>.sql`. Raises FileNotFoundError if there is no such file."""
    text = files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8").strip().rstrip(";")
    return _PART.sub(lambda part: query(f"parts/{part[1]}"), text)
