"""What an incident found in each layer, and what that says of its cause. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pydantic import BaseModel, Field

from ragvigil.model.audit import AuditState
from ragvigil.model.figures import counted, in_points
from ragvigil.model.finding import WEIGHT, FindingKind
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.web.rubric_names import base_of, rubric_name
from ragvigil.web.views.audits import AuditForm, AuditResultForm
from ragvigil.web.views.incidents import FindingForm, IncidentForm
from ragvigil.web.views.triage.layers import CellForm, State

ORDER = ("generation", "cross_cutting", "retrieval", "corpus")
STATES = {
    AuditState.DROPPED: State.WORSE,
    AuditState.STEADY: State.HOLDS,
    AuditState.UNDECIDED: State.UNKNOWN,
    AuditState.RUNNING: State.UNKNOWN,
}
OF_NO_RUBRIC = frozenset({FindingKind.CHANGED, FindingKind.BLIND})
Asks = Callable[[str], str]
"""The question that a rubric asks; empty where it asks none."""


class LayerFindingForm(BaseModel):
    """One rubric or signal of an incident, before and after."""

    layer: Layer | Cause
    rubric: str
    asks: str
    state: State
    says: str
    change: float | None
    low: float | None
    high: float | None
    before: float | None
    after: float | None
    n: int
    sees: float | None = Field(description="the smallest drop that would show")
    lasting: str = Field(default="", description="the smallest lasting drop that would, in words")
    by: str = Field(description="what measured it")
    so: str = Field(description="what it says of the cause")


def layer_findings(
    incident: IncidentForm,
    audits: Iterable[AuditForm],
    cells: Sequence[CellForm],
    asks: Asks,
) -> list[LayerFindingForm]:
    """The rubrics of its audits, then its other findings, then the calm layers of its route.

    `cells` are those of the route now; they are left out once the incident is over.
    """
    rows = [
        _of_result(result, audit, incident, asks) for audit in audits for result in audit.results
    ]
    for finding in sorted(incident.findings, key=lambda each: WEIGHT.index(each.kind)):
        cell = next((cell for cell in cells if cell.rubric == base_of(finding.signal)), None)
        if finding.kind not in OF_NO_RUBRIC and not _has(rows, finding.signal):
            rows.append(_of_finding(finding, cell, asks))
    # Compared with `value`: a layer of the model and one of the causes have the same words.
    shown = {row.layer.value for row in rows if row.change is not None}
    rows += [_of_cell(cell, asks) for cell in cells if cell.layer.value not in shown]
    if "corpus" not in {row.layer.value for row in rows}:
        rows.append(_corpus(asks))
    lasting = {cell.rubric: cell.lasting for cell in cells}
    rows = [_with(row, lasting=lasting.get(base_of(row.rubric), "")) for row in rows]
    if not any(row.state.is_alarm for row in rows):
        # Where nothing got worse there is no cause to speak against.
        rows = [
            _with(row, so="as good as before") if row.state is State.HOLDS else row for row in rows
        ]
    return sorted(rows, key=lambda row: ORDER.index(row.layer.value))


def layers_sentence(rows: Sequence[LayerFindingForm]) -> str:
    """Which layer got worse, and which did not, in a sentence."""
    states = {layer: [row.state for row in rows if row.layer.value == layer] for layer in ORDER}

    def is_worse(layer: str) -> bool:
        return any(state.is_alarm for state in states[layer])

    def holds(layer: str) -> bool:
        return State.HOLDS in states[layer] and not is_worse(layer)

    answers = is_worse("generation") or is_worse("cross_cutting")
    if answers and is_worse("retrieval"):
        return "Chunks and answers got worse"
    if answers:
        return f"The answers got worse{', the chunks did not' if holds('retrieval') else ''}"
    if is_worse("retrieval"):
        return f"The chunks got worse{', the answers did not' if holds('generation') else ''}"
    if any(State.MOVED in of for of in states.values()):
        return "Something moved, and no check got worse"
    return "What was measured, by layer"


def _with(row: LayerFindingForm, **words: str) -> LayerFindingForm:
    return row.model_copy(update=words)


def _has(rows: Iterable[LayerFindingForm], signal: str) -> bool:
    return any(base_of(row.rubric) == base_of(signal) for row in rows)


def _of_result(
    result: AuditResultForm, audit: AuditForm, incident: IncidentForm, asks: Asks
) -> LayerFindingForm:
    finding_id = f"audit-{audit.audit_id}-{result.rubric}"
    causes = [each.causes for each in incident.findings if each.finding_id == finding_id]
    width = None
    if result.low is not None and result.high is not None:
        # A change outside of the interval around none would show: half of its width.
        width = (result.high - result.low) / 2
    state = STATES[result.state]
    return LayerFindingForm(
        layer=result.layer,
        rubric=result.rubric,
        asks=asks(result.rubric) or rubric_name(result.rubric).capitalize(),
        state=state,
        says=_says(state, result.change),
        change=result.change,
        low=result.low,
        high=result.high,
        before=result.before,
        after=result.after,
        n=result.n,
        sees=width,
        by=f"judge, {counted(result.n, 'pair')}",
        so=_so(state, result.layer, causes[0] if causes else ()),
    )


def _of_finding(finding: FindingForm, cell: CellForm | None, asks: Asks) -> LayerFindingForm:
    is_broken = finding.kind is FindingKind.BROKEN
    is_moved = finding.kind is FindingKind.MOVED
    state = State.BROKEN if is_broken else State.MOVED if is_moved else State.WORSE
    # The mean beside a broken rate: its ceiling is no level of before.
    mean = cell if cell is not None and cell.delta is not None else None
    is_level = not is_broken and _is_share(finding)
    change = mean.delta if mean else None
    before = mean.mean - change if mean and mean.mean is not None and change is not None else None
    if mean is None and is_level and finding.value is not None and finding.reference is not None:
        change, before = finding.value - finding.reference, finding.reference
    return LayerFindingForm(
        layer=finding.layer,
        rubric=finding.signal,
        asks=asks(base_of(finding.signal).partition(":")[0])
        or rubric_name(finding.signal).capitalize(),
        state=state,
        says=_says(state, change) if is_level or mean else _moved(finding, state),
        change=change,
        low=mean.low if mean else finding.low if is_level else None,
        high=mean.high if mean else finding.high if is_level else None,
        before=before,
        after=mean.mean if mean else finding.value if is_level else None,
        n=mean.n if mean else finding.n,
        sees=mean.detection_limit if mean else None,
        by="every answer" if is_broken or is_moved else "the judge's sample",
        so=_so(state, finding.layer, finding.causes),
    )


def _of_cell(cell: CellForm, asks: Asks) -> LayerFindingForm:
    return LayerFindingForm(
        layer=cell.layer,
        rubric=cell.rubric,
        asks=asks(cell.rubric.partition(":")[0]) or rubric_name(cell.rubric).capitalize(),
        state=cell.state,
        says=_says(cell.state, cell.delta),
        change=cell.delta,
        low=cell.low,
        high=cell.high,
        before=None if cell.mean is None or cell.delta is None else cell.mean - cell.delta,
        after=cell.mean,
        n=cell.n,
        sees=cell.detection_limit,
        by=f"{counted(cell.n, 'answer')} in 6 h",
        so=cell.line if cell.state is State.UNKNOWN else _so(cell.state, cell.layer, ()),
    )


def _corpus(asks: Asks) -> LayerFindingForm:
    return LayerFindingForm(
        layer=Cause.CORPUS,
        rubric="",
        asks=asks("factual_accuracy") or "Is it true, whatever the context says?",
        state=State.UNKNOWN,
        says="",
        change=None,
        low=None,
        high=None,
        before=None,
        after=None,
        n=0,
        sees=None,
        by="",
        so="no golden answers or sources to compare with",
    )


def _says(state: State, change: float | None) -> str:
    """The state with the size of the change."""
    if change is None or state not in (State.WORSE, State.BROKEN, State.BETTER):
        return str(state)
    return f"{'better' if change > 0 else 'worse'} by {in_points(change)}"


def _moved(finding: FindingForm, state: State) -> str:
    """A number that is no share, from before to after."""
    if state is not State.MOVED or finding.value is None or finding.reference is None:
        return str(state)
    return f"from {finding.reference:.3g} to {finding.value:.3g}"


def _so(state: State, layer: Layer, causes: Sequence[Cause]) -> str:
    """What it says of the cause."""
    if state is State.HOLDS:
        return "" if layer is Layer.CROSS_CUTTING else f"speaks against {layer}"
    if state is State.UNKNOWN:
        return "tells nothing yet"
    named = [cause.value for cause in causes]
    if not named and layer is not Layer.CROSS_CUTTING:
        named = [layer.value]
    return f"points to {' or '.join(named)}" if 0 < len(named) < len(Cause) else ""


def _is_share(finding: FindingForm) -> bool:
    levels = (finding.value, finding.reference)
    return all(level is not None and 0 <= level <= 1 for level in levels)
