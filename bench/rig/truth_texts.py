"""The texts of the second service: questions with the chunks and sentences that answer them.

Four routes: encyclopedia (CLAPNQ, long answers), web passages (RAGTruth, long answers), short facts
(HaluEval) and a town's services in German (`truth_german.toml`). The small size runs on those whose
samples are in the tests; the full size needs all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.rig.labelled import rows
from scorers.text.normalise import words
from scorers.text.sentences import sentences

GERMAN = Path(__file__).with_name("truth_german.toml")
SETS = {"/encyclopedia": "clapnq_dev", "/web": "ragtruth_qa", "/facts": "halueval_qa"}
LEAST_SHARED = 0.35
"""Least share of a sentence's words that the chunk it cites holds."""
MOST_SENTENCES, LEAST_WORDS = 7, 4
CHUNK_WORDS = 35


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A chunk of the corpus; `document_id` is shared by the chunks of one document."""

    chunk_id: str
    document_id: str
    text: str
    is_half: bool = False

    @property
    def origin(self) -> str:
        """The id of the chunk that it was made from, or its own."""
        return self.chunk_id.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of the right answer, and the chunk that supports it."""

    text: str
    chunk_id: str

    def stands_in(self, chunk: Chunk) -> bool:
        """Whether a chunk, or the half that is left of it, supports it."""
        if chunk.origin != self.chunk_id:
            return False
        own = set(words(self.text))
        is_whole = not chunk.is_half
        return is_whole or len(own & set(words(chunk.text))) >= LEAST_SHARED * len(own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a route; `number` is its place among all questions."""

    number: int
    route: str
    text: str
    sentences: tuple[Sentence, ...]
    language: str = "en"

    @property
    def gold(self) -> frozenset[str]:
        """The ids of the chunks that answer it."""
        return frozenset(sentence.chunk_id for sentence in self.sentences)

    @property
    def documents(self) -> frozenset[str]:
        """The documents of those chunks: their other chunks are about the same."""
        return frozenset(name.rpartition(".")[0] for name in self.gold)

    def answered_by(self, chunk: Chunk) -> bool:
        """Whether a chunk holds a sentence of the answer."""
        return any(sentence.stands_in(chunk) for sentence in self.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All questions, and the corpus of each route."""

    questions: tuple[Question, ...]
    corpora: dict[str, tuple[Chunk, ...]]

    def of(self, route: str) -> list[Question]:
        """The questions of a route."""
        return [question for question in self.questions if question.route == route]


def load_texts(*, each: int, small: bool = False) -> Texts:
    """At most `each` questions of every route.

    Raises:
        FileNotFoundError: a set is missing at full size. Other routes would be another service.
    """
    questions: list[Question] = []
    corpora: dict[str, tuple[Chunk, ...]] = {}
    for route, name in SETS.items():
        try:
            listed = rows(name, small=small)
        except FileNotFoundError as missing:
            if small:
                continue
            advice = f"no set {name}: RAGVIGIL_BENCH_DATA names no folder with data/{name}.jsonl.gz"
            raise FileNotFoundError(advice) from missing
        _add(route, list(_of_rows(route, listed)), questions, corpora, each)
    _add("/town", list(_german()), questions, corpora, each, language="de")
    return Texts(questions=tuple(questions), corpora=corpora)


Entry = tuple[str, list[Chunk], list[Sentence]]


def _add(
    route: str,
    entries: Sequence[Entry],
    questions: list[Question],
    corpora: dict[str, tuple[Chunk, ...]],
    each: int,
    language: str = "en",
) -> None:
    kept = entries[:each]
    for text, _, answer in kept:
        questions.append(
            Question(
                number=len(questions),
                route=route,
                text=text,
                sentences=tuple(answer),
                language=language,
            )
        )
    chunks = {chunk.chunk_id: chunk for _, listed, _ in kept for chunk in listed}
    corpora[route] = tuple(chunks.values())


def _of_rows(route: str, listed: Sequence[dict[str, Any]]) -> Iterator[Entry]:
    """A question once, with the first supported answer to it."""
    known: set[str] = set()
    for row in listed:
        question, answer = row["question"].strip(), (row.get("answer") or "").strip()
        is_bad = row.get("hallucinated") or row.get("unanswerable")
        is_refused = (
            row.get("refusal_form", "none") != "none" or row.get("quality", "good") != "good"
        )
        if not answer or is_bad or is_refused or question in known:
            continue
        name = f"{route[1:]}-{len(known)}"
        chunks = [
            Chunk(chunk_id=f"{name}.{place}.{n}", document_id=f"{name}.{place}", text=text)
            for place, passage in enumerate(_passages(row))
            for n, text in enumerate(_pieces(passage))
        ]
        supported = list(_supported(answer, chunks))
        if supported:
            known.add(question)
            yield question, chunks, supported


def _passages(row: dict[str, Any]) -> list[str]:
    """The passages of a row; the samples have their sentences instead."""
    if "chunks" in row:
        return [chunk["text"] for chunk in row["chunks"]]
    return [" ".join(sentence["text"] for sentence in row["sentences"])]


def _pieces(text: str) -> Iterator[str]:
    """A passage in chunks of whole sentences, of some CHUNK_WORDS words each."""
    piece: list[str] = []
    for sentence in sentences(text):
        piece += sentence.text.split()
        if len(piece) >= CHUNK_WORDS:
            yield " ".join(piece)
            piece = []
    if piece:
        yield " ".join(piece)


def _supported(answer: str, chunks: Sequence[Chunk]) -> Iterator[Sentence]:
    """The sentences of an answer that a chunk supports by its words; a short answer as it is."""
    texts = [" ".join(sentence.text.split()) for sentence in sentences(answer)]
    # Numbers of a list stand as sentences of their own.
    long = [text for text in texts if len(words(text)) >= LEAST_WORDS]
    for text in (long or texts)[:MOST_SENTENCES]:
        own = set(words(text))
        shares = [(len(own & set(words(chunk.text))) / max(1, len(own)), chunk) for chunk in chunks]
        share, best = max(shares, key=lambda pair: pair[0])
        if own and share >= LEAST_SHARED:
            yield Sentence(text=text, chunk_id=best.chunk_id)


def _german() -> Iterator[Entry]:
    for document in tomllib.loads(GERMAN.read_text("utf-8"))["document"]:
        facts, name = document["facts"], f"town-{document['name']}"
        for start in range(0, len(facts), 2):
            pair = facts[start : start + 2]
            chunk = Chunk(
                chunk_id=f"{name}.{start // 2}",
                document_id=name,
                text=" ".join(text for _, text in pair),
            )
            for question, text in pair:
                yield question, [chunk], [Sentence(text=text, chunk_id=chunk.chunk_id)]
