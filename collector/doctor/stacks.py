"""What arrives of the stacks that people run, with nothing switched on: facts, kept as data."""

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
    """A framework with an instrumentation; `arrives` are fields of a record, without more ado."""

    name: str
    instrumentation: str
    scope: str
    convention: str
    arrives: frozenset[str]
    remark: str = ""

    def missing(self) -> tuple[str, ...]:
        """The fields that do not arrive, in the order of an answer's making."""
        return tuple(field for field in FIELDS if field not in self.arrives)

    def lines(self) -> dict[str, tuple[str, ...]]:
        """What to switch on, and the fields that each line brings."""
        found: dict[str, tuple[str, ...]] = {}
        for field in self.missing():
            line = fix(self.scope, field, Absent.NOT_SENT)
            found[line] = (*found.get(line, ()), field)
        return found


@cache
def stacks() -> tuple[Stack, ...]:
    """All known stacks, in the order of the file."""
    return tuple(
        Stack(**stack | {"arrives": frozenset(stack["arrives"])}) for stack in facts()["stack"]
    )
