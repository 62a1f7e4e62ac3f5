"""Diagnoses which fields a service's spans lack, which rubrics are off, and what fixes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from collector.doctor.fixes import fix, name_of
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
FROM_RETRIEVAL = {"retrieved", "document_texts", "retrieved_texts", "document_ids", "reranked"}
SAME_LINE = {"retrieved_texts": "document_texts"}
"""Fields that the line of another one brings."""
FROM_MODEL = {"answer", "citations"}
LIMITS = ("attributes", "events")
"""What an SDK drops past its limits, under the names of a record's `truncated`."""
ORDER = (*FIELDS, "retrieved_texts", *LIMITS)

Needs = Mapping[str, tuple[str, ...]]
"""The fields that each rubric requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordGroup:
    """Records of a service that come from the same scopes and lack the same fields.

    `instrumentors` are the scopes of the spans that answered (first) and retrieved (last);
    `has_llm_span` says whether a model answered in a span of its own.
    """

    service: str
    instrumentors: tuple[str, ...]
    has_llm_span: bool
    absent: Mapping[str, str]
    truncated: tuple[str, ...] = ()
    records: int = 1

    @property
    def scope(self) -> str:
        """The scope of the answering span, else of the retrieving span."""
        return self.instrumentors[0] if self.instrumentors else ""


class Lack(NamedTuple):
    """An absent field with its reason, the scope that should have sent it, and the cause.

    `cause` is what the fix must repair: a dropped attribute, a missing list or a missing span of
    the model causes other fields to be missing.
    """

    field: str
    reason: Absent
    scope: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A field that `records` lack, a `share` of all (0 to 1), and the line that brings it back.

    `scope` should have sent it, `instrumentor` is its common name. `rubrics_off` need the field;
    without any, its absence costs no score.
    """

    field: str
    reason: Absent
    records: int
    share: float
    instrumentor: str
    scope: str
    rubrics_off: tuple[str, ...]
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What arrives from a service and instrumentor, and what is missing, most records first.

    `present` is the share of records (0 to 1) that have a field; None if no record ran its step.
    """

    service: str
    instrumentor: str
    scope: str
    records: int
    present: Mapping[str, float | None]
    findings: tuple[Gap, ...]


def diagnose(kinds: Iterable[RecordGroup], needs: Needs) -> list[Diagnosis]:
    """A diagnosis per service and instrumentor; shares are of records."""
    groups: dict[tuple[str, str], list[RecordGroup]] = {}
    for kind in kinds:
        groups.setdefault((kind.service, kind.scope), []).append(kind)
    return [_entry(groups[key], needs) for key in sorted(groups)]


def _entry(kinds: list[RecordGroup], needs: Needs) -> Diagnosis:
    records = sum(kind.records for kind in kinds)
    lacking: Counter[Lack] = Counter()
    for kind in kinds:
        lacking.update(dict.fromkeys(_lacks(kind), kind.records))
    return Diagnosis(
        service=kinds[0].service,
        instrumentor=name_of(kinds[0].scope),
        scope=kinds[0].scope,
        records=records,
        present={field: _present(field, kinds) for field in FIELDS},
        findings=tuple(
            _gap(lack, count, records, needs)
            for lack, count in sorted(lacking.items(), key=_by_weight)
        ),
    )


def _present(field: str, kinds: list[RecordGroup]) -> float | None:
    """The share of records with the field; None if no record ran the step."""
    ran = [kind for kind in kinds if kind.absent.get(field) != Absent.NOT_RUN]
    records = sum(kind.records for kind in ran)
    having = sum(kind.records for kind in ran if field not in kind.absent)
    return round(having / records, 4) if records else None


def _by_weight(item: tuple[Lack, int]) -> tuple[int, int, Lack]:
    """Sorts by number of records, then by the stage that produces the field."""
    lack, count = item
    return (-count, ORDER.index(lack.field), lack)


def _lacks(kind: RecordGroup) -> Iterator[Lack]:
    """What these records lack; a step that the service does not have is no lack."""
    dropped = [limit for limit in LIMITS if limit in kind.truncated]
    absent = {field: Absent(why) for field, why in kind.absent.items()}
    if "retrieved" in kind.truncated:  # a list cut short, even if the prompt makes up for it
        absent.setdefault("retrieved", Absent.TRUNCATED)
    for field, reason in absent.items():
        if reason is Absent.TRUNCATED:
            yield Lack(field, reason, kind.scope, dropped[0] if dropped else field)
        elif reason is not Absent.NOT_RUN:
            yield _unsent(field, reason, kind, absent)
    for limit in dropped:
        yield Lack(limit, Absent.TRUNCATED, kind.scope, limit)


def _unsent(field: str, reason: Absent, kind: RecordGroup, absent: Mapping[str, Absent]) -> Lack:
    if field in FROM_MODEL and reason is Absent.NOT_SENT and not kind.has_llm_span:
        return Lack(field, reason, kind.scope, "llm_span")
    if field not in FROM_RETRIEVAL or not kind.instrumentors:
        return Lack(field, reason, kind.scope, SAME_LINE.get(field, field))
    is_lost_with_list = absent.get("retrieved") is reason
    cause = "retrieved" if is_lost_with_list else SAME_LINE.get(field, field)
    return Lack(field, reason, kind.instrumentors[-1], cause)


def _gap(lack: Lack, count: int, records: int, needs: Needs) -> Gap:
    return Gap(
        field=lack.field,
        reason=lack.reason,
        records=count,
        share=round(count / records, 4),
        instrumentor=name_of(lack.scope),
        scope=lack.scope,
        rubrics_off=tuple(sorted(name for name, fields in needs.items() if lack.field in fields)),
        fix=fix(lack.scope, lack.cause, lack.reason),
    )
