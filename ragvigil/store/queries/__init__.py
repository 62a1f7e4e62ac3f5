"""Named queries: one .sql file each, filled with parameters only."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def query(name: str) -> str:
    """The text of `queries/<name>.sql`. Raises FileNotFoundError if there is no such file."""
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8").strip().rstrip(";")
