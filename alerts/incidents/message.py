"""Writes an incident in at most six lines, and as label values. Pure.

The lines: what is worse and by how much; since when and where; what changed then; which layer;
traces; link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from alerts.incidents.cause import possible
from alerts.incidents.lasting import lasting, worse
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.settling import changes_behind
from alerts.incidents.suspects import is_fix
from ragvigil.model.finding import Finding, FindingKind, order
from ragvigil.model.incident import RERANKER, Incident
from ragvigil.model.notice import Cause, Notice
from ragvigil.model.text import one_line

MOST_CHARACTERS = 200
SHORT = 40
"""Characters of a name or value within a line."""
MOST_TRACES = 5
NAMED_ROUTES = 3
HOUR, DAY = 3600, 86_400
LOOK_AT: Mapping[Cause, str] = {
    Cause.RETRIEVAL: "chunker, embedder, vector store settings, reranker, top-k",
    Cause.GENERATION: "prompt, model version, temperature, max tokens",
    Cause.CORPUS: "stale, wrong or hostile documents",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The parts of a message: each at most 200 characters on one line, empty if unknown."""

    worse: str
    since: str
    routes: str
    changed: str
    cause: str
    traces: str
    link: str


def message(
    incident: Incident,
    settings: IncidentSettings,
    external_url: str = "",
    *,
    is_from_start: bool = False,
) -> Message:
    """The message of an incident; without an `external_url` the link is a command.

    `is_from_start` says that nothing of the service is stored from before the incident.
    """
    findings = lasting(incident, settings) or worse(incident, settings) or list(incident.findings)
    findings = sorted(findings, key=_weight)
    parts = Message(
        worse=_worse(findings),
        since=_since(incident, is_from_start=is_from_start),
        routes=_routes(incident, findings),
        changed=_changed(incident, settings),
        cause=_cause(incident, findings),
        traces=_traces(findings),
        link=_link(incident, external_url),
    )
    return Message(
        **{
            field.name: one_line(getattr(parts, field.name), MOST_CHARACTERS)
            for field in fields(Message)
        }
    )


def lines(parts: Message) -> tuple[str, ...]:
    """At most six lines of text."""
    all_lines = (
        parts.worse,
        f"Since {parts.since} on {parts.routes}",
        f"Changed: {parts.changed}",
        f"Layer: {parts.cause}",
        f"Traces: {parts.traces}" if parts.traces else "",
        parts.link,
    )
    return tuple(line for line in all_lines if line)


def figures(finding: Finding) -> str:
    """The change with its interval and n, if these are known.

    >>> from ragvigil.model.score import Layer
    >>> low = Finding(finding_id="1", kind=FindingKind.DRIFT, service="desk", environment="",
    ...               routes=(), signal="groundedness", layer=Layer.GENERATION, value=0.72,
    ...               reference=0.82, low=-0.15, high=-0.05, n=200)
    >>> figures(low)
    'groundedness fell by 10 points [5, 15] to 0.72, n 200'
    """
    value, reference = finding.value, finding.reference
    n = f", n {finding.n}" if finding.n else ""
    if value is None:
        return f"{finding.signal} is worse{n}"
    if reference is None:
        return f"{finding.signal} is {value:.3g}{n}"
    if finding.kind is FindingKind.BROKEN:
        return f"{finding.signal} is {_level(value)} over the ceiling of {_level(reference)}{n}"
    moved = "fell" if value < reference else "rose"
    interval = f" {_interval(finding)}" if _interval(finding) else ""
    by = _size(abs(value - reference), is_share=_is_share(finding))
    return f"{finding.signal} {moved} by {by}{interval} to {value:.3g}{n}"


def _worse(findings: Sequence[Finding]) -> str:
    first, *rest = findings
    text = _with_interval(first)
    signals = [finding.signal for finding in rest if finding.kind is not FindingKind.CHANGED]
    names = [signal for signal in dict.fromkeys(signals) if signal != first.signal]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{text}; also worse: {', '.join(names[:3])}{more}" if names else text


def _with_interval(finding: Finding) -> str:
    """The finding's own words, with the interval of a change if they have none."""
    if not finding.words:
        return figures(finding)
    # Beside a bound a number says its own interval: how far it is over tells less.
    has_own = "[" in finding.words or finding.kind in (FindingKind.BROKEN, FindingKind.LIMIT)
    interval = "" if has_own else _interval(finding)
    if not interval:
        return finding.words
    unit = " points" if _is_share(finding) else ""
    return f"{finding.words}; change {interval}{unit}"


def _interval(finding: Finding) -> str:
    """The bounds of the change; those of a drop without their sign, the smaller first."""
    if finding.low is None or finding.high is None:
        return ""
    low, high = finding.low, finding.high
    # A drop is shown by its size: [5, 15], not [-15, -5].
    if high <= 0:
        low, high = abs(high), abs(low)
    scale = 100 if _is_share(finding) else 1
    return f"[{_number(low * scale)}, {_number(high * scale)}]"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 2 else f"{value:.2g}"


