"""Is an answer in the language of its question? Labelled English answers, and 34 languages.

    .venv/bin/python bench/answer_language.py [--small]

Healthy are labelled answers, all English, and the written ones with a question of their language:
each 0 is an alarm. Positive are written answers and labelled ones of at least 8 words, with a
question in another language that is no kin: each must score 0.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.rig.labelled import rows
from bench.rig.options import parse_small
from bench.rig.report import bench_data, finish, peak_rss_mb
from ragvigil import RagRecord
from scorers.answer_language import LEAST_WORDS, AnswerLanguage
from scorers.text.language import are_alike, language

SEED = 5
WRITTEN = Path(__file__).parent / "rig" / "answer_languages.jsonl"
SETS = ("mtrag_un", "clapnq_dev", "delucionqa_refusal", "expertqa_claims")
WHOLE_SETS = (*SETS, "delucionqa_unanswerable", "ragtruth_qa", "lfqa_verification",
              "attributionbench_dev", "halueval_qa", "ragchecker_pairs")  # fmt: skip
SCORER = AnswerLanguage()

Pair = tuple[str, str]
"""A question and an answer."""


def value(pair: Pair) -> float | None:
    query, answer = pair
    record = RagRecord(record_id="1", trace_id="1", query=query, answer=answer)
    return SCORER.score(record).value


def labelled(*, small: bool) -> dict[str, list[Pair]]:
    """Questions and answers of each set."""
    return {
        name: [
            (row["question"], row["answer"])
            for row in rows(name, small=small)
            if row.get("question") and row.get("answer")
        ]
        for name in (SETS if small or bench_data() is None else WHOLE_SETS)
    }


def crossed(written: Sequence[dict[str, str]]) -> list[tuple[str, Pair]]:
    """Every question with every answer in a language that is no kin; and the answer's language."""
    return [
        (answer["language"], (question["question"], answer["answer"]))
        for question in written
        for answer in written
        if not are_alike(question["language"], answer["language"])
    ]


def share(values: Iterable[float | None], wanted: float | None) -> float:
    listed = list(values)
    return sum(value == wanted for value in listed) / max(1, len(listed))


def alarms_of(sets: Mapping[str, Sequence[Pair]], own: Sequence[float | None]) -> dict[str, object]:
    """What healthy answers score: labelled ones by set, and written ones in their own language."""
    values = {name: [value(pair) for pair in pairs] for name, pairs in sets.items()}
    every = [each for listed in values.values() for each in listed]
    return {
        "rows": {name: len(listed) for name, listed in values.items()},
        "alarms": round(share(every, 0.0), 5),
        "alarms_by_set": {name: round(share(listed, 0.0), 5) for name, listed in values.items()},
        "applicable": round(1 - share(every, None), 3),
        "own_language": {"rows": len(own), "alarms": share(own, 0.0), "whole": share(own, 1.0)},
    }


def recall_of(pairs: Sequence[tuple[str, Pair]]) -> dict[str, object]:
    """The share of written answers in another language that score 0, and the lowest languages."""
    found = [(name, value(pair)) for name, pair in pairs]
    by_language = {
        name: share([each for other, each in found if other == name], 0.0)
        for name in sorted({name for name, _ in found})
    }
    return {
        "pairs": len(found),
        "recall_written": round(share([each for _, each in found], 0.0), 4),
        "lowest": dict(sorted(by_language.items(), key=lambda item: item[1])[:5]),
    }


def micros_of(pairs: Sequence[Pair]) -> list[float]:
    """The CPU time of each pair's score in microseconds; no language is known before."""
    times = []
    for pair in pairs:
        language.cache_clear()
        started = time.process_time()
        value(pair)
        times.append((time.process_time() - started) * 1e6)
    return times


def main() -> None:
    small = parse_small(__doc__)
    rng = random.Random(SEED)
    written = [json.loads(line) for line in WRITTEN.read_text("utf-8").splitlines()]
    sets = labelled(small=small)
    pairs = crossed(written)
    foreign = [row["question"] for row in written if row["language"] != "en"]
    own = [value((row["question"], row["answer"])) for row in written]
    every = [pair for listed in sets.values() for pair in listed]
    long = [answer for _, answer in every if len(answer.split()) >= LEAST_WORDS]
    alarms = alarms_of(sets, own)
    recall = recall_of(rng.sample(pairs, 600) if small else pairs)
    english = [value((rng.choice(foreign), answer)) for answer in long[: 200 if small else None]]
    times = micros_of(every[:2000])
    figures: dict[str, Any] = {
        **alarms,
        **recall,
        "recall_labelled": round(share(english, 0.0), 4),
        "micros": round(statistics.median(times), 1),
        "micros_p99": round(statistics.quantiles(times, n=100)[98], 1),
        "peak_rss_mb": peak_rss_mb(),
    }
    bars = {
        "alarms on labelled answers <= 0.005": figures["alarms"] <= 0.005,
        "no alarm on written answers in their question's language": share(own, 0.0) == 0,
        "recall on written answers >= 0.95": figures["recall_written"] >= 0.95,
        "recall on labelled answers of 8 words >= 0.95": share(english, 0.0) >= 0.95,
    }
    if not small:
        bars["usual record <= 500 us"] = figures["micros"] <= 500
    finish("answer_language", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
