"""Which sentences of a chunk did the answer use? Against sentences that people marked (CLAP NQ).

.venv/bin/python bench/utilization.py [--small]
"""

from __future__ import annotations

from bench.rig.labelled import auroc, rows
from bench.rig.options import parse_small
from bench.rig.report import finish
from scorers.chunk_utilization import USED, AnswerSentences, overlap, words_of


def main() -> None:
    small = parse_small(__doc__)
    labels: list[bool] = []
    scores: list[float] = []
    for row in rows("clapnq_dev", small=small):
        said = AnswerSentences(row["answer"] or "")
        for sentence in row["sentences"]:
            words = words_of(sentence["text"])
            labels.append(bool(sentence["selected"]))
            scores.append(max((overlap(word, said) for word in words), default=0.0))
    area = auroc(labels, scores)
    right = sum((score >= USED) == label for score, label in zip(scores, labels, strict=True))
    figures: dict[str, object] = {
        "sentences": len(labels),
        "used": sum(labels),
        "auroc": round(area, 4),
        "accuracy_at_threshold": round(right / len(labels), 4),
        "threshold": USED,
    }
    finish("utilization", figures, {"auroc >= 0.95": area >= 0.95}, seed=0)


if __name__ == "__main__":
    main()
