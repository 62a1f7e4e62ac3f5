"""What the context says of each sentence, by the local entailment model beside the trees.

    >>> from ragvigil import Document
    >>> from ragvigil.inference.outcome import Reason, Unavailable
    >>> class NoModel:
    ...     def entail(self, file, pairs):
    ...         return Unavailable(reason=Reason.NO_MODEL, detail="no model is installed")
    >>> chunk = Document(chunk_id="a", content="Card refunds take 5 days to appear on your card.")
    >>> record = RagRecord(record_id="1", trace_id="1", context=(chunk,), answer="It takes a week.")
    >>> [(score.rubric, score.value, score.explanation) for score in entailment(record, NoModel())]
    [('sentence_support', None, 'no model is installed'), ('contradiction', None, \
'no model is installed'), ('citation_support', None, 'the answer cites nothing')]

`sentence_support` is the mean of the two weakest sentences, as the trees' `groundedness` has it;
the log odds of both models are averaged. `contradiction` is the share of sentences that the context
does not deny: 1 is good. `citation_support` is the mean support of the cited sentences by the
chunks that they cite, and no others; its label `weak_support` is no failure. All are of the answers
of the sample that local models have time for. They are series of their own: a mean of two models
would move with the share that each one scores. English only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.weights import ModelFile
from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.absence import first_absent
from scorers.grounding.claims import Claim
from scorers.grounding.entailment import (
    CONTRADICTED,
    FILE,
    METHOD,
    UNSUPPORTED,
    WEAK,
    Support,
    joint,
)
from scorers.grounding.features import measure
from scorers.grounding.model import answer_value, shipped_model
from scorers.grounding.premise import Premises
from scorers.rubric import house_rubrics
from scorers.text.language import language
from scorers.text.stance import classify

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

SCORER = "entailment"
RUBRICS = ("sentence_support", "contradiction", "citation_support")
MOST = 24
"""Sentences of an answer that are read: each takes 9 ms of the model (`models/entailment.md`), and
again if cited."""
MOST_CHARACTERS = 40_000
"""Of a context; the choice of a premise takes time by its lines, some 2 ms a sentence here."""
Places = tuple[int, ...]


class Entailer(Protocol):
    """Judges pairs; implemented by `ragvigil.inference.process.Inference`."""

    def entail(self, file: ModelFile, pairs: Sequence[tuple[str, str]]) -> Numbers | Unavailable:
        """Of each premise and sentence the probabilities of `Support`, or why there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of an answer, what the context says of it, and what the chunks it cites do.

    `chunk` is the place of its nearest chunk, -1 for none; `cited` None where it cites none.
    """

    claim: Claim
    trees: float
    supported: float
    contradicted: float
    chunk: int
    cited: float | None


def entailment(record: RagRecord, entailer: Entailer) -> tuple[Score, ...]:
    """The scores of RUBRICS of a record, not applicable with a reason."""
    whys = {rubric: _why_not(record, rubric) for rubric in RUBRICS}
    if all(whys.values()):
        return tuple(why for why in whys.values() if why)
    judged = sentences_of(record, entailer)
    return tuple(why or SCORED[rubric](record, judged) for rubric, why in whys.items())


def sentences_of(record: RagRecord, entailer: Entailer) -> list[Sentence] | str:
    """The sentences with their probabilities, in one call of the model; or why there are none."""
    contents = [chunk.content or "" for chunk in record.context]
    answer, question, model = record.answer or "", record.query or "", shipped_model()
    measured = measure(answer, question, contents, model.weights)
    claims = measured.claims[:MOST]
    premises = Premises(_first(contents))
    cited = _cited(record, claims)
    by_cited = {places: Premises([contents[at] for at in places]) for places in cited.values()}
    pairs = [(premises.of(claim.text), claim.text) for claim in claims]
    pairs += [
        (by_cited[places].of(claims[at].text), claims[at].text) for at, places in cited.items()
    ]
    if not pairs or not premises.lines:
        return "no sentence can be compared"
    rows = entailer.entail(FILE, pairs)
    if isinstance(rows, Unavailable):
        return str(rows)
    by_citation = {
        at: _both(_alone(claims[at], question, [contents[place] for place in cited[at]]), row)
        for at, row in zip(cited, rows[len(claims) :], strict=True)
    }
    trees = model.probabilities(measured.rows[:MOST])
    return [
        Sentence(
            claim=claim,
            trees=trees[at],
            supported=_both(trees[at], rows[at]),
            contradicted=float(rows[at][Support.CONTRADICTED]),
            chunk=measured.chunks[at],
            cited=by_citation.get(at),
        )
        for at, claim in enumerate(claims)
    ]


def _both(by_trees: float, row: Sequence[float] | Numbers) -> float:
    """The mean of both models; that of the trees where the other failed: then its row is 0."""
    if not sum(row):
        return by_trees
    return joint(by_trees, float(row[Support.SUPPORTED]))


def _alone(claim: Claim, question: str, contents: Sequence[str]) -> float:
    """The trees' probability of a sentence without its neighbours, by some of the chunks."""
    measured = measure(claim.text, question, contents, shipped_model().weights)
    return answer_value(shipped_model().probabilities(measured.rows)) if measured.rows else 0.5


