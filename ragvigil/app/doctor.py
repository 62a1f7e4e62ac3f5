"""What the spans of each service lack, what that switches off, and the line that fixes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collector.fixes import fix, name_of
from ragvigil.model.record import Absent

FIELDS = (
    "query",
    "retrieved",
    "document_texts",
    "document_ids",
    "reranked",
    "context",
    "answer",
    "citations",
    "usage",
)
FINE = {Absent.NOT_RUN, Absent.ERRORED}
"""Reasons that no line of configuration mends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldCount:
    """How many records of a service and scope lack `field` for `reason`; `field` "" counts all."""

    service: str
    scope: str
    field: str
    reason: str
    records: int


def diagnose(
    counts: Iterable[FieldCount], needs: Mapping[str, tuple[str, ...]]
) -> list[dict[str, object]]:
    """One entry per service and instrumentor, in the form of the API.

    `needs` maps each rubric to the fields it cannot do without. Shares are of records.
    """
    groups: dict[tuple[str, str], list[FieldCount]] = {}
    for count in counts:
        groups.setdefault((count.service, count.scope), []).append(count)
    return [
        _entry(service, scope, groups[service, scope], needs) for service, scope in sorted(groups)
    ]


def _entry(
    service: str, scope: str, counts: list[FieldCount], needs: Mapping[str, tuple[str, ...]]
) -> dict[str, object]:
    records = sum(count.records for count in counts if not count.field)
    lacking = [count for count in counts if count.field]
    return {
        "service": service,
        "instrumentor": name_of(scope),
        "scope": scope,
        "records": records,
        "present": {field: _present(field, lacking, records) for field in FIELDS},
        "findings": [
            _finding(count, records, needs)
            for count in sorted(lacking, key=lambda one: (-one.records, one.field))
            if Absent(count.reason) not in FINE
        ],
    }


def _present(field: str, lacking: list[FieldCount], records: int) -> float:
    missing = sum(count.records for count in lacking if count.field == field)
    return round(1 - missing / records, 4) if records else 0.0


def _finding(
    count: FieldCount, records: int, needs: Mapping[str, tuple[str, ...]]
) -> dict[str, object]:
    return {
        "field": count.field,
        "reason": count.reason,
        "records": count.records,
        "share": round(count.records / records, 4) if records else 0.0,
        "rubrics_off": sorted(rubric for rubric, fields in needs.items() if count.field in fields),
        "fix": fix(count.scope, count.field, Absent(count.reason)),
    }
