"""Confusion matrices in Markdown, each in the part of a document that its benchmark writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A fault: its layer in words, the columns that are right, and how often each was said."""

    fault: str
    layer: str
    right: Collection[str]
    said: Mapping[str, int]


def matrix(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A row a fault, a column what was said; the right ones are bold.

    >>> print(matrix([Row(fault="f", layer="corpus", right=("corpus",), said={"corpus": 2})],
    ...              ["corpus", "none"]))
    | fault | layer | corpus | none |
    |---|---|---:|---:|
    | f | corpus | **2** |  |
    """
    lines = [
        f"| fault | layer | {' | '.join(columns)} |",
        "|---|---" + "|---:" * len(columns) + "|",
    ]
    for row in rows:
        cells = [
            f"**{row.said.get(column, 0)}**"
            if column in row.right and (column in row.said or len(row.right) == 1)
            else f"{row.said.get(column) or ''}"
            for column in columns
        ]
        lines.append(f"| {row.fault} | {row.layer} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_part(path: Path, name: str, text: str) -> None:
    """Writes one part of a document, between its marks; the other parts stay.

    Raises ValueError if the document has no such part.
    """
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    written, count = pattern.subn(lambda _: f"{begin}{text.strip()}{end}", path.read_text("utf-8"))
    if not count:
        raise ValueError(f"{path} has no part {name!r}")
    path.write_text(written, encoding="utf-8")