def _first(contents: Sequence[str]) -> list[str]:
    """The chunks up to MOST_CHARACTERS together; the last of them is cut."""
    result, room = [], MOST_CHARACTERS
    for content in contents:
        result.append(content[:room])
        room -= len(result[-1])
    return result


def _cited(record: RagRecord, claims: Sequence[Claim]) -> Mapping[int, Places]:
    """By sentence, the places of the chunks that it cites, by the middle of a citation's claim."""
    places = {
        chunk.chunk_id: place
        for place, chunk in reversed(list(enumerate(record.context)))
        if (chunk.content or "").strip()
    }
    starts = [claim.start for claim in claims]
    result: dict[int, set[int]] = {}
    for citation in record.citations:
        start, end = citation.claim_start, citation.claim_end
        if start is None or end is None or citation.chunk_id not in places:
            continue
        number = bisect_right(starts, (start + end) / 2) - 1
        if number >= 0 and (start + end) / 2 < claims[number].end:
            result.setdefault(number, set()).add(places[citation.chunk_id])
    return {number: tuple(sorted(found)) for number, found in sorted(result.items())}


def _why_not(record: RagRecord, rubric: str) -> Score | None:
    """A score that is not applicable, where the record lacks what the rubric needs."""
    field, why = first_absent(record, house_rubrics()[rubric].needs)
    if field:
        return _without(rubric, why, absent=field)
    if rubric == "citation_support" and not record.citations:
        return _without(rubric, "the answer cites nothing")
    reason = _why_no_sentence(record.answer or "", record.context)
    return _without(rubric, reason) if reason else None


def _why_no_sentence(answer: str, context: Sequence[Document]) -> str:
    if not answer.strip():
        return "there is no answer"
    if not any((chunk.content or "").strip() for chunk in context):
        return "no text reached the prompt"
    if classify(answer).label == "refused":
        return "the answer refused"
    if (code := language(answer)) not in (None, "en"):
        return f"the entailment model reads English, and the answer is in {code!r}"
    return ""


def _sentence_support(record: RagRecord, judged: list[Sentence] | str) -> Score:
    if isinstance(judged, str):
        return _without("sentence_support", judged)
    weak = sum(sentence.supported < UNSUPPORTED for sentence in judged)
    rows = [
        {
            "start": sentence.claim.start,
            "end": sentence.claim.end,
            "supported": round(sentence.supported, 4),
            "by_words": sentence.trees,
            "contradicted": round(sentence.contradicted, 4),
            "chunk_id": record.context[sentence.chunk].chunk_id if sentence.chunk >= 0 else None,
        }
        for sentence in judged
    ]
    value = answer_value([sentence.supported for sentence in judged])
    explanation = f"{weak} of {len(judged)} sentences unsupported"
    label = "unsupported" if weak else ""
    return _scored("sentence_support", value, explanation, {"sentences": rows}, label)


def _contradiction(_record: RagRecord, judged: list[Sentence] | str) -> Score:
    if isinstance(judged, str):
        return _without("contradiction", judged)
    denied = [sentence for sentence in judged if sentence.contradicted >= CONTRADICTED]
    rows = [
        {
            "start": sentence.claim.start,
            "end": sentence.claim.end,
            "contradicted": round(sentence.contradicted, 4),
        }
        for sentence in denied
    ]
    explanation = f"{len(denied)} of {len(judged)} sentences contradicted"
    label = "contradicted" if denied else ""
    value = 1 - len(denied) / len(judged)
    return _scored("contradiction", value, explanation, {"sentences": rows}, label)


def _citation_support(_record: RagRecord, judged: list[Sentence] | str) -> Score:
    if isinstance(judged, str):
        return _without("citation_support", judged)
    support = {
        (sentence.claim.start, sentence.claim.end): sentence.cited
        for sentence in judged
        if sentence.cited is not None
    }
    if not support:
        return _without("citation_support", "no cited sentence has a chunk with a text")
    weak = [chance < WEAK for chance in support.values()]
    rows = [
        {"start": start, "end": end, "supported": round(chance, 4), "weak": chance < WEAK}
        for (start, end), chance in support.items()
    ]
    explanation = f"{sum(weak)} of {len(weak)} cited sentences weakly supported by what they cite"
    label = "weak_support" if any(weak) else ""
    value = sum(support.values()) / len(support)
    return _scored("citation_support", value, explanation, {"sentences": rows}, label)


SCORED = {
    "sentence_support": _sentence_support,
    "contradiction": _contradiction,
    "citation_support": _citation_support,
}


def _without(rubric: str, reason: str, absent: str = "") -> Score:
    layer = house_rubrics()[rubric].layer
    return Score(
        rubric=rubric, explanation=reason, layer=layer, kind=Kind.MODEL, scorer=SCORER,
        absent=absent,
    )  # fmt: skip


def _scored(
    rubric: str, value: float, explanation: str, details: Mapping[str, object], label: str
) -> Score:
    return Score(
        rubric=rubric,
        value=value,
        label=label,
        explanation=explanation,
        layer=house_rubrics()[rubric].layer,
        kind=Kind.MODEL,
        scorer=SCORER,
        version=f"{METHOD}-{FILE.version}",
        details=details,
    )
