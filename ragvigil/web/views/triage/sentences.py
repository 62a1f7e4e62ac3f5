"""An incident in sentences: what is worse, by how much, since when, in which layer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragvigil.model.audit import AuditState
from ragvigil.model.figures import between, counted, in_points, listed, score, share
from ragvigil.model.finding import FindingKind, order
from ragvigil.model.incident import IncidentState, Severity
from ragvigil.model.notice import Cause
from ragvigil.model.signal import UNSUPPORTED
from ragvigil.web.rubric_names import FAILED, base_of, rubric_name
from ragvigil.web.views.audits import AuditForm
from ragvigil.web.views.incidents import FindingForm, IncidentForm, SuspectForm
from ragvigil.web.views.triage.layers import CellForm

MOST_ROUTES = 2
WRONG: Mapping[str, tuple[str, str]] = {
    "answer_complete_text": ("answers on", "break off"),
    "answer_complete_text:empty": ("answers on", "have no text"),
    "answer_complete_text:truncated": ("answers on", "break off"),
    "answer_language": ("answers on", "are in another language"),
    "answer_relevance": ("answers on", "miss the question"),
    "answerable": ("chunks on", "do not hold the answer"),
    "chunk_attribution": ("cited chunks on", "do not support the answers"),
    "citation_coverage": ("answers on", "make claims without a citation"),
    "citation_validity": ("answers on", "cite what stands in no chunk"),
    "completeness": ("answers on", "leave out what was asked"),
    "context_adherence": ("answers on", "leave their context"),
    "context_precision": ("relevant chunks on", "stand too low"),
    "context_recall": ("chunks with the answer on", "are not found"),
    "context_relevance": ("chunks on", "fit the questions less"),
    "context_relevance:none_relevant": ("prompts on", "hold nothing relevant"),
    "error": ("requests to", "fail"),
    "factual_accuracy": ("answers on", "are wrong"),
    "groundedness": ("answers on", "claim what their chunks do not say"),
    UNSUPPORTED: ("answers on", "claim what their chunks do not say"),
    "grounding": ("answers on", "claim what their chunks do not say"),
    "injected_context": ("chunks on", "carry instructions to the model"),
    "injection_resisted": ("answers on", "obey instructions in chunks"),
    "prompt_relevance": ("chunks in the prompts of", "fit the questions less"),
    "refusal:refused": ("answers on", "refuse"),
    "refusal_rightness": ("answers on", "refuse, or answer, wrongly"),
    "requests": ("requests to", "are missing"),
    "rerank_gain": ("relevant chunks on", "are put lower by the reranker"),
    "retrieval_shape": ("retrieval on", "returns nothing, or the same again"),
    "retrieval_shape:empty": ("retrieval on", "returns nothing"),
    "seconds_total:slow": ("requests to", "are slow"),
}
"""What goes wrong where a signal is worse: subject and verb, with the routes between."""
MOVES: Mapping[str, tuple[str, str, str]] = {
    "answer_words": ("answers on", "longer", "shorter"),
    "chunk_characters": ("chunks on", "longer", "shorter"),
    "context_tokens": ("prompts on", "longer", "shorter"),
    "cost_usd": ("requests to", "dearer", "cheaper"),
    "seconds_total": ("requests to", "slower", "faster"),
}
"""Measures of which more and less have a word, with the subject before the routes."""
LOOK_AT: Mapping[Cause, str] = {
    Cause.RETRIEVAL: "the chunker, the embedding, the store's settings, the reranker and top k",
    Cause.GENERATION: "the prompt, the model's version, temperature and max tokens",
    Cause.CORPUS: "stale, wrong or hostile documents",
}


def main_finding(incident: IncidentForm) -> FindingForm | None:
    """The finding that harms most: of those that last, else of all."""
    lasting = [finding for finding in incident.findings if finding.cleared is None]
    ordered = sorted(lasting or incident.findings, key=_weight)
    return ordered[0] if ordered else None


def traces_of(incident: IncidentForm, most: int) -> list[str]:
    """Traces that show it, those of the finding that says most first."""
    findings = sorted(incident.findings, key=_weight)
    return list(dict.fromkeys(trace for each in findings for trace in each.traces))[:most]


def where(routes: Sequence[str], service: str) -> str:
    """The routes in a few words.

    >>> where(["/a"], "desk"), where(["/a", "/b", "/c"], "desk"), where([], "desk")
    ('/a', '3 routes of desk', 'all routes of desk')
    """
    named = [route for route in routes if route]
    of = f" of {service}" if service else ""
    if not named:
        return f"all routes{of}"
    return listed(named) if len(named) <= MOST_ROUTES else f"{len(named)} routes{of}"


def heading(incident: IncidentForm) -> str:
    """What is wrong, and where: subject and verb."""
    finding = main_finding(incident)
    if finding is None:
        return f"Something is worse on {where([], incident.service)}"
    text = what_is_wrong(finding, incident.service)
    return text[0].upper() + text[1:]


def what_is_wrong(finding: FindingForm, service: str) -> str:
    """A finding as a sentence without its end."""
    place = where(finding.routes, service)
    if finding.kind in (FindingKind.CHANGED, FindingKind.BLIND):
        return f"{finding.words or finding.signal} on {place}"
    known = WRONG.get(finding.signal) or WRONG.get(base_of(finding.signal))
    if known is not None and _is_worse(finding):
        subject, verb = known
        return f"{subject} {place} {verb}"
    if finding.signal in MOVES and finding.value is not None and finding.reference:
        subject, more, less = MOVES[finding.signal]
        word = more if finding.value > finding.reference else less
        return f"{subject} {place} are {_percent(finding)} % {word}"
    return f"{rubric_name(finding.signal)} on {place} {_direction(finding)}"


def state_words(incident: IncidentForm) -> str:
    """Page or ticket, and what became of it.

    The two words beside the heading: "page, open".
    """
    kind = "page" if incident.severity is Severity.PAGE else "ticket"
    if incident.is_false_page:
        return f"{kind}, false"
    if incident.is_expected:
        return f"{kind}, expected"
    return f"{kind}, {incident.state}"


def owner_words(incident: IncidentForm) -> str:
    """Who has it."""
    if incident.assignee:
        return f"{incident.assignee} has it"
    return "" if incident.state is IncidentState.RESOLVED else "nobody has it yet"


def worse_by(finding: FindingForm, cell: CellForm | None = None) -> tuple[str, str]:
    """How much worse it is, and what that rests on; `cell` is the same rubric's mean of 6 h."""
    if cell is not None and cell.delta is not None and not cell.words:
        by = _points_of(cell.rubric, cell.delta, cell.mean)
        answers = counted(cell.n, "answer")
        return by, f"{between(cell.low, cell.high)}, from {answers} in 6 h"
    if finding.value is None:
        return "not measured", ""
    noun = "pair" if finding.kind is FindingKind.AUDIT else "answer"
    n = f"from {counted(finding.n, noun)}" if finding.n else ""
    if finding.kind is FindingKind.BROKEN and _is_share(finding):
        return f"{share(finding.value)} of {counted(finding.n, 'answer')}", _ceiling(finding)
    if finding.reference is None:
        return f"{finding.value:.3g}", n
    if not _is_share(finding):
        of = ", ".join(part for part in (rubric_name(finding.signal), n) if part)
        return f"from {finding.reference:.3g} to {finding.value:.3g}", of
    by = _points_of(finding.signal, finding.value - finding.reference, finding.value)
    interval = between(finding.low, finding.high) if finding.low is not None else ""
    return by, ", ".join(part for part in (interval, n) if part)


