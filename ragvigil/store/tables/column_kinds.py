"""Types of columns, as ClickHouse names them."""

from __future__ import annotations

LOW = "LowCardinality(String)"
MAP = f"Map({LOW}, String)"
NANOS = "DateTime64(9, 'UTC')"
SECONDS = "DateTime('UTC')"
TEXTS = "Array(String)"
LOWS = f"Array({LOW})"
MAYBE_TEXT, MAYBE_FLOAT, MAYBE_INT = (
    f"Nullable({kind})" for kind in ("String", "Float64", "Int64")
)


def named(kind: str, names: str) -> dict[str, str]:
    """Several columns of one type, their names in one text."""
    return dict.fromkeys(names.split(), kind)


WRITER = {"replica": LOW, "epoch": "UInt32"}
