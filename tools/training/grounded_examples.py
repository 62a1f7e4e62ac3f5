"""Answers with contexts from which the model of groundedness learns: shippable sets alone.

Questions of the sets that it is measured on are left out, and so is half of WiCE, by page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorers.text.normalise import words
from scorers.text.sentences import Sentence, sentences

MEASURED_ON = ("ragtruth_qa", "attributionbench_dev", "lfqa_verification")
LEAST_EVIDENCE = 30
"""Words of evidence: ExpertQA keeps some sources as a bare address."""
A_DOCUMENT = 3
"""Summaries taken of one SummEdits document."""
CUT = 2
MOSTLY = 0.35
"""Share of a sentence's words in the lines that are cut out; under it nothing is known to go."""
DIALOGUE = {"hallucination": False, "entailment": True, "entailment,uncooperative": True}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An answer, its context, and whether people say (or we made sure) that it is supported."""

    source: str
    group: str
    question: str
    answer: str
    contents: tuple[str, ...]
    is_supported: bool


def examples(folder: Path) -> list[Example]:
    """Every example of the sets in a folder, `<name>.jsonl.gz`."""
    held_out = {key for name in MEASURED_ON for row in read(folder, name) for key in _keys(row)}
    sources = {
        "wice": (row for row in read(folder, "wice_claims") if not is_held_out(row)),
        "expertqa": filter(_has_evidence, read(folder, "expertqa_claims")),
        "dialogue": filter(_is_clear, read(folder, "dialogue_audit")),
        "small_talk": (r for r in read(folder, "dialogue_audit") if r["label"] == "generic"),
    }
    labelled = [
        example(source, row)
        for source, rows in sources.items()
        for row in rows
        if held_out.isdisjoint(_keys(row))
    ]
    grounded = (row for row in _grounded_rows(folder) if held_out.isdisjoint(_keys(row)))
    return labelled + [pair_example for row in grounded for pair_example in _with_and_without(row)]


def read(folder: Path, name: str) -> list[Row]:
    """The rows of a set; none where the folder lacks it."""
    path = folder / f"{name}.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_held_out(row: Row) -> bool:
    """Whether a claim of WiCE is kept for measuring: half of the pages, by a hash of their text."""
    return hashlib.sha256(group_of(row).encode()).digest()[0] % 2 == 0


def group_of(row: Row) -> str:
    """What is never split: the set's group, else the first chunk's text, else the row."""
    chunks = row["chunks"]
    return str(row.get("group") or (chunks[0]["text"][:300] if chunks else row["id"]))


def is_supported(row: Row) -> bool | None:
    """The label of a row, whatever the set calls it; None where people did not agree."""
    if row.get("supported") is not None:
        return bool(row["supported"])
    return None if row.get("hallucinated") is None else not row["hallucinated"]


def example(source: str, row: Row) -> Example:
    """A labelled row as an example."""
    return Example(
        source=source,
        group=group_of(row),
        question=row["question"] or "",
        answer=row["answer"],
        contents=tuple(chunk["text"] or "" for chunk in row["chunks"]),
        is_supported=bool(is_supported(row)),
    )


def _keys(row: Row) -> set[str]:
    """The question and the answer, in words: rows that share one are about the same."""
    return {
        key for text in (row["question"], row["answer"]) if (key := " ".join(words(text or "")))
    }


def _has_evidence(row: Row) -> bool:
    evidence = sum(len(chunk["text"].split()) for chunk in row["chunks"])
    return row["supported"] is not None and evidence >= LEAST_EVIDENCE


def _is_clear(row: Row) -> bool:
    return row["label"] in DIALOGUE


def _grounded_rows(folder: Path) -> Iterator[Row]:
    """Rows whose answer was written from their chunks."""
    for name in ("clapnq_dev", "mtrag_un"):
        yield from (row for row in read(folder, name) if not row["unanswerable"])
    used: Counter[str] = Counter()
    for row in read(folder, "summedits"):
        used[row["group"]] += not row["hallucinated"]
        if not row["hallucinated"] and used[row["group"]] <= A_DOCUMENT:
            yield row


def _with_and_without(row: Row) -> Iterator[Example]:
    """Each sentence of a grounded answer twice: its context, and that without its best lines."""
    contents = tuple(chunk["text"] for chunk in row["chunks"] if (chunk["text"] or "").strip())
    group = f"{row['task_type']} {group_of(row)}"
    for sentence in sentences(row["answer"]):
        for context, label in ((contents, True), (_without(contents, sentence.text), False)):
            if context:
                yield Example(
                    source="cut_out",
                    group=group,
                    question=row["question"] or "",
                    answer=sentence.text,
                    contents=context,
                    is_supported=label,
                )


def _without(contents: Sequence[str], sentence: str) -> tuple[str, ...]:
    """The context without the lines that hold most of a sentence; () where none holds enough."""
    sentence_words = set(words(sentence))
    ranked = sorted(
        (
            (-_share_held(sentence_words, line.text), place, line.start, line)
            for place, content in enumerate(contents)
            for line in sentences(content)
        ),
    )[:CUT]
    if not ranked or -ranked[0][0] < MOSTLY:
        return ()
    rest = [
        _cut(content, [line for _, at, _, line in ranked if at == place])
        for place, content in enumerate(contents)
    ]
    return tuple(content for content in rest if content.strip())


def _share_held(sentence_words: set[str], line: str) -> float:
    total = sum(map(len, sentence_words))
    return sum(map(len, sentence_words.intersection(words(line)))) / total if total else 0.0


def _cut(content: str, lines: Iterable[Sentence]) -> str:
    for line in sorted(lines, key=lambda line: -line.start):
        content = content[: line.start] + content[line.end :]
    return content
