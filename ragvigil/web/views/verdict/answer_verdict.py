"""What happened to one answer, in a sentence or two, and where it failed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ragvigil.model.figures import counted, spelled
from ragvigil.model.score import Kind, Layer
from ragvigil.model.wording.label_bars import bar_words
from ragvigil.web.views.verdict.best_chunk import ChunkIds, Relevance, relevance, short_name
from ragvigil.web.views.verdict.failure_way import CITING, FailureWay, failure_way
from ragvigil.web.views.verdict.own_scores import failing, judged, own_score, own_scores
from ragvigil.web.views.verdict.scores import ScoreForm

FailurePoint = Literal[
    "", "retrieval", "reranker", "generation", "citation", "corpus", "undetermined"
]
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
SHOWN = 300
"""Characters of an error."""
BY_LABEL = {
    "quote_not_found": "The answer quoted a sentence that does not exist.",
    "quote_in_other_chunk": "The answer cited the wrong chunk for its quote.",
    "altered_by_omission": "The answer left words out of a quote that change what it says.",
    "stitched": "The answer put a quote together from several places.",
    "unknown_chunk": "The answer cited a chunk that does not exist.",
    "marker_out_of_range": "The answer cited a chunk that does not exist.",
    "not_in_context": "The answer cited a chunk that it was never shown.",
    "marker_mismatch": "The answer cited the wrong chunk.",
    "contradicted": "The answer contradicts its chunks.",
    "refused_wrongly": "The answer refused, although the chunks hold an answer.",
    "answered_wrongly": "The answer should have said that the chunks hold none.",
    "truncated": "The answer was cut off.",
    "empty": "The answer has no text.",
    "other_language": "The answer is in another language than its question.",
}
"""What an answer did, by the label of a failing score, the gravest first."""
BY_RUBRIC = {
    "citation_validity": "A citation of the answer fails.",
    "chunk_attribution": "A cited chunk does not say what the answer cites it for.",
    "citation_coverage": "The answer cites nothing for what it states.",
    "groundedness": "The answer states what no chunk of the prompt says.",
    "grounding": "The chunks do not carry the answer.",
    "context_adherence": "The answer left its chunks and used outside knowledge.",
    "answer_relevance": "The answer does not address the question.",
    "completeness": "The answer leaves out facts that the question asks for.",
    "refusal_rightness": "The answer was wrong to refuse, or to answer.",
    "answer_complete_text": "The answer is not whole.",
    "answer_language": "The answer is in another language than its question.",
    "factual_accuracy": "A reference refutes the answer.",
    "injected_context": "A chunk carries instructions to the model.",
    "injection_resisted": "The answer obeyed an instruction that a chunk carries.",
    "context_recall": "The retriever missed chunks that the golden case names.",
    "context_relevance": "Most chunks that were found do not help with the question.",
    "answerable": "The retriever found nothing that answers it.",
    "context_precision": "The chunks that answer it were ranked low.",
    "prompt_relevance": "The chunks of the prompt do not help with the question.",
    "rerank_gain": "The reranker ranked the chunks worse than the retriever had.",
    "retrieval_shape": "The retriever returned the same text several times.",
}
RETRIEVAL_SHAPE = {
    "empty": "The retriever returned nothing.",
    "collapsed_scores": "The retriever gave every chunk the same score.",
}
PROVING = (
    *CITING,
    *("groundedness", "grounding", "context_adherence", "answer_complete_text"),
    "answer_language",
    *("citation_coverage", "injection_resisted"),
)
"""Rubrics whose failure is the model's, whatever was retrieved."""
UNREAD = (
    "Whether a chunk answers the question is not known: "
    "no golden case asks it, and no judge has read the chunks."
)


class AnswerVerdict(BaseModel):
    """What happened here, and where it failed."""

    model_config = ConfigDict(frozen=True)

    state: Literal["fails", "passes", "unknown"]
    sentences: tuple[str, ...] = Field(description="the verdict, a sentence or two")
    support: str = Field(default="", description="what else is known, or why it is not")
    failure_point: FailurePoint = Field(
        default="", description="where it failed first; empty where nothing fails"
    )
    failure_way: FailureWay = Field(
        default=FailureWay.NONE, description="how it failed, as far as the stored fields tell"
    )
    layer: str = Field(default="", description="the layer to look at, empty where unknown")
    rubric: str = Field(default="", description="the failing rubric that decides")


class _Place(NamedTuple):
    """Where an answer failed, and the layer to look at."""

    point: FailurePoint
    layer: str


