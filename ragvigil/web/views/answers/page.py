"""Small sentences of the pages of an answer and of a trace. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragvigil.model.figures import counted, duration, share
from ragvigil.web.views.answers.spans import SpanForm
from ragvigil.web.views.records import FeedbackForm, RecordForm
from ragvigil.web.views.verdict.answer_verdict import AnswerVerdict
from ragvigil.web.views.verdict.failure_way import FailureWay

POINTS = {
    "retrieval": "at the retriever",
    "reranker": "at the reranker",
    "generation": "at the model",
    "citation": "at the citation",
    "corpus": "in the corpus",
    "undetermined": "at a step that is not known",
}
UNSAID = frozenset({FailureWay.NONE, FailureWay.UNKNOWN})
NO_QUESTION = {
    "hidden": "The question is hidden: the instrumentation left it out.",
    "truncated": "The question was cut off before its span was sent.",
}


def point_words(verdict: AnswerVerdict) -> str:
    """Where and how it failed, in words; empty where nothing fails."""
    if not verdict.failure_point:
        return ""
    way = "" if verdict.failure_way in UNSAID else f": {verdict.failure_way}"
    return f"failed {POINTS[verdict.failure_point]}{way}"


def no_question(record: RecordForm) -> str:
    """Why there is no question, empty where there is one."""
    if (record.query or "").strip():
        return ""
    return NO_QUESTION.get(record.absent.get("query", ""), "No span carries the question.")


def feedback_words(feedback: Sequence[FeedbackForm]) -> list[str]:
    """What users said of an answer, a line each."""
    return [_opinion(each) for each in feedback[:20]]


def _opinion(each: FeedbackForm) -> str:
    kind = each.kind.replace("_", " ")
    if each.value is None:
        said = kind
    elif each.kind == "thumbs":
        said = "thumbs up" if each.value >= 0.5 else "thumbs down"
    else:
        said = f"{kind}, {share(each.value)}"
    return f"{said}: “{each.comment[:300]}”" if each.comment else said


def measures(record: RecordForm) -> str:
    """Tokens and time of an answer, as far as they are known."""
    tokens = record.usage.get("input_tokens")
    spent = record.latencies.get("retrieval")
    parts = [
        counted(tokens, "token") + " in the prompt" if tokens is not None else "",
        f"retrieved in {duration(spent)}" if spent is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def cut_words(record: RecordForm) -> str:
    """What was cut before it was sent, empty for nothing."""
    if not record.truncated:
        return ""
    return f"Cut before it was sent: {', '.join(record.truncated)}."


def why_no_answer(spans: Sequence[SpanForm], not_kept: int = 0) -> str:
    """Why a trace without an answer has none, as far as its spans say."""
    if not spans and not_kept:
        return "Its spans were not kept, by the setting store.spans, so what it held is not known."
    if not spans:
        return "Its spans are past their retention, so what it held is not known."
    kinds = {span.kind for span in spans}
    if "llm" not in kinds:
        return "No span of it says that a model answered."
    if not kinds & {"retriever", "reranker"}:
        return "A model answered, and no span says that chunks were retrieved for it."
    return "A model answered and chunks were retrieved, but not for one answer."


def links(open_in: Mapping[str, str], trace_id: str, span_id: str) -> list[tuple[str, str]]:
    """Other tools by name, with the address of this trace there."""
    return [
        (name, address.replace("{trace_id}", trace_id).replace("{span_id}", span_id))
        for name, address in open_in.items()
    ]
