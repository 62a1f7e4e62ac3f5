"""Findings, notices and incidents for tests; minutes count from `START`."""

from __future__ import annotations

from dataclasses import replace

from alerts.incidents.fold import Folded, fold
from alerts.incidents.settings import IncidentSettings
from ragvigil.model.audit import Audit
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.model.score import Layer

START = 1_772_366_400  # 2026-03-01 12:00 UTC
MINUTE = 60 * 10**9
SETTINGS = IncidentSettings()


def at(minutes: float) -> int:
    return START * 10**9 + int(minutes * MINUTE)


def finding(name: str, since: float = 0.0, **more: object) -> Finding:
    made = Finding(
        finding_id=name,
        kind=FindingKind.BROKEN,
        service="desk",
        environment="prod",
        routes=("/ask",),
        signal=f"signal_{name}",
        layer=Layer.CROSS_CUTTING,
        since_unix_nano=at(since),
        seen_unix_nano=at(since),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def moved(name: str, since: float = 0.0, **more: object) -> Finding:
    level = {"kind": FindingKind.MOVED, "value": 120.0, "reference": 512.0, "n": 200}
    return finding(name, since, **{**level, **more})


def notice(name: str, since: float, kind: ChangeKind = ChangeKind.PROMPT, **more: object) -> Notice:
    made = Notice(
        notice_id=name,
        kind=kind,
        service="desk",
        environment="prod",
        route="/ask",
        since_unix_nano=at(since),
        noticed_unix_nano=at(since + 2),
        requests=12,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def folded(
    incidents: tuple[Incident, ...],
    findings: list[Finding],
    minutes: float,
    notices: tuple[Notice, ...] = (),
    audits: tuple[Audit, ...] = (),
) -> Folded:
    return fold(incidents, findings, notices, START + 60 * minutes, SETTINGS, audits)


def cleared(finding: Finding, minutes: float) -> Finding:
    return replace(finding, cleared_unix_nano=at(minutes), seen_unix_nano=at(minutes))