def _size(change: float, *, is_share: bool) -> str:
    return f"{_number(100 * change)} points" if is_share else _number(change)


def _level(value: float) -> str:
    return f"{100 * value:.0f} %" if 0 <= value <= 1 else f"{value:.3g}"


def _is_share(finding: Finding) -> bool:
    levels = (finding.value, finding.reference)
    return all(level is not None and 0 <= level <= 1 for level in levels)


def _weight(finding: Finding) -> tuple[tuple[bool, float, int, int], int, str]:
    return (order(finding), finding.since_unix_nano, finding.finding_id)


def _since(incident: Incident, *, is_from_start: bool) -> str:
    since = _time(incident.since_unix_nano)
    return f"the beginning of what is stored, {since}," if is_from_start else since


def _time(unix_nano: int) -> str:
    return f"{datetime.fromtimestamp(unix_nano / 1e9, UTC):%a %d %b %H:%M} UTC"


def _routes(incident: Incident, findings: Sequence[Finding]) -> str:
    """The routes and the service, and whether the first finding pools several routes."""
    routes = list(dict.fromkeys(route for finding in findings for route in finding.routes if route))
    more = f" and {len(routes) - NAMED_ROUTES} more" if len(routes) > NAMED_ROUTES else ""
    named = (
        ", ".join(one_line(route, SHORT) for route in routes[:NAMED_ROUTES]) + more or "all routes"
    )
    service = " ".join(
        one_line(name, SHORT) for name in (incident.service, incident.environment) if name
    )
    pooled = f", {len(findings[0].routes)} routes together" if len(findings[0].routes) > 1 else ""
    return f"{named} ({service or 'a service without a name'}{pooled})"


def _changed(incident: Incident, settings: IncidentSettings) -> str:
    behind = changes_behind(incident, settings)
    if not behind:
        return f"nothing was noticed in the {settings.follows_minutes} minutes before"
    kinds = list(dict.fromkeys(change.kind for change in behind))
    rest = f"; with it {', '.join(kinds[1:4])}" if len(kinds) > 1 else ""
    fixes = [change for change in incident.suspects if is_fix(change, incident.suspects)]
    fixed = f"; put back {_time(fixes[0].since_unix_nano)}" if fixes else ""
    return f"{_change(behind, incident)}{rest}{fixed}"


def _change(behind: Sequence[Notice], incident: Incident) -> str:
    first = behind[0]
    alike = [change for change in behind if change.kind is first.kind]
    routes = {change.route for change in alike}
    where = f"{len(routes)} routes" if len(routes) > 1 else one_line(first.route, SHORT)
    # A mark of a deploy concerns all of them, whichever show it.
    where = where if all(routes) else "all routes"
    shown = [one_line(value, SHORT) for value in (first.before, first.after) if value]
    values = " → ".join(dict.fromkeys(shown))  # cut short, two values may look the same
    # A roll-out reaches a route in steps.
    begun = min(change.since_unix_nano for change in alike)
    lag = round((incident.since_unix_nano - begun) / 60e9)
    when = f"{lag} min before" if lag > 0 else "at the same time"
    values = f", {values}" if values else ""
    return f"{first.kind} on {where}{values}; coincides, {when}"


def _cause(incident: Incident, findings: Sequence[Finding]) -> str:
    verdict = incident.verdict
    if verdict.is_blind:
        return "none: the spans lack what they had, and nothing else is known to be worse"
    if verdict.part == RERANKER and incident.cause is not None:
        return f"{incident.cause}, the reranker: the prompt lost what was found"
    if incident.cause is not None:
        return f"{incident.cause}; look at {LOOK_AT[incident.cause]}"
    if len(verdict.likely) > 1:
        first, second = verdict.likely[:2]
        return f"undetermined: {first.cause} or {second.cause}; to settle it: {verdict.settles}"
    # Causes that every finding allows.
    likely = [
        cause.value for cause in Cause if all(cause in possible(finding) for finding in findings)
    ]
    if len(likely) in (1, 2):
        return f"undetermined: {' or '.join(likely)}"
    return "undetermined; what is worse and what changed do not point to one layer"


def _traces(findings: Sequence[Finding]) -> str:
    """Up to five trace ids, those of the weightiest finding first; ids are never cut."""
    traces = list(dict.fromkeys(trace for finding in findings for trace in finding.traces if trace))
    whole: list[str] = []
    for trace in traces[:MOST_TRACES]:
        if len(", ".join([*whole, trace])) <= MOST_CHARACTERS:
            whole.append(trace)
    return ", ".join(whole)


def _link(incident: Incident, external_url: str) -> str:
    if not external_url:
        return f"ragvigil incidents show {incident.incident_id}"
    return f"{external_url.rstrip('/')}/incidents/{incident.incident_id}"
