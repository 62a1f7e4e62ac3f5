"""Which citations of an answer stand, which fail, and why, as `citation_validity` found. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ragvigil.model.figures import counted, share
from ragvigil.web.views.verdict.best_chunk import short_name
from ragvigil.web.views.verdict.own_scores import own_score
from ragvigil.web.views.verdict.scores import ScoreForm

if TYPE_CHECKING:
    from ragvigil.web.views.records import CitationForm, RecordForm

RUBRIC = "citation_validity"
State = Literal["stands", "fails", "unknown"]
REASONS = {
    "quote_not_found": ("Quote not found", "These words stand in no chunk of the prompt. {near}"),
    "quote_in_other_chunk": ("Wrong chunk", "These words stand in {other}, not in {chunk}."),
    "altered_by_omission": (
        "Quote leaves words out",
        "The passage of {chunk} says something else with the words left out: “{omitted}”.",
    ),
    "stitched": (
        "Quote is put together",
        "Its parts stand in several places, and nowhere as one sentence.",
    ),
    "unknown_chunk": ("No such chunk", "{chunk} is no chunk of this answer."),
    "marker_out_of_range": ("No such chunk", "{chunk} points beyond the {prompt} of the prompt."),
    "not_in_context": ("Not in the prompt", "{chunk} was found, and did not reach the prompt."),
    "marker_mismatch": ("Wrong chunk", "{other} supports this sentence, and {chunk} does not."),
}
"""What is wrong with a citation, and why, by its label."""
ALTERED = ("Sentence altered", "It copies a sentence of {chunk} and changes words of it. {near}")
"""Of a sentence without quotation marks, which has the label `quote_not_found` too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why the citations of the text before it fail."""

    kind: ClassVar[str] = "reason"
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCitation:
    """A citation with what `citation_validity` says of it; `reason` is there where it fails."""

    citation: CitationForm
    state: State
    label: str
    says: str
    anchor: str
    reason: Reason | None = None

    @property
    def name(self) -> str:
        """What the reader sees: the chunk's id, else the target as the answer writes it."""
        citation = self.citation
        return short_name(citation.chunk_id or citation.target or citation.marker or "?")


def checked_citations(record: RecordForm) -> list[CheckedCitation]:
    """The citations of a record, in their order, each with its check."""
    score = own_score(record.scores, RUBRIC)
    anchors = _anchors(record)
    checks = _checks(record.citations, score)
    return [
        _checked(citation, check, anchors.get(citation.chunk_id or "", ""), record, score)
        for citation, check in zip(record.citations, checks, strict=True)
    ]


def _anchors(record: RecordForm) -> dict[str, str]:
    """Where the Answer page shows each chunk; the prompt goes before what was found."""
    anchors: dict[str, str] = {}
    for name, chunks in (("chunk", record.context), ("found", record.retrieved)):
        for rank, chunk in enumerate(chunks, 1):
            anchors.setdefault(chunk.id, f"{name}-{rank}")
    return anchors


def _checks(
    citations: Sequence[CitationForm], score: ScoreForm | None
) -> list[Mapping[str, Any] | None]:
    """What the score says of each citation; None where it does not say."""
    listed = score.details.get("citations") if score and score.value is not None else None
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    # Of very many citations the score keeps some, and says which.
    places = {row["place"]: row for row in rows if isinstance(row.get("place"), int)}
    if not places and len(rows) == len(citations):
        places = dict(enumerate(rows))
    return [
        row if row is not None and row.get("target") == citation.target else None
        for citation, row in ((each, places.get(place)) for place, each in enumerate(citations))
    ]


def _checked(
    citation: CitationForm,
    check: Mapping[str, Any] | None,
    anchor: str,
    record: RecordForm,
    score: ScoreForm | None,
) -> CheckedCitation:
    label = str(check.get("label") or "") if check else ""
    reason: Reason | None = None
    state: State = "stands"
    if check and label:
        state, reason = "fails", _reason(label, check, citation, record)
        says = f"fails: {reason.title.lower().rstrip('.')}"
    elif check is None or check.get("checked") == "nothing":
        state, says = "unknown", _why_unchecked(check, score)
    else:
        is_compared = check.get("checked") in ("quote", "sentence")
        says = "stands" if is_compared else "its chunk was in the prompt; it quotes nothing"
    return CheckedCitation(
        citation=citation, state=state, label=label, says=says, anchor=anchor, reason=reason
    )


def _why_unchecked(check: Mapping[str, Any] | None, score: ScoreForm | None) -> str:
    if check is not None:
        return "not checked: the text of its chunk is unknown, or there was too much to compare"
    if score is not None and score.value is None and score.explanation:
        return f"not checked: {score.explanation}"
    return "not checked"


def _reason(
    label: str, check: Mapping[str, Any], citation: CitationForm, record: RecordForm
) -> Reason:
    """The reason in words; a label of a plug-in stands for itself."""
    usual = (label.replace("_", " ").capitalize(), "{chunk} does not support it.")
    title, text = REASONS.get(label, usual)
    if label == "quote_not_found" and check.get("checked") == "sentence":
        title, text = ALTERED
    name = short_name(citation.chunk_id or citation.target or citation.marker or "It")
    words = {
        "chunk": name,
        "other": short_name(str(check.get("other") or "another chunk")),
        "omitted": str(check.get("omitted") or "…"),
        "prompt": counted(len(record.context), "chunk"),
        "near": _nearness(name, check.get("similarity")),
    }
    # Not `format`: an id with braces is no field, and one id is never read as another's pattern.
    for key, value in words.items():
        head, mark, tail = text.partition(f"{{{key}}}")
        text = f"{head}{value}{tail}" if mark else text
    return Reason(title=f"{title}.", text=text.strip())


def _nearness(name: str, similarity: object) -> str:
    if not isinstance(similarity, int | float) or similarity >= 1:
        return ""
    if similarity <= 0:
        return f"Nothing in {name} comes near."
    return f"The nearest passage of {name} shares {share(float(similarity))} of the words."