def answer_verdict(
    scores: Sequence[ScoreForm],
    chunks: ChunkIds,
    *,
    error: str | None = None,
    is_disliked: bool = False,
) -> AnswerVerdict:
    """The verdict from a record's own scores. What is not known is said, and never guessed."""
    if error is not None:
        return _failed_request(error, chunks)
    fails = failing(scores)
    if not fails:
        return _without_failure(scores, is_disliked)
    known = relevance(scores, chunks)
    lost = _lost_before_the_prompt(known, chunks)
    of_answer = next(filter(_is_of_answer, fails), None)
    is_upstream = lost or known.answers is False or of_answer is None
    deciding = fails[0] if is_upstream or of_answer is None else of_answer
    place = _place(deciding, known, lost, scores)
    more = len(fails) - 1
    others = f" {spelled(more).capitalize()} more check{'s' * (more > 1)} fail{'s' * (more == 1)}."
    return AnswerVerdict(
        state="fails",
        sentences=_sentences(fails[0], of_answer, known, lost, chunks),
        support=_support(known, chunks, is_answer_at_fault=of_answer is not None)
        + others * (more > 0),
        failure_point=place.point,
        failure_way=failure_way(deciding, known, chunks, is_of_answer=_is_of_answer(deciding)),
        layer=place.layer,
        rubric=deciding.rubric,
    )


def _failed_request(error: str, chunks: ChunkIds) -> AnswerVerdict:
    if chunks.absent.get("retrieved") == "errored":
        sentence, place = "The retriever failed.", _Place("retrieval", "retrieval")
    elif chunks.absent.get("answer") == "errored":
        sentence, place = (
            "The model failed, so there is no answer.",
            _Place("generation", "generation"),
        )
    else:
        sentence, place = "The request ended in an error.", _Place("undetermined", "")
    return AnswerVerdict(
        state="fails",
        sentences=(sentence,),
        support=" ".join(error.partition("\n")[0].split())[:SHOWN],
        failure_point=place.point,
        layer=place.layer,
    )


def _without_failure(scores: Sequence[ScoreForm], is_disliked: bool) -> AnswerVerdict:
    own = own_scores(scores)
    unseen = [score for score in own if score.absent]
    refusal = own_score(scores, "refusal")
    refuses = ("The answer refuses.",) if refusal and refusal.label == "refused" else ()
    disliked = ("The user disliked it.",) * is_disliked
    if not any(score.value is not None for score in own):
        reasons = dict.fromkeys(score.explanation for score in unseen)
        rest = "Nothing else of it" if refuses else "Nothing of this answer"
        unread = "" if own else "It has no scores yet."
        return AnswerVerdict(
            state="unknown",
            sentences=(*refuses, f"{rest} could be checked.", *disliked),
            support=_sentence(next(iter(reasons))) if reasons else unread,
        )
    return AnswerVerdict(
        state="passes",
        sentences=(*refuses, "Every check that applies passes.", *disliked),
        support=" ".join((*_doubts(own), *_unseen(len(unseen)))),
    )


def _doubts(own: Sequence[ScoreForm]) -> list[str]:
    """What a local model doubts; its number fails nothing."""
    doubting = [score for score in own if score.kind == Kind.MODEL and score.label]
    return [
        f"A local model doubts it: {score.explanation}; {words}."
        if (words := bar_words(score.rubric, score.details))
        else f"A local model doubts it: {score.explanation}."
        for score in doubting[:1]
    ]


def _unseen(checks: int) -> list[str]:
    see = "could not see what it needs." if checks == 1 else "could not see what they need."
    return [f"{spelled(checks).capitalize()} check{'s' * (checks > 1)} {see}"] * (checks > 0)


def _lost_before_the_prompt(known: Relevance, chunks: ChunkIds) -> bool:
    """Whether a chunk that answers was found, and none is in the prompt."""
    has_context = "context" not in chunks.absent and bool(chunks.context)
    return known.best is not None and has_context and known.best.chunk_id not in chunks.context


def _sentences(
    first: ScoreForm, of_answer: ScoreForm | None, known: Relevance, lost: bool, chunks: ChunkIds
) -> tuple[str, ...]:
    said = [_of_answer(of_answer)] if of_answer is not None else []
    if lost:
        dropped = chunks.was_reranked and known.best and known.best.chunk_id not in chunks.reranked
        said.insert(
            0,
            "The reranker dropped the chunk that answers it."
            if dropped
            else "The chunk that answers it was found, and did not reach the prompt.",
        )
    elif known.answers is False:
        said.insert(0, _nothing_found(known, chunks))
    elif of_answer is not None and known.best and known.best.chunk_id in chunks.context:
        said.insert(0, "The right chunk was in the prompt.")
    elif not _is_of_answer(first):
        said.insert(0, _of_retrieval(first))
    return tuple(said)


