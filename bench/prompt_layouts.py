"""Chunks read from prompts: how many of those that a layout shows, and how many where none are.

Layouts in `rig/prompt_layouts.toml` were in view when the reader was written, those in
`rig/prompt_layouts_held_out.toml` were not. Run: `.venv/bin/python bench/prompt_layouts.py`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.rig.layout_prompts import Prompt, call, layouts, prompt, without_context
from bench.rig.options import parse_small
from bench.rig.report import finish, progress
from collector.record.build import records
from ragvigil.model.record import ContextSource, RagRecord

SEED = 11
FILES = {"in view": "prompt_layouts.toml", "held out": "prompt_layouts_held_out.toml"}
RECALL, HELD_OUT_RECALL, QUESTIONS, FALSE = 0.98, 0.90, 0.98, 0.01


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one layout; a prompt is `whole` if exactly its chunks are read, in its order."""

    prompts: int = 0
    whole: int = 0
    questions: int = 0
    chunks: int = 0
    found: int = 0
    invented: int = 0
    named: int = 0
    right_ids: int = 0
    miss: str = ""


def judge(tally: Tally, shown: Prompt) -> None:
    """Reads one prompt and counts what is right."""
    record = next(iter(records(call(shown.messages))), None)
    read = record.context if record and record.context_source is ContextSource.PROMPT else ()
    texts, wanted = [document.content for document in read], [c.text for c in shown.chunks]
    tally.prompts += 1
    tally.whole += texts == wanted
    tally.questions += bool(record) and record.query == shown.question
    both = Counter(texts) & Counter(wanted)
    tally.chunks += len(wanted)
    tally.found += both.total()
    tally.invented += len(texts) - both.total()
    tally.named += len(shown.ids)
    tally.right_ids += sum(
        read_.chunk_id == own and read_.content == text
        for read_, own, text in zip(read, shown.ids, wanted, strict=False)
    )
    if texts != wanted and not tally.miss:
        tally.miss = f"{texts!r:.300}\n      want {wanted!r:.300}"
    elif record and record.query != shown.question and not tally.miss:
        tally.miss = f"question {record.query!r:.200}\n      want {shown.question!r:.200}"


def measured(file: str, each: int) -> dict[str, Tally]:
    """The tallies of a file's layouts, with so many prompts of each."""
    tallies = {}
    for layout in layouts(file):
        tally = tallies.setdefault(layout["name"], Tally())
        for number in range(each):
            judge(tally, prompt(layout, random.Random(f"{SEED}{layout['name']}{number}")))
    return tallies


def false_chunks(rounds: int) -> tuple[int, Counter[str]]:
    """How many prompts without chunks were read, and per kind how many were read wrongly.

    One with an empty context is an answer for which nothing was found; others are no RAG answer.
    """
    read, wrong = 0, Counter[str]()
    for number in range(rounds):
        for kind, messages, is_empty in without_context(random.Random(f"{SEED}{number}")):
            read += 1
            found = records(call(messages))
            wrong[kind] += not _found_nothing(found) if is_empty else bool(found)
    return read, +wrong


def _found_nothing(found: Sequence[RagRecord]) -> bool:
    """Whether there is one record, which says that nothing was retrieved."""
    return [(r.retrieved, r.context, "retrieved" in r.absent) for r in found] == [((), (), False)]


def share(tallies: Sequence[Tally], part: str, whole: str) -> float:
    """The share of one count in another over several layouts; 1 where nothing is counted."""
    total = sum(getattr(tally, whole) for tally in tallies)
    return round(sum(getattr(tally, part) for tally in tallies) / total, 4) if total else 1.0


def main() -> None:
    """Prints what each layout loses, then the JSON line."""
    small = parse_small(__doc__)
    figures: dict[str, object] = {}
    bars: dict[str, bool] = {}
    for group, file in FILES.items():
        by_name = measured(file, 5 if small else 60)
        tallies = list(by_name.values())
        for name, tally in by_name.items():
            progress(f"{name:48} whole {tally.whole}/{tally.prompts}  ids {tally.right_ids}/"
                     f"{tally.named}  questions {tally.questions}/{tally.prompts}")  # fmt: skip
            if tally.miss:
                progress(f"    {tally.miss}")
        recall = share(tallies, "found", "chunks")
        ids = share(tallies, "right_ids", "named")
        questions = share(tallies, "questions", "prompts")
        figures[group] = {
            "layouts": len(tallies), "prompts": sum(tally.prompts for tally in tallies),
            "chunks": recall, "ids": ids, "questions": questions,
            "whole": share(tallies, "whole", "prompts"),
            "invented": share(tallies, "invented", "chunks"),
        }  # fmt: skip
        least = RECALL if group == "in view" else HELD_OUT_RECALL
        bars[f"{group}: chunks and ids >= {least}"] = min(recall, ids) >= least
        bars[f"{group}: questions >= {least}"] = questions >= least
    read, wrong = false_chunks(3 if small else 20)
    for kind, times in wrong.items():
        progress(f"chunks in a prompt without any: {kind} ({times})")
    figures |= {"without context": read, "with false chunks": wrong.total()}
    bars[f"false chunks in <= {FALSE} of prompts without context"] = wrong.total() <= FALSE * read
    finish("prompt_layouts", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
