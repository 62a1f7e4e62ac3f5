"""Measures every record: its sizes, latencies and costs, not its quality.

>>> from ragvigil import Document, RagRecord
>>> chunk = Document(chunk_id="a", content="Refunds take five days.", score=0.9)
>>> shape = measure(RagRecord(record_id="1", trace_id="1", answer="Five days.", context=(chunk,)))
>>> shape["answer_words"], shape["context_chunks"], shape["cost_usd"]
(2.0, 1.0, None)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from ragvigil.model.record import Document, RagRecord

CHARACTERS_A_TOKEN = 4
"""An estimate: English text has about four characters per token in common vocabularies."""


def measure(record: RagRecord) -> dict[str, float | None]:
    """Every measurement by name, in seconds, tokens or US dollars; None where spans lack it."""
    texts = [chunk.content for chunk in record.context if chunk.content is not None]
    scores = [chunk.score for chunk in record.retrieved if chunk.score is not None]
    latencies, usage, answer = record.latencies, record.usage, record.answer
    knows_context = "context" not in record.absent
    characters = sum(map(len, texts))
    return {
        "answer_characters": None if answer is None else float(len(answer)),
        "answer_words": None if answer is None else float(len(answer.split())),
        "context_chunks": float(len(record.context)) if knows_context else None,
        "context_tokens": characters / CHARACTERS_A_TOKEN if texts else None,
        "chunk_characters": fmean(map(len, texts)) if texts else None,
        "retrieved_chunks": None if "retrieved" in record.absent else float(len(record.retrieved)),
        "context_order": _order(record) if knows_context else None,
        "distinct_documents": _distinct(record.context) if knows_context else None,
        "citations": float(len(record.citations)) if answer is not None else None,
        "top_score": scores[0] if scores else None,
        "score_gap": scores[0] - scores[-1] if len(scores) > 1 else None,
        "seconds_total": latencies.total,
        "seconds_retrieval": latencies.retrieval,
        "seconds_rerank": latencies.rerank,
        "seconds_generation": latencies.generation,
        "seconds_first_token": latencies.first_token,
        "input_tokens": _number(usage.input_tokens),
        "output_tokens": _number(usage.output_tokens),
        "cost_usd": record.cost_usd,
    }


def _order(record: RagRecord) -> float | None:
    """The share of pairs of chunks of the context that stand in the order of their scores.

    1 is the best first, 0 upside down. Scores are those of the reranker, else of the retriever;
    None with fewer than two different ones.
    """
    known = {
        chunk.chunk_id: chunk.score
        for chunks in (record.context, record.retrieved, record.reranked)
        for chunk in chunks
        if chunk.score is not None
    }
    scores = [known[chunk.chunk_id] for chunk in record.context if chunk.chunk_id in known]
    pairs = [(first, second) for first, second in combinations(scores, 2) if first != second]
    return fmean(first > second for first, second in pairs) if pairs else None


def _distinct(documents: Sequence[Document]) -> float:
    return float(len({document.document_id or document.chunk_id for document in documents}))


def _number(count: int | None) -> float | None:
    return None if count is None else float(count)
