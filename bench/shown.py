"""Which retrieved chunks a prompt shows: generated prompts over chunks that are hard to tell apart.

    .venv/bin/python bench/shown.py [--small] [--explain]

A chunk is wrong if it counts as context and the prompt does not show it, missed if it is shown and
does not count; prompts come from `bench/rig/shown_prompts.py`. In the captured sets a chunk is
missed if a prompt holds its text letter by letter. `--explain` prints what went wrong.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.rig.captures import captured_sets, load
from bench.rig.options import parse_explain
from bench.rig.report import SAMPLES, bench_data, finish, progress
from bench.rig.shown_prompts import Shown, shown_prompts
from collector.claims.prompt_match import positions
from collector.record.build import records
from ragvigil.model.record import ContextSource, Document

SEED = 19
PROMPTS, SMALL = 6_000, 2_000
RECALL = 0.999
MILLISECONDS = 3.0
"""Of one prompt, with about seven chunks of 500 characters, on a busy core."""


def found(case: Shown) -> list[str]:
    """The ids of the chunks that the prompt shows by the search, in its order."""
    return _in_order(case.documents, case.prompt)


def _in_order(documents: tuple[Document, ...], prompt: str) -> list[str]:
    places = zip(positions(documents, prompt), documents, strict=True)
    return [
        chunk_id
        for _, chunk_id in sorted(
            (place, document.chunk_id) for place, document in places if place is not None
        )
    ]


def counted(case: Shown, ids: list[str]) -> Counter[str]:
    """What is right and wrong about the chunks that were found in a prompt."""
    shown, held = set(case.ids), set(ids)
    both = shown & held
    return Counter(
        prompts=1,
        shown=len(shown),
        hidden=len(case.documents) - len(shown),
        wrong=len(held - shown),
        missed=len(shown - held),
        prompts_wrong=int(bool(held - shown)),
        disordered=int([i for i in ids if i in both] != [i for i in case.ids if i in both]),
    )


def generated(count: int, *, explain: bool) -> tuple[Counter[str], float]:
    """The counts of all generated prompts, and the seconds of CPU that the search took."""
    counts: Counter[str] = Counter()
    seconds = 0.0
    for case in shown_prompts(count, random.Random(SEED)):
        begun = time.process_time()
        ids = found(case)
        seconds += time.process_time() - begun
        counts += counted(case, ids)
        if explain and ids != list(case.ids):
            progress(f"{case.kind}: {ids} for {list(case.ids)} of {len(case.documents)}")
    return counts, seconds


def captured(folder: Path) -> Iterator[tuple[int, int]]:
    """By answer with retrieved chunks, how many of them its model calls hold, and how many count.

    Only what stands in a prompt letter by letter, and nowhere within another chunk.
    """
    for path in captured_sets(folder):
        for trace in load(path).traces.values():
            values = [str(value) for span in trace.spans if "LLM" in str(span.attributes)
                      for key, value in span.attributes.items() if "message" in key]  # fmt: skip
            for record in records(trace):
                if record.context_source not in (ContextSource.RETRIEVED, ContextSource.RERANKED):
                    continue
                texts = {document.content for document in record.retrieved if document.content}
                held = {text for text in texts if any(text in value for value in values)}
                inner = {text for text in held if any(text in other for other in held - {text})}
                context = {document.content for document in record.context}
                yield len(held - inner), len((held - inner) & context)


def main() -> None:
    """Measures and prints."""
    given = parse_explain(__doc__)
    small, data = given.small, bench_data()
    counts, seconds = generated(SMALL if small else PROMPTS, explain=given.explain)
    progress("generated prompts done")
    folder = SAMPLES / "otlp" if small or data is None else data / "captures"
    held, kept = map(sum, zip(*captured(folder), strict=True))
    milliseconds = seconds / counts["prompts"] * 1000
    figures: dict[str, object] = {
        **{name: counts[name] for name in
           ("prompts", "shown", "hidden", "wrong", "missed", "disordered")},
        "captured_chunks_held": held,
        "captured_chunks_in_context": kept,
        "milliseconds_a_prompt": round(milliseconds, 2),
    }  # fmt: skip
    bars = {
        "0 chunks as context that the prompt does not show": counts["wrong"] == 0,
        f"of the shown chunks {RECALL} found": counts["missed"] <= (1 - RECALL) * counts["shown"],
        "all in the order of the prompt": counts["disordered"] == 0,
        "no recall lost on the captured sets": kept == held > 0,
    }
    if not small:
        bars[f"milliseconds a prompt <= {MILLISECONDS}"] = milliseconds <= MILLISECONDS
    finish("shown", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
