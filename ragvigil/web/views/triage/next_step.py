"""What to do next about an incident, and how soon it would show. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import ceil

from pydantic import BaseModel, Field

from ragvigil.model.figures import duration
from ragvigil.model.finding import FindingKind
from ragvigil.model.incident import Severity
from ragvigil.model.notice import ChangeKind
from ragvigil.web.rubric_names import base_of
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.incidents import FindingForm, IncidentForm
from ragvigil.web.views.triage.layers import CellForm, RouteRowForm, seconds_to_see
from ragvigil.web.views.triage.sentences import LOOK_AT, main_finding, where

LEAST_ANSWERS = 8
"""Fewer answers show no recovery, however deep the fall was."""
MEASURED = frozenset({FindingKind.AUDIT, FindingKind.BROKEN, FindingKind.DRIFT})
SETTINGS = {
    ChangeKind.TEMPERATURE: "temperature",
    ChangeKind.MAX_TOKENS: "max tokens",
    ChangeKind.TOP_K: "top k",
    ChangeKind.CHUNK_COUNT: "chunks per prompt",
}
NAMED = {
    ChangeKind.PROMPT: "prompt",
    ChangeKind.LLM_MODEL: "model",
    ChangeKind.EMBEDDING_MODEL: "embedding model",
    ChangeKind.RERANKER: "reranker",
    ChangeKind.RERANKED: "reranker",
    ChangeKind.OTHER_ORDER: "reranker",
    ChangeKind.INDEX: "index",
}
KINDS: Mapping[str, ChangeKind] = {
    **{kind.value: kind for kind in ChangeKind},
    "index": ChangeKind.INDEX,
    "model": ChangeKind.LLM_MODEL,
}
"""Of notices and of marks; any other mark is a release."""
INDEX = frozenset(
    {
        ChangeKind.RECHUNKED,
        ChangeKind.REINDEXED,
        ChangeKind.REEMBEDDED,
        ChangeKind.OTHER_CHUNKS,
    }
)


class StepForm(BaseModel):
    """What to do next."""

    words: str
    support: str = Field(description="why, or how soon it would show")
    is_expected: bool = Field(description="nothing is worse: to say that it was meant is enough")


def next_step(
    incident: IncidentForm,
    change: ChangeForm | None,
    fix: ChangeForm | None,
    row: RouteRowForm | None,
) -> StepForm:
    """What to do next; `change` is the likeliest, `fix` puts it back, `row` is the route's."""
    if fix is not None:
        words = f"Wait: {fix.after or 'the change'} is back"
        return StepForm(words=words, support=shows_within(incident, row), is_expected=False)
    if nothing_is_worse(incident, row):
        return _meant(incident, change)
    if change is not None:
        return StepForm(
            words=put_back(change), support=shows_within(incident, row), is_expected=False
        )
    if incident.cause is not None:
        words = f"Read the answers below, then look at {LOOK_AT[incident.cause]}"
    else:
        words = "Read the answers below: did the chunks hold what was asked?"
    return StepForm(words=words, support="no change is known that fits", is_expected=False)


def nothing_is_worse(incident: IncidentForm, row: RouteRowForm | None) -> bool:
    """Whether it is a ticket of changes or moves, and no check of its route got worse."""
    if incident.severity is Severity.PAGE or (row is not None and row.state.is_alarm):
        return False
    return not any(finding.kind in MEASURED for finding in incident.findings)


def put_back(change: ChangeForm) -> str:
    """How to undo a change."""
    place = where(change.routes, change.service)
    kind = kind_of(change)
    if kind in SETTINGS:
        to = f" to {change.before}" if change.before else ""
        return f"Set {SETTINGS[kind]} back{to} on {place}"
    if kind in NAMED:
        name = f"{NAMED[kind]} {change.before}" if change.before else f"the {NAMED[kind]} before"
        return f"Put {name} back on {place}"
    if kind in INDEX:
        return f"Bring the index from before back on {place}"
    if kind is ChangeKind.DOCUMENTS:
        return f"Bring the documents from before back on {place}"
    before = f"to {change.before}" if change.before else "to the release before"
    return f"Roll {change.service or 'the service'} back {before}"