def _points_of(signal: str, change: float, level: float | None) -> str:
    """By how much a mean or a share changed; a share of failures is not its rubric's mean."""
    name = rubric_name(signal)
    of = f"answers that fail {name}" if signal.endswith(FAILED) else name
    return f"{in_points(change)} of {of}, to {score(level)}"


def layer_words(incident: IncidentForm) -> str:
    """Which part of its layer, or which layers it may be where the incident could not tell."""
    verdict = incident.verdict
    if verdict.is_blind:
        return "no layer: the spans lack what they had"
    if incident.cause is not None:
        return verdict.part
    if len(verdict.likely) > 1:
        return " or ".join(layer.cause for layer in verdict.likely[:2])
    causes = {cause for finding in incident.findings for cause in finding.causes}
    return " or ".join(cause for cause in Cause if cause in causes) if len(causes) == 2 else ""


def audit_lines(audit: AuditForm) -> list[str]:
    """What an audit has shown of each rubric, in words; nothing of one without a pair."""
    lines = []
    for result in audit.results:
        if result.change is None:
            continue
        name, interval = rubric_name(result.rubric), between(result.low, result.high)
        if result.state is AuditState.DROPPED:
            lines.append(f"{name} dropped by {in_points(result.change)}, {interval}")
        elif result.state is AuditState.STEADY:
            most = in_points(min(result.low or 0.0, 0.0))
            lines.append(f"{name} holds: no drop over {most}")
        else:
            lines.append(f"{name} is undecided: {interval} points")
    return lines


def suspect_words(suspect: SuspectForm) -> str:
    """A suspect as it is named where its change has no letter."""
    values = " → ".join(value for value in (suspect.before, suspect.after) if value)
    return f"{suspect.kind} {values}".strip()


def message_line(incident: IncidentForm, name: str) -> str:
    """A line of the message as paged, by its first word: `Changed`, `Layer`; empty without."""
    prefix = f"{name}: "
    lines = (line for line in incident.message if line.startswith(prefix))
    return next(lines, prefix).removeprefix(prefix)


def _weight(finding: FindingForm) -> tuple[tuple[bool, float, int, int], float, str]:
    since = finding.since.timestamp() if finding.since else 0.0
    return (order(finding), since, finding.finding_id)


def _ceiling(finding: FindingForm) -> str:
    return "" if finding.reference is None else f"its ceiling is {share(finding.reference)}"


def _is_share(finding: FindingForm) -> bool:
    levels = (finding.value, finding.reference)
    return all(level is not None and 0 <= level <= 1 for level in levels)


def _is_worse(finding: FindingForm) -> bool:
    """Whether a mean is lower than it was; a broken rate, or one that only rises, is too high."""
    if finding.kind is not FindingKind.MOVED or finding.signal == UNSUPPORTED:
        return True
    return finding.value is not None and finding.value < (finding.reference or 0.0)


def _direction(finding: FindingForm) -> str:
    if finding.value is None or finding.reference is None:
        return "is worse"
    fell = finding.value < finding.reference
    if not _is_share(finding) and finding.reference:
        return f"{'fell' if fell else 'rose'} by {_percent(finding)} %"
    return f"{'fell' if fell else 'rose'} by {in_points(finding.value - finding.reference)}"


def _percent(finding: FindingForm) -> int:
    """How far the value is from its reference, which is not 0."""
    assert finding.value is not None
    assert finding.reference
    return abs(round(100 * (finding.value / finding.reference - 1)))
