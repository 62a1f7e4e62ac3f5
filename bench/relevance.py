"""How well does the local model tell relevant chunks, and answers to the question, from others?

.venv/bin/python bench/relevance.py [--small]

TREC-QA and Cranfield carry people's judgements, and may not be shipped: without them, and in the
small run, a question's own text is told from those of other questions (CLAP NQ).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.rig.labelled import auroc, rows
from bench.rig.options import parse_small
from bench.rig.report import bench_data, finish, progress
from ragvigil.inference.metrics import CPU_SECONDS, MEMORY_BYTES, TEXTS
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Score
from scorers.local.relevance import answer_relevance, context_relevance

JUDGED = {"trecqa_relevance": 0.82, "cranfield_relevance": 0.84}
"""By set, the least AUROC."""
OTHERS = 4
"""Texts of other questions beside a question's own."""


@dataclass(slots=True)
class Told:
    """What is relevant and what the scorer said, in one order."""

    labels: list[bool] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)

    def add(self, label: bool, score: float, text: str) -> None:
        """One chunk or answer."""
        self.labels.append(label)
        self.scores.append(score)
        self.lengths.append(len(text))

    def figures(self) -> dict[str, object]:
        """AUROC of the scorer, and that of length alone beside it."""
        return {
            "texts": len(self.labels),
            "relevant": sum(self.labels),
            "auroc": round(auroc(self.labels, self.scores), 4),
            "auroc_length_alone": round(auroc(self.labels, self.lengths), 4),
        }


def main() -> None:
    small = parse_small(__doc__)
    inference = Inference(InferenceSettings(timeout_seconds=300))
    inference.embed(["the model loads"])
    started, read = CPU_SECONDS._value.get(), TEXTS.labels("embed")._value.get()
    told = dict(judged(inference)) if bench_data() and not small else {}
    told |= own_and_other(inference, rows("clapnq_dev", small=small))
    spent = CPU_SECONDS._value.get() - started
    texts = TEXTS.labels("embed")._value.get() - read
    figures: dict[str, object] = {
        name: judged_pairs.figures() for name, judged_pairs in told.items()
    }
    figures |= {
        "texts_embedded": int(texts),
        "cpu_ms_per_text": round(spent / texts * 1000, 2),
        "cpu_seconds_to_start": round(started, 2),
        "child_mb": round(MEMORY_BYTES._value.get() / 1e6, 1),
        "version": inference.embedding_version,
    }
    inference.close()
    least = {**JUDGED, "own_passage": 0.95, "own_answer": 0.95}
    bars = {
        f"{name}: auroc >= {least[name]}": auroc(judged_pairs.labels, judged_pairs.scores)
        >= least[name]
        for name, judged_pairs in told.items()
    }
    finish("relevance", figures, bars, seed=0)


def judged(inference: Inference) -> Iterable[tuple[str, Told]]:
    """The chunks that people judged, by set."""
    for name in JUDGED:
        told = Told()
        for row in rows(name):
            chunks = [chunk for chunk in row["chunks"] if chunk["text"].strip()]
            near = by_chunk(inference, row["question"], [chunk["text"] for chunk in chunks])
            for chunk, score in zip(chunks, near, strict=True):
                told.add(chunk["relevance"] >= 1, score, chunk["text"])
        progress(f"{name}: {told.figures()}")
        yield name, told


def own_and_other(inference: Inference, asked: Sequence[dict[str, Any]]) -> dict[str, Told]:
    """Each question with its own passage and answer, and with those of the next questions."""
    answered = [row for row in asked if row["answer"] and row["sentences"]]
    passages = [" ".join(sentence["text"] for sentence in row["sentences"]) for row in answered]
    own_passage, own_answer = Told(), Told()
    for place, row in enumerate(answered):
        others = [(place + step) % len(answered) for step in range(1, OTHERS + 1)]
        near = by_chunk(
            inference, row["question"], [passages[number] for number in (place, *others)]
        )
        for number, score in zip((place, *others), near, strict=True):
            own_passage.add(number == place, score, passages[number])
        for number in (place, *others):
            text = answered[number]["answer"]
            record = RagRecord(record_id="1", trace_id="1", query=row["question"], answer=text)
            score = answer_relevance(record, inference)
            if score.value is not None:
                own_answer.add(number == place, score.value, text)
    return {"own_passage": own_passage, "own_answer": own_answer}


def by_chunk(inference: Inference, question: str, texts: Sequence[str]) -> list[float]:
    """What the scorer says of each text as a retrieved chunk, 90 at a time."""
    found: list[float] = []
    for start in range(0, len(texts), 90):
        chunks = tuple(
            Document(chunk_id=str(place), content=text)
            for place, text in enumerate(texts[start : start + 90])
        )
        record = RagRecord(record_id="1", trace_id="1", query=question, retrieved=chunks)
        found += relevances(context_relevance(record, inference))
    return found


def relevances(score: Score) -> list[float]:
    """The figure of each chunk. Raises SystemExit where there is none."""
    if score.value is None:
        raise SystemExit(score.explanation)
    chunks = score.details["chunks"]
    assert isinstance(chunks, list)
    return [chunk["relevance"] for chunk in chunks]


if __name__ == "__main__":
    main()
