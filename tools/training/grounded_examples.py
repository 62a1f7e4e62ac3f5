"""Collects answers with contexts for the groundedness model, from sets whose licence permits it.

Leaves out the questions of the sets that the model is measured on, and half of WiCE, by page.
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
"""Least words of evidence: ExpertQA keeps some sources as a bare address."""
A_DOCUMENT = 3
"""Most summaries of one SummEdits document."""
CUT = 2
"""Lines removed from a context, so that it no longer supports a sentence."""
MOSTLY = 0.35
"""Least share of a sentence's letters in the best removed line; with less, support may remain."""
DIALOGUE = {"hallucination": False, "entailment": True, "entailment,uncooperative": True}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An answer, its context, and whether the context supports it: labelled, or by construction.

    Examples of one `group` are never split between training and test.
    """

    source: str
    group: str
    question: str
    answer: str
    contents: tuple[str, ...]
    is_supported: bool


def examples(folder: Path) -> list[Example]:
    """All examples of the sets in a folder, `<name>.jsonl.gz`."""
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
    """The rows of a set; none if the folder lacks it."""
    path = folder / f"{name}.jsonl.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_held_out(row: Row) -> bool:
    """Whether a claim of WiCE is held out for measuring: half of the pages, by a hash."""
    return hashlib.sha256(group_of(row).encode()).digest()[0] % 2 == 0


def group_of(row: Row) -> str:
    """The unit that is never split: the set's group, else the first chunk's text, else the row."""
    chunks = row["chunks"]
    return str(row.get("group") or (chunks[0]["text"][:300] if chunks else row["id"]))


def is_supported(row: Row) -> bool | None:
    """The label of a row, whatever the set calls it; None where annotators disagreed."""
    if row.get("supported") is not None:
        return bool(row["supported"])
    return None if row.get("hallucinated") is None else not row["hallucinated"]


def example(source: str, row: Row) -> Example:
    """Converts a labelled row."""
    return Example(
        source=source,
        group=group_of(row),
        question=row["question"] or "",
        answer=row["answer"],
        contents=tuple(chunk["text"] or "" for chunk in row["chunks"]),
        is_supported=bool(is_supported(row)),
    )


def _keys(row: Row) -> set[str]:
    """The words of the question and of the answer: rows that share a key are near-duplicates."""
    return {
        key for text in (row["question"], row["answer"]) if (key := " ".join(words(text or "")))
    }


def _has_evidence(row: Row) -> bool:
    evidence = sum(len(chunk["text"].split()) for chunk in row["chunks"])
    return row["supported"] is not None and evidence >= LEAST_EVIDENCE


def _is_clear(row: Row) -> bool:
    return row["label"] in DIALOGUE


def _grounded_rows(folder: Path) -> Iterator[Row]:
    """Yields rows whose answer was written from their chunks."""
    for name in ("clapnq_dev", "mtrag_un"):
        yield from (row for row in read(folder, name) if not row["unanswerable"])
    used: Counter[str] = Counter()
    for row in read(folder, "summedits"):
        used[row["group"]] += not row["hallucinated"]
        if not row["hallucinated"] and used[row["group"]] <= A_DOCUMENT:
            yield row


def _with_and_without(row: Row) -> Iterator[Example]:
    """Yields each sentence of a grounded answer with its context, then without its best lines.

    The second is unsupported by construction.
    """
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
    """The context without the CUT lines most like a sentence; () if none is like enough."""
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
    for line in sorted(lines, key=lambda line: -line.start):  # from the end: offsets stay valid
        content = content[: line.start] + content[line.end :]
    return content