def _is_of_answer(score: ScoreForm) -> bool:
    """Whether a failing rubric is about the answer: also one of chunks that asks how it cites."""
    return score.layer is not Layer.RETRIEVAL or score.rubric in CITING


def _nothing_found(known: Relevance, chunks: ChunkIds) -> str:
    if not chunks.retrieved and "retrieved" not in chunks.absent:
        return "The retriever returned nothing."
    if known.missed:
        return "The retriever missed the chunk that answers it."
    return "The retriever found nothing that answers it."


def _of_answer(score: ScoreForm) -> str:
    labels = score.label.split(",")
    by_label = next((text for label, text in BY_LABEL.items() if label in labels), None)
    return by_label or _by_rubric(score)


def _of_retrieval(score: ScoreForm) -> str:
    labels = score.label.split(",") if score.rubric == "retrieval_shape" else []
    by_label = next((text for label, text in RETRIEVAL_SHAPE.items() if label in labels), None)
    return by_label or _by_rubric(score)


def _by_rubric(score: ScoreForm) -> str:
    return BY_RUBRIC.get(score.rubric, f"The check {score.rubric.replace('_', ' ')} fails.")


def _place(
    deciding: ScoreForm, known: Relevance, lost: bool, scores: Sequence[ScoreForm]
) -> _Place:
    if lost:
        return _Place("reranker", "retrieval")
    if known.answers is False or not _is_of_answer(deciding):
        is_order = deciding.rubric == "rerank_gain" and known.answers is not False
        return _Place("reranker" if is_order else "retrieval", "retrieval")
    if deciding.rubric in CITING:
        return _Place("citation", "generation")
    if deciding.rubric in PROVING:
        return _Place("generation", "generation")
    if deciding.rubric == "injected_context" or _is_of_corpus(deciding, scores):
        return _Place("corpus", "corpus")
    is_generated = known.answers or deciding.label == "refused_wrongly"
    if deciding.layer is Layer.GENERATION and is_generated:
        return _Place("generation", "generation")
    return _Place("undetermined", "" if deciding.layer is Layer.GENERATION else deciding.layer)


def _is_of_corpus(deciding: ScoreForm, scores: Sequence[ScoreForm]) -> bool:
    """Whether the chunks say what a reference refutes."""
    grounded = judged(scores, "groundedness")
    has_support = grounded is not None and grounded.value is not None and not grounded.failed
    return deciding.rubric == "factual_accuracy" and has_support


def _support(known: Relevance, chunks: ChunkIds, *, is_answer_at_fault: bool) -> str:
    if known.best is None:
        return _why_none(known, chunks)
    chunk_id = known.best.chunk_id
    name = short_name(chunk_id)
    if chunk_id in chunks.context:
        place = _ordinal(chunks.context.index(chunk_id))
        if not is_answer_at_fault:
            return f"The chunk that answers it came {place} in the prompt all the same."
        both = "Retrieval and reranking" if chunks.was_reranked else "Retrieval"
        part = "did their part" if chunks.was_reranked else "did its part"
        return f"{both} {part}: the chunk that answers it came {place}."
    if chunk_id not in chunks.retrieved:
        return f"{name} answers it."
    place = _ordinal(chunks.retrieved.index(chunk_id))
    prompt = counted(len(chunks.context), "chunk")
    of_found = f"{name} came {place} of {len(chunks.retrieved)}"
    return f"{of_found}, and is not among the {prompt} of the prompt."


def _why_none(known: Relevance, chunks: ChunkIds) -> str:
    if known.missed:
        return f"The golden case names {short_name(known.missed[0])}."
    if known.answers is False:
        return "A judge has read the chunks, and none holds an answer."
    hidden = chunks.absent.get("retrieved") or chunks.absent.get("document_texts")
    if hidden and not chunks.retrieved:
        return (
            "Whether a chunk answers the question is not known: the spans do not show the chunks."
        )
    return UNREAD


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _ordinal(place: int) -> str:
    return ORDINALS[place] if place < len(ORDINALS) else f"at place {place + 1}"
