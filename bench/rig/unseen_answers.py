"""Answers of labelled sets that people judged supported, with citations: the markers are ours.

Each sentence gets a marker `[n]` of the chunk that supports it: the only chunk, those with the
sentences that annotators named, or else the chunk that repeats most of its pairs of words.
Where a set gives an answer fewer than CHUNKS chunks, chunks of other groups follow that BM25 finds
for the answer. A group of a set lies on one half for good, by the hash of its id: what is
tuned is tuned on *fit*; *measure* is for figures.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.rig.labelled import rows
from scorers.text.normalise import words
from scorers.text.sentences import sentences

CHUNKS, MOST_CHUNKS = 5, 8
MOST_OF_A_GROUP = 5
"""Answers of a group: a set that edits one summary twenty times has still one voice."""
MARKER = re.compile(r"\s*\[\d+\]")
STOP = re.compile(r"[.!?…]*$")
LEAST_WORDS = 4
"""Shorter sentences, numbers of lists and lead-ins with a colon are not cited."""
Row = dict[str, Any]
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedAnswer:
    """An answer; `support` holds each sentence's offsets and the places of its chunks."""

    of: str
    group: str
    question: str
    text: str
    chunks: tuple[str, ...]
    support: tuple[tuple[int, int, Places], ...]

    def cited(self, shift: int = 0) -> str:
        """The text with `[n]` before the stop of each sentence; `shift` moves every marker on."""
        parts, behind = [], 0
        for start, end, places in self.support:
            stop = STOP.search(self.text[start:end])
            at = start + stop.start() if stop else end
            numbers = [(place + shift) % len(self.chunks) + 1 for place in places]
            parts += [self.text[behind:at], " ", *(f"[{number}]" for number in numbers)]
            behind = at
        return "".join([*parts, self.text[behind:]])


def is_fit(group: str) -> bool:
    """Whether a group may be looked at while something is tuned: half of them, by their hash."""
    return hashlib.sha256(f"unseen/{group}".encode()).digest()[0] % 2 == 0


def group_of(row: Row) -> str:
    """The group that is never split; a row without is its own."""
    return str(row.get("group") or row["id"])


def chunks_of(row: Row, least: int = 0) -> Iterator[str]:
    """The texts of a row's chunks that people judged at least so relevant, or did not judge.

    A sample without chunks has the sentences of its one chunk.
    """
    said = {"text": " ".join(sentence["text"] for sentence in row.get("sentences") or ())}
    for chunk in row.get("chunks") or (said,):
        text = (chunk["text"] or "").strip()
        if text and (chunk.get("relevance") is None or chunk["relevance"] >= least):
            yield text


def _is_true(row: Row) -> bool:
    return row["hallucinated"] is False


def _is_supported(row: Row) -> bool:
    return row["supported"] is True


SETS: Mapping[str, Callable[[Row], bool]] = {
    "ragtruth_qa": lambda row: (
        _is_true(row) and row["quality"] == "good" and row["refusal_form"] == "none"
    ),
    "clapnq_dev": lambda row: bool(row["answer"]) and not row.get("unanswerable"),
    "mtrag_un": lambda row: row.get("label") == "ANSWERABLE",
    "expertqa_claims": _is_supported,
    "attributionbench_dev": _is_supported,
    "lfqa_verification": _is_supported,
    "wice_claims": _is_supported,
    "halueval_qa": _is_true,
    "summedits": _is_true,
    "dialogue_audit": lambda row: _is_true(row) and row["label"].startswith("entailment"),
    "begin": lambda row: row["label"] == "Fully attributable",
}
"""By set, which rows are supported answers."""


def supported_answers(name: str, *, small: bool = False) -> Iterator[SupportedAnswer]:
    """The supported answers of a set, each text once a group, in the order of the set."""
    pool = rows(name, small=small)
    near = Neighbours(pool)
    known: dict[str, set[str]] = defaultdict(set)
    for row in pool:
        answer = MARKER.sub("", row["answer"] or "").strip()
        own = list(chunks_of(row))
        of_group = known[group_of(row)]
        is_new = answer not in of_group and len(of_group) < MOST_OF_A_GROUP
        if not SETS[name](row) or not own or not answer or not is_new:
            continue
        of_group.add(answer)
        named = _named(row)
        kept = _kept(own, named)
        texts = [own[place] for place in kept]
        texts += near.of(answer, group_of(row), CHUNKS - len(texts))
        support = tuple(
            (
                sentence.start,
                sentence.end,
                tuple(kept.index(place) for place in named)
                or (_nearest(sentence.text, texts[: len(kept)]),),
            )
            for sentence in sentences(answer)
            if len(words(sentence.text)) >= LEAST_WORDS and not sentence.text.endswith(":")
        )
        yield SupportedAnswer(
            of=name,
            group=group_of(row),
            question=row.get("question") or "",
            text=answer,
            chunks=tuple(texts),
            support=support,
        )


def _named(row: Row) -> list[int]:
    """The places of the chunks whose sentences annotators named; none where they named none."""
    sets = row.get("supporting_sentence_sets")
    return sorted({sentence // row["window"] for sentence in sets[0]}) if sets else []


def _kept(own: Sequence[str], named: Sequence[int]) -> list[int]:
    """The places of MOST_CHUNKS chunks of a row, the named ones among them."""
    others = [place for place in range(len(own)) if place not in named]
    return sorted([*named, *others[: max(0, MOST_CHUNKS - len(named))]])


def _nearest(sentence: str, texts: Sequence[str]) -> int:
    """The place of the text that repeats most of a sentence's pairs of words, or else of words."""
    said = words(sentence)
    pairs, distinct = set(pairwise(said)), set(said)

    def shared(place: int) -> tuple[int, int]:
        written = words(texts[place])
        return len(pairs & set(pairwise(written))), len(distinct & set(written))

    return max(range(len(texts)), key=shared)


class Neighbours:
    """Finds chunks of other groups of a set that share words with a text, by BM25."""

    def __init__(self, pool: Sequence[Row]) -> None:
        import bm25s

        self._groups = {text: group_of(row) for row in pool for text in chunks_of(row)}
        self._texts = list(self._groups)
        self._index = bm25s.BM25()
        self._index.index(self._tokens(self._texts), show_progress=False)

    @staticmethod
    def _tokens(text: str | list[str]) -> Any:
        import bm25s

        return bm25s.tokenize(text, show_progress=False)

    def of(self, text: str, group: str, count: int) -> list[str]:
        """Up to `count` chunks of other groups, the nearest first."""
        if count <= 0:
            return []
        size = min(40, len(self._texts))
        hits, _ = self._index.retrieve(self._tokens(text), k=size, show_progress=False)
        texts = [self._texts[hit] for hit in hits[0]]
        return [text for text in texts if self._groups[text] != group][:count]
