"""What is wrong with answers that fail a rubric, as the verb of a sentence about them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

ANY = ""
PROBLEMS: Mapping[str, Mapping[str, str]] = {
    ANY: {"error": "end in an error", "thumbs_down": "are disliked by their users"},
    "answer_complete_text": {"truncated": "are cut off", "empty": "have no text"},
    "answer_language": {ANY: "are in a different language from the question"},
    "answer_relevance": {ANY: "do not address the question"},
    "answer_sources": {ANY: "draw on other chunks than before"},
    "answer_words": {"long": "are longer than usual", ANY: "are shorter than usual"},
    "answerable": {ANY: "get no chunk that answers the question"},
    "chunk_attribution": {ANY: "cite chunks that do not support them"},
    "chunk_utilization": {ANY: "use little of what is in the prompt"},
    "citation_coverage": {ANY: "make claims without a citation"},
    "citation_validity": {
        "unknown_chunk": "cite chunks that do not exist",
        "not_in_context": "cite chunks that did not reach the prompt",
        "quote_not_found": "quote words that stand in no chunk",
        "quote_in_other_chunk": "quote one chunk and cite another",
        "altered_by_omission": "leave words out of what they quote",
        "stitched": "put quotations together from several places",
        "marker_out_of_range": "cite numbers that no chunk has",
        "marker_mismatch": "cite chunks that do not support them",
        ANY: "have citations that do not hold",
    },
    "citations": {ANY: "cite less than usual"},
    "completeness": {ANY: "leave out facts that the question asks for"},
    "context_adherence": {ANY: "use knowledge from outside their chunks"},
    "context_precision": {
        "none_relevant": "get no relevant chunk",
        ANY: "get the relevant chunks too far down",
    },
    "context_recall": {ANY: "miss chunks that answer the question"},
    "context_relevance": {
        "none_relevant": "get no chunk about what they were asked",
        ANY: "get chunks that do not fit the question",
    },
    "factual_accuracy": {ANY: "say what a reference refutes"},
    "groundedness": {
        "contradicted": "contradict their chunks",
        ANY: "make claims that no chunk supports",
    },
    "grounding": {ANY: "go beyond what their chunks say"},
    "injected_context": {ANY: "get chunks that give the model orders"},
    "injection_resisted": {
        "in_part": "obey in part an order that a chunk gives",
        ANY: "obey an order that a chunk gives",
    },
    "refusal": {"partial": "refuse in part", ANY: "refuse to answer"},
    "refusal_rightness": {
        "refused_wrongly": "refuse although their chunks answer",
        "answered_wrongly": "answer although their chunks do not",
        ANY: "are wrong to answer, or to refuse",
    },
    "prompt_relevance": {ANY: "get chunks that do not help with the question"},
    "rerank_gain": {ANY: "lose relevant chunks to the reranker"},
    "retrieval_shape": {
        "empty": "get nothing",
        "duplicate": "get the same chunk several times",
        "near_duplicate": "get nearly the same chunk several times",
        "collapsed_scores": "get chunks with scores that tell none apart",
        ANY: "get too few different chunks",
    },
}
"""By rubric and label; the empty label is any other. A rubric of a plug-in has no words here."""
SEPARATOR = " · "
"""Between the parts of a name."""


def verb_of(rubric: str, label: str) -> str:
    """What answers do that fail a rubric with a label; of several labels the first with words.

    >>> verb_of("citation_validity", "quote_not_found"), verb_of("tone", "rude")
    ('quote words that stand in no chunk', 'fail tone (rude)')
    """
    known = PROBLEMS.get(rubric, {})
    parts = [part.strip() for part in label.split(",")]
    verb = next((known[part] for part in parts if part in known), known.get(ANY, ""))
    what = " ".join(filter(None, (rubric, f"({label})" if label else ""))).replace("_", " ")
    return verb or f"fail {what}"