def kind_of(change: ChangeForm) -> ChangeKind:
    """What changed; a mark of a kind of its own is a release."""
    return KINDS.get(change.kind, ChangeKind.RELEASE)


def shows_within(incident: IncidentForm, row: RouteRowForm | None) -> str:
    """After how long a recovery would show, at the present traffic; empty where unknown."""
    cell = clearest_cell(incident, row)
    if cell is None or row is None or not row.answers_per_hour or not cell.delta:
        return ""
    seconds = seconds_to_see(cell, abs(cell.delta))
    if seconds is None:
        return ""
    least = LEAST_ANSWERS / row.answers_per_hour * 3600
    return f"it would show as better within {duration(ceil(max(seconds, least) / 300) * 300)}"


def cell_of(incident: IncidentForm, row: RouteRowForm | None) -> CellForm | None:
    """The cell of the rubric that the incident's main finding is about."""
    finding = main_finding(incident)
    cells = _cells_of([finding] if finding else [], row)
    return cells[0] if cells else None


def clearest_cell(incident: IncidentForm, row: RouteRowForm | None) -> CellForm | None:
    """The cell that shows the incident best: of its findings, the mean over the most answers.

    Of as many answers, that of the headline.
    """
    finding = main_finding(incident)
    headline = base_of(finding.signal) if finding else ""
    measured = [
        cell for cell in _cells_of(incident.findings, row) if cell.state.is_alarm and cell.mean
    ]
    best = max(measured, key=lambda cell: (cell.n, cell.rubric == headline), default=None)
    return best or cell_of(incident, row)


def _cells_of(findings: Iterable[FindingForm], row: RouteRowForm | None) -> list[CellForm]:
    rubrics = {name for each in findings for name in (each.signal, each.signal.partition(":")[0])}
    return [cell for cell in row.cells.values() if cell.rubric in rubrics] if row else []


def likeliest(
    incident: IncidentForm, changes: Sequence[ChangeForm]
) -> tuple[ChangeForm | None, bool]:
    """The change behind an incident, and whether it is a suspect of it.

    Without a suspect it is the newest change of its routes before its onset.
    """
    for suspect in incident.suspects:
        for change in changes:
            if suspect.notice_id in change.ids:
                return change, True
    finding = main_finding(incident)
    routes = set(finding.routes) if finding else set()
    before = [
        change
        for change in changes
        if change.service == incident.service
        and change.environment in ("", incident.environment)
        and (not change.routes or not any(routes) or routes & set(change.routes))
        and change.time <= (incident.since or change.time)
    ]
    return (max(before, key=_time) if before else None), False


def fix_of(incident: IncidentForm, changes: Sequence[ChangeForm]) -> ChangeForm | None:
    """The later change that undoes the likeliest one, if there is one."""
    change, _ = likeliest(incident, changes)
    if change is None or not change.before:
        return None
    values = (change.kind, change.service, change.after, change.before)
    fixes = [
        later
        for later in changes
        if (later.kind, later.service, later.before, later.after) == values
        and later.time > change.time
    ]
    return min(fixes, key=_time, default=None)


def _meant(incident: IncidentForm, change: ChangeForm | None) -> StepForm:
    meant = f"{change.words} was meant to do this" if change is not None else "this was meant"
    support = "no check got worse with it"
    if incident.severity is Severity.TICKET and any(
        finding.kind is FindingKind.CHANGED for finding in incident.findings
    ):
        support = "no release was declared, and no check got worse with it"
    return StepForm(
        words=f"Nothing to mend: if {meant}, say “This was expected”",
        support=support,
        is_expected=True,
    )


def _time(change: ChangeForm) -> datetime:
    return change.time
