"""Context recall: were the chunks that contain the answer retrieved?

    >>> from ragvigil import Document, RagRecord
    >>> from scorers.golden import parse_case
    >>> case = parse_case({"question": "How long is it?", "gold_chunk_ids": ["a", "b"]})
    >>> chunks = (Document(chunk_id="x"), Document(chunk_id="a"))
    >>> record = RagRecord(record_id="1", trace_id="1", query="how long is it", retrieved=chunks)
    >>> score = ContextRecall([case]).score(record)
    >>> score.value, score.explanation, score.details["mrr"]
    (0.5, '1 of 2 gold chunks retrieved', 0.5)

The share of a golden case's chunks that were retrieved, for records that ask the case's question. A
gold chunk matches by its id (that of a chunk or of its document) or by its text: one contains the
other, or they share nine of ten words. After the corpus was split differently, it also matches if
the retrieved chunks together contain nine tenths of it; its rank is that of the last one needed.
Not applicable where the spans lack the ids or texts to compare: unknown never counts as missed.
Range 0..1. Hit rate, MRR, precision and nDCG (Jarvelin and Kekalainen 2002) are in the details.

A question is a golden one if it has the same words; where local models are installed, also if it is
near-identical (`local/golden_questions.py`). Chunks are not matched by embeddings: in a corpus that
was split differently, all-MiniLM-L6-v2 is as near to other passages on the same question as to the
halves of a gold chunk (at 1 % false matches it finds under a fifth of them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import log2
from typing import Self

from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Score
from scorers.absence import first_absent
from scorers.golden import Case, Gold, question_key, read_golden
from scorers.settings import ScorersSettings
from scorers.text.normalise import key, length, words

CUTOFFS = (1, 3, 5, 10, 50)
NEAR = 0.9
"""Two texts are the same from this share of common words, of the text with more distinct words."""
FEWEST = 8
"""Least distinct words for that rule: one changed word among fewer changes what a text says."""
RUN = 4
"""Words in a row that locate a part of a gold text; characters count half, as in `length`."""
FRAGMENT = 4
"""Least words of a chunk that counts as a part of the gold text containing it."""
SHOWN = 60
"""Characters of a gold text that name it in the details, where it has no id."""


class ContextRecall:
    """Scores `context_recall`."""

    rubric = "context_recall"

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._cases = {question_key(case.question): case for case in cases}

    @classmethod
    def from_settings(cls, settings: ScorersSettings) -> Self:
        """A scorer with the cases of `[scorers] golden`. Raises BadGolden."""
        return cls(read_golden(settings.golden).values() if settings.golden else ())

    def score(self, record: RagRecord) -> Score:
        """Scores the share of gold chunks that were retrieved; details hold the ranking metrics."""
        if not self._cases:
            return Score.not_applicable(self.rubric, "no golden file")
        field, reason = first_absent(record, ("query", "retrieved"))
        if field:
            return Score.not_applicable(self.rubric, reason, absent=field)
        case = self._cases.get(question_key(record.query or ""))
        if case is None:
            return Score.not_applicable(self.rubric, "no golden case asks this")
        if not case.gold:
            return Score.not_applicable(self.rubric, "the golden case has no gold chunks")
        places = matches(case.gold, record.retrieved)
        unseen = _unknown_field(
            record, [gold for gold, at in zip(case.gold, places, strict=True) if not at]
        )
        if unseen:
            reason = f"{unseen} is not wholly known, so a gold chunk may be there unseen"
            return Score.not_applicable(self.rubric, reason, absent=unseen)
        return self._scored(case, places, record.retrieved)

    def _scored(
        self, case: Case, places: Sequence[Sequence[int]], retrieved: Sequence[Document]
    ) -> Score:
        missing = [gold for gold, at in zip(case.gold, places, strict=True) if not at]
        hits = len(case.gold) - len(missing)
        return Score(
            rubric=self.rubric,
            value=hits / len(case.gold),
            label="" if hits else "missed",
            explanation=f"{hits} of {len(case.gold)} gold chunks retrieved",
            details={
                "matched": "words",
                **ranking(places),
                "found": [retrieved[min(at)].chunk_id for at in places if at],
                "missing": [gold.chunk_id or gold.text[:SHOWN] for gold in missing],
                "slice": case.slice,
                "query_type": case.query_type,
            },
        )


def ranking(places: Sequence[Sequence[int]]) -> Mapping[str, float]:
    """Hit rate, recall, precision and nDCG at each cut-off, and MRR; `places` is by gold chunk.

    nDCG counts only the first chunk that matches each gold chunk, so that repeats earn nothing.

    >>> metrics = ranking([[1, 4], []])
    >>> [metrics[name] for name in ("hit@1", "hit@3", "recall@3", "precision@5", "mrr")]
    [0.0, 1.0, 0.5, 0.4, 0.5]
    """
    firsts = {min(at) for at in places if at}
    numbers = {"mrr": 1 / (min(firsts) + 1) if firsts else 0.0}
    for k in CUTOFFS:
        within = sum(any(place < k for place in at) for at in places)
        relevant = {place for at in places for place in at if place < k}
        numbers[f"hit@{k}"] = float(within > 0)
        numbers[f"recall@{k}"] = within / len(places)
        numbers[f"precision@{k}"] = len(relevant) / k
        ideal = _gain(range(min(k, len(places))))
        numbers[f"ndcg@{k}"] = min(1.0, _gain(place for place in firsts if place < k) / ideal)
    return numbers


def _gain(places: Iterable[int]) -> float:
    return sum(1 / log2(place + 2) for place in sorted(places))


def matches(gold: Sequence[Gold], chunks: Sequence[Document]) -> list[list[int]]:
    """For each gold chunk, the places (from 0) of the retrieved chunks that match it."""
    texts = [words(chunk.content or "") for chunk in chunks]
    found_places = []
    for wanted_chunk in gold:
        text = words(wanted_chunk.text)
        places = [
            place
            for place, chunk in enumerate(chunks)
            if (
                wanted_chunk.chunk_id
                and wanted_chunk.chunk_id in (chunk.chunk_id, chunk.document_id)
            )
            or is_same_text(text, texts[place])
        ]
        found_places.append(places or covering_place(text, texts))
    return found_places


def covering_place(gold: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    """The place at which the texts so far contain nearly all words of a gold text, in runs; or [].

    >>> gold = words("Card refunds take five days. Vouchers are never paid out in cash.")
    >>> begin = words("Card refunds take five days.")
    >>> covering_place(gold, [words("Card refunds take five days. Vouchers are"), words("Shops.")])
    []
    >>> covering_place(gold, [begin, words("Vouchers are never paid out.")])
    []
    >>> covering_place(gold, [begin, words("Vouchers are never paid out in cash, by any shop.")])
    [1]
    """
    if len(gold) < FEWEST:
        return []
    places = (place for place, n in enumerate(covered(gold, texts)) if n >= NEAR * len(gold))
    return list(islice(places, 1))


def covered(gold: Sequence[str], texts: Sequence[Sequence[str]]) -> Iterator[int]:
    """For each text, how many words of a gold text it and those before it contain, in runs.

    >>> gold = words("Card refunds take five days.")
    >>> list(covered(gold, [words("Shops."), words("All refunds take five days.")]))
    [0, 4]
    """
    # In a text of mostly unspaced script, a word is one character: runs are twice as long.
    run = RUN if length(gold) > 0.75 * len(gold) else 2 * RUN
    starts: dict[tuple[str, ...], list[int]] = {}
    for start, words_there in enumerate(_runs(gold, run)):
        starts.setdefault(words_there, []).append(start)
    places: set[int] = set()
    for text in texts:
        for words_there in _runs(text, run):
            for start in starts.get(words_there, ()):
                places.update(range(start, start + run))
        yield len(places)


def _runs(text: Sequence[str], run: int) -> Iterator[tuple[str, ...]]:
    return zip(*(text[first:] for first in range(run)), strict=False)


def is_same_text(gold: Sequence[str], chunk: Sequence[str]) -> bool:
    """Whether one of two texts, as words, contains the other, or they share nearly all words.

    >>> is_same_text(words("Refunds take 5 days."), words("Note: refunds take 5 days, mostly."))
    True
    >>> is_same_text(words("Refunds take 5 days."), words("Refunds take 15 days."))
    False
    """
    if not gold or not chunk:
        return False
    if key(gold) in key(chunk) or (length(chunk) >= FRAGMENT and key(chunk) in key(gold)):
        return True
    gold_words, other = set(gold), set(chunk)
    most = max(len(gold_words), len(other))
    return most >= FEWEST and len(gold_words & other) >= NEAR * most


def _unknown_field(record: RagRecord, missing: Sequence[Gold]) -> str:
    """The absent field because of which a missing gold chunk may have been retrieved; or ""."""
    if missing and "retrieved" in record.truncated:
        return "retrieved"
    # Read from the retrieved chunks: `absent` also covers chunks that were read from the prompt.
    has_ids = all(chunk.chunk_id not in ("", chunk.text_hash) for chunk in record.retrieved)
    has_texts = all(chunk.content is not None for chunk in record.retrieved)
    for gold in missing:
        if not (gold.chunk_id and has_ids) and not (gold.text and has_texts):
            return "document_ids" if gold.chunk_id and not gold.text else "document_texts"
    return ""
