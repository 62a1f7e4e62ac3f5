"""The fields that arrive from common stacks by default, from `instrumentors.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from collector.doctor.fixes import facts, fix
from ragvigil.model.record import Absent

FIELDS = (
    "query",
    "retrieved",
    "document_texts",
    "document_ids",
    "context",
    "answer",
    "citations",
    "usage",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A framework with an instrumentation; `arrives` are the record fields that come by default."""

    name: str
    instrumentation: str
    scope: str
    convention: str
    arrives: frozenset[str]
    remark: str = ""

    def missing(self) -> tuple[str, ...]:
        """The fields that do not arrive, in the order of the stages that produce them."""
        return tuple(field for field in FIELDS if field not in self.arrives)

    def lines(self) -> dict[str, tuple[str, ...]]:
        """The lines that switch fields on, and the fields that each brings."""
        lines: dict[str, tuple[str, ...]] = {}
        for field in self.missing():
            line = fix(self.scope, field, Absent.NOT_SENT)
            lines[line] = (*lines.get(line, ()), field)
        return lines


@cache
def stacks() -> tuple[Stack, ...]:
    """All known stacks, in the order of the file."""
    return tuple(
        Stack(**stack | {"arrives": frozenset(stack["arrives"])}) for stack in facts()["stack"]
    )
