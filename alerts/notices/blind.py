"""Findings of fields that are no longer sent: which, since when, what that switches off, the fix.

Such a finding tells of the instrumentation. The service may be as good as ever, so it has no layer,
is never audited, and belongs to no incident of quality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from alerts.notices.fingerprint import OF_CHUNKS, Place
from alerts.notices.rare import Mark
from alerts.notices.sight import SAID_AFTER, Lack
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.record import Absent
from ragvigil.model.score import Layer

NAMES: Mapping[str, str] = {
    "query": "the question",
    "retrieved": "the list of retrieved chunks",
    "document_texts": "the texts of chunks",
    "retrieved_texts": "the texts of chunks outside the prompt",
    "document_ids": "the ids of chunks",
    "scores": "the scores of chunks",
    "reranked": "the reranked list",
    "context": "the context of the prompt",
    "answer": "the answer",
    "citations": "citations",
    "usage": "token counts",
    "prompt": "the system prompt",
    "model": "the name of the model",
}
SAME_LINE: Mapping[str, str] = {
    "prompt": "query",
    "scores": "retrieved",
    "model": "answer",
    "retrieved_texts": "document_texts",
}
"""Fields that arrive with the line of another one."""
NAMED_RUBRICS = 3
MOST_LINE = 110
"""Characters of the line that mends it, before its comment."""
Remedy = Callable[[str, str, Absent], str]
"""The line that makes a field arrive: of the scope that should send it, field, reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What a person needs to know beside the lack: the fields of each rubric, and the line."""

    needs: Mapping[str, Sequence[str]]
    remedy: Remedy


NO_MENDING = Mending(needs={}, remedy=lambda _scope, _field, _reason: "")


def findings(
    lacks: Iterable[tuple[Place, Lack]], mending: Mending, now: int
) -> tuple[Finding, ...]:
    """One finding for each field of a service, over all routes that lack it; `now` in nanoseconds.

    It is over once it is over on all its routes.
    """
    groups: dict[tuple[str, str, str], list[tuple[str, Lack]]] = {}
    for (service, environment, route), lack in lacks:
        groups.setdefault((service, environment, lack.field), []).append((route, lack))
    return tuple(_finding(*key, groups[key], mending, now) for key in sorted(groups))


def lack_of(finding: Finding) -> Lack:
    """The lack that a finding of an earlier process reported."""
    since = Mark(number=0, time_unix_nano=finding.since_unix_nano)
    return Lack(
        field=finding.signal,
        reason=Absent.NOT_SENT,
        since=since,
        requests=max(finding.n, SAID_AFTER),
        lacking=round(
            max(finding.n, SAID_AFTER) * (1.0 if finding.value is None else finding.value)
        ),
    )


def _finding(
    service: str,
    environment: str,
    field: str,
    group: Sequence[tuple[str, Lack]],
    mending: Mending,
    now: int,
) -> Finding:
    open_lacks = [pair for pair in group if pair[1].until is None]
    shown = open_lacks or group
    lacks = [lack for _, lack in shown]
    since = min(lack.since.time_unix_nano for lack in lacks)
    ends = [lack.until.time_unix_nano for lack in lacks if lack.until is not None]
    requests = sum(lack.requests for lack in lacks)
    share = sum(lack.lacking for lack in lacks) / requests if requests else 1.0
    return Finding(
        finding_id=f"blind-{identity(service, environment, field, size=6)}",
        kind=FindingKind.BLIND,
        service=service,
        environment=environment,
        routes=tuple(sorted(route for route, _ in shown)),
        signal=field,
        layer=Layer.CROSS_CUTTING,
        value=round(share, 3),
        n=requests,
        since_unix_nano=since,
        seen_unix_nano=now,
        cleared_unix_nano=0 if open_lacks else max(ends),
        words=_words(field, share, lacks[0], mending),
    )


def _words(field: str, share: float, lack: Lack, mending: Mending) -> str:
    name = NAMES.get(field, field)
    parts = [f"{name}: no longer sent on {share * 100:.0f} % of requests"]
    if line := _line(field, lack, mending):
        parts.append(f"to mend it: {line}")
    if off := sorted(rubric for rubric, fields in mending.needs.items() if field in fields):
        more = f" and {len(off) - NAMED_RUBRICS} more" if len(off) > NAMED_RUBRICS else ""
        parts.append(f"off without it: {', '.join(off[:NAMED_RUBRICS])}{more}")
    return "; ".join(parts)


def _line(field: str, lack: Lack, mending: Mending) -> str:
    # What retrieved stands last among the scopes, what answered first.
    scopes = lack.scopes[-1:] if field in OF_CHUNKS | {"scores"} else lack.scopes[:1]
    line = mending.remedy("".join(scopes), SAME_LINE.get(field, field), lack.reason)
    return line.partition("  # ")[0][:MOST_LINE]
