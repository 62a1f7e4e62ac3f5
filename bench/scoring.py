"""Time of all scorers of a record: 8 chunks of 120 words, good and bad quotations, long texts.

    .venv/bin/python bench/scoring.py [--small]

*Cold*: every chunk is new to the process. *Warm*: the chunks were seen before, as in production.
Python's collector of cycles is set as in the core. Medians; linear means that 16 times the text
takes at most 24 times as long.
"""

from __future__ import annotations

import random
import statistics
import time

from bench.rig.options import parse_small
from bench.rig.report import finish
from ragvigil import Citation, Document, RagRecord
from ragvigil.app.process.memory import collect_seldom
from scorers.record_shape import measure
from scorers.runner import Runner, load_scorers

SEED = 11
SYLLABLES = ["re", "fun", "de", "liv", "er", "or", "pa", "cel", "ware", "hou", "cus", "to", "mer"]


def _vocabulary(rng: random.Random) -> list[str]:
    """3,000 distinct words."""
    words = {"".join(rng.choices(SYLLABLES, k=rng.randint(1, 5))) for _ in range(9000)}
    return sorted(words)[:3000]


WORDS = _vocabulary(random.Random(SEED))
FREQUENCY = [1 / (rank + 3) for rank in range(len(WORDS))]
"""The text draws some words far more often than others, as language does."""


def text(rng: random.Random, words: int) -> str:
    """Sentences of 12 words."""
    parts = rng.choices(WORDS, FREQUENCY, k=words)
    sentences = [" ".join(parts[i : i + 12]).capitalize() + "." for i in range(0, words, 12)]
    return " ".join(sentences)


def record(rng: random.Random, *, good: int, bad: int, size: int = 1) -> RagRecord:
    """A record with `good` true and `bad` invented quotations, texts `size` times as long."""
    chunks = tuple(
        Document(chunk_id=f"doc-{i}", content=text(rng, 120 * size), rank=i) for i in range(8)
    )
    answer, citations = "", []
    for number in range(good + bad):
        chunk = chunks[number % 8]
        words = (chunk.content or "").split()
        quote = " ".join(words[3:18]) if number < good else text(rng, 15)
        answer += f'It says "{quote}" '
        start = len(answer)
        answer += f"[{chunk.chunk_id}]. "
        citations.append(
            Citation(
                target=chunk.chunk_id,
                chunk_id=chunk.chunk_id,
                marker=f"[{chunk.chunk_id}]",
                quote=quote,
                start=start,
                end=start + len(chunk.chunk_id) + 2,
                claim_start=start - len(quote) - 11,
                claim_end=start + len(chunk.chunk_id) + 3,
            )
        )
    return RagRecord(
        record_id="1",
        trace_id="1",
        query=text(rng, 12),
        retrieved=chunks,
        context=chunks,
        answer=answer + text(rng, 40 * (size - 1)) if size > 1 else answer,
        citations=tuple(citations),
    )


def median_ms(runner: Runner, records: list[RagRecord], *, again: bool = False) -> float:
    """Median CPU milliseconds of scoring and measuring a record; `again`: the second time."""
    times = []
    for scored_record in records:
        if again:
            runner.score_all(scored_record)
        started = time.process_time()
        runner.score_all(scored_record)
        measure(scored_record)
        times.append((time.process_time() - started) * 1e3)
    return statistics.median(times)


def main() -> None:
    small = parse_small(__doc__)
    count = 20 if small else 300
    rng = random.Random(SEED)
    every = Runner(load_scorers())
    runner = every.lean()
    collect_seldom()
    kinds = {"two_good": (2, 0), "five_bad": (0, 5)}
    median_ms(runner, [record(rng, good=1, bad=1) for _ in range(5)])
    figures: dict[str, object] = {}
    for name, (good, bad) in kinds.items():
        made = [record(rng, good=good, bad=bad) for _ in range(count)]
        figures[f"{name}_cold_ms"] = round(median_ms(runner, made), 3)
        figures[f"{name}_warm_ms"] = round(median_ms(runner, made, again=True), 3)
    made = [record(rng, good=2, bad=0) for _ in range(count)]
    figures["with_local_models_ms"] = round(median_ms(every, made), 3)
    sizes = {
        size: median_ms(
            runner, [record(rng, good=1, bad=1, size=size) for _ in range(max(5, count // 10))]
        )
        for size in (1, 4, 16)
    }
    figures["ms_by_size"] = {str(size): round(ms, 3) for size, ms in sizes.items()}
    values = {name: figures[f"{name}_cold_ms"] for name in kinds}
    assert all(isinstance(value, float) for value in values.values())
    bars = (
        {}
        if small
        else {
            "two good quotes <= 1 ms": values["two_good"] <= 1.0,  # type: ignore[operator]
            "five bad quotes <= 2 ms": values["five_bad"] <= 2.0,  # type: ignore[operator]
            "linear in text": sizes[16] <= 24 * sizes[1],
        }
    )
    finish("scoring", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
