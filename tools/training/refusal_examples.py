"""Sentences that refuse, state something or do neither, for the model of refusals.

Written ones lie in `refusal_wordings/<language>.txt`. A line there is a mark and a sentence: `R`
refuses, `S` states something, `C` does neither (courtesy, advice, what was searched). `(a|b)` is a
choice; `<Q>` stands for an indirect question and `<T>` for a topic, listed under those marks.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import numpy as np

from bench.refusal import LEARNED, RIG, WHOLE_SETS, form_of, is_full, is_measured
from scorers.text.own_words import own_words
from scorers.text.refusal_clauses import divided
from scorers.text.refusal_model import CLASSES, Floats
from scorers.text.refusal_patterns import refusing_by_words
from scorers.text.refusal_signs import signs, spoken
from scorers.text.sentences import sentences

WORDINGS = Path(__file__).parent / "refusal_wordings"
A_LINE = 6
"""Sentences made of one line."""
MADE, WRITTEN, LABELLED = 2.0, 2.0, 0.5
"""Weight of all sentences of a line together, of a written one, and of one of a labelled answer:
these are long and many."""
OF_CLAUSES = 0.5
"""Weight of the clauses of a written answer, of that of the answer."""
SURELY = 1.0
"""Log odds from which a sentence refuses beside one that refuses more."""
ONE_OF = 3
"""One in so many labelled answers is learned from."""
MARKS = {"R": "refuses", "S": "states", "C": "neither"}
_CHOICE = re.compile(r"\(([^()]*)\)")
_KINDS = {"answer": "states", "partial": "partial", "refusal": "refuses"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The signs of a sentence, its class of `refusal_model.CLASSES`, and how much it counts."""

    signs: frozenset[str]
    kind: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is known of an answer: its class as a whole, or `partial`.

    `divisions`: where a written answer is one sentence, its clauses with the rest of each.
    `origin`: the set of wordings it is from.
    """

    kind: str
    weight: float
    sentences: tuple[frozenset[str], ...]
    named: tuple[bool, ...]
    divisions: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    origin: str = ""
    language: str = ""


Odds = Callable[[frozenset[str]], Floats]
"""The log odds of each class, for the signs of a sentence."""


def examples(answers: Iterable[Answer], odds: Odds | None) -> Iterator[Example]:
    """The sentences of answers. Where an answer has several, `odds` say which of them refuses.

    `odds` are of a model that learned before; where there is none, the patterns say it.
    """
    for answer in answers:
        kinds = _sorted_out(answer, odds)
        for own, kind in zip(answer.sentences, kinds, strict=True):
            if kind is not None:
                yield Example(signs=own, kind=kind, weight=answer.weight)
        if odds is not None and answer.divisions:
            yield from _of_clauses(answer, odds)


def _sorted_out(answer: Answer, odds: Odds | None) -> list[str | None]:
    """The class of each sentence; none where it is not known."""
    count = len(answer.sentences)
    if answer.kind in CLASSES and (answer.kind != "refuses" or count == 1):
        return [answer.kind] * count
    is_partial = answer.kind == "partial"
    if is_partial and count == 1:
        return [None]
    if odds is None:
        beside = "states" if is_partial else "neither"
        return [
            ("refuses" if named else beside) if any(answer.named) else None
            for named in answer.named
        ]
    return _by_odds([odds(own) for own in answer.sentences], is_partial)


def _by_odds(sentences: Sequence[Floats], is_partial: bool) -> list[str | None]:
    """The likeliest sentence refuses; in a partial answer the unlikeliest one states something."""
    ahead = [float(refuses - max(states, neither)) for refuses, states, neither in sentences]
    kinds: list[str | None] = [
        "refuses" if own > SURELY else None if is_partial else "neither" for own in ahead
    ]
    if is_partial:
        stating = max(range(len(ahead)), key=lambda at: sentences[at][1] - sentences[at][0])
        kinds[stating] = "states"
        ahead[stating] = -np.inf
    kinds[ahead.index(max(ahead))] = "refuses"
    return kinds


def _of_clauses(answer: Answer, odds: Odds) -> Iterator[Example]:
    """The clause that refuses and the rest, or all clauses of an answer in full."""
    share = answer.weight * OF_CLAUSES
    if answer.kind == "states":
        for clause, _ in answer.divisions:
            yield Example(signs=clause, kind="states", weight=share / len(answer.divisions))
        return
    rest_kind = "states" if answer.kind == "partial" else "neither"
    at = CLASSES.index(rest_kind)

    def fit(pair: tuple[frozenset[str], frozenset[str]]) -> float:
        clause, rest = odds(pair[0]), odds(pair[1])
        return float(clause[0] - max(clause[1:]) + rest[at] - np.delete(rest, at).max())

    clause, rest = max(answer.divisions, key=fit)
    yield Example(signs=clause, kind="refuses", weight=share)
    yield Example(signs=rest, kind=rest_kind, weight=share)


def known_answers(folder: Path) -> Iterator[Answer]:
    """All answers, the same on each call; `folder` holds the labelled sets."""
    yield from made()
    for name in LEARNED:
        for line in (RIG / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            answer = _read(row["text"], _KINDS[form_of(row)], WRITTEN, is_written=True)
            yield replace(answer, origin=name, language=row["language"])
    for text in labelled(folder):
        yield replace(_read(text, "states", LABELLED), language="en")


def made() -> Iterator[Answer]:
    """The sentences of the written lines."""
    for path in sorted(WORDINGS.glob("*.txt")):
        lines = [line.split(" ", 1) for line in path.read_text("utf-8").splitlines()]
        choices = {mark: text for mark, text in lines if mark not in MARKS}
        for mark, text in lines:
            if mark not in MARKS:
                continue
            chance = Random(crc32((path.stem + text).encode()))
            drawn = sorted({_filled(text, choices, chance) for _ in range(A_LINE)})
            for sentence in drawn:
                answer = _read(sentence, MARKS[mark], MADE / len(drawn), is_sentence=True)
                yield replace(answer, language=path.stem)


def _filled(text: str, choices: Mapping[str, str], chance: Random) -> str:
    for mark, listed in choices.items():
        text = text.replace(f"<{mark}>", f"({listed})")
    while True:
        filled = _CHOICE.sub(lambda match: chance.choice(match[1].split("|")), text)
        if filled == text:
            return text[:1].upper() + text[1:]
        text = filled


def labelled(folder: Path) -> Iterator[str]:
    """Answers in full of the half of the labelled sets that is not measured."""
    for name in WHOLE_SETS:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if is_full(row) and not is_measured(row) and _is_drawn(row):
                    yield row["answer"]


def _is_drawn(row: Mapping[str, Any]) -> bool:
    return crc32(row["answer"].encode()) % ONE_OF == 0


def _read(
    answer: str, kind: str, weight: float, *, is_written: bool = False, is_sentence: bool = False
) -> Answer:
    """The signs of an answer's sentences, and whether a pattern names each.

    `is_sentence`: made as one sentence, however it splits; `is_written`: read by its clauses too.
    """
    texts = [part.text for part in sentences(own_words(answer)) if part.text.strip()]
    language = spoken(texts)
    if is_sentence:
        texts = texts[:1] if kind == "refuses" else texts
    named = {part.text for part in refusing_by_words(answer)} if len(texts) > 1 else set()
    pairs = divided(texts[0], language) if is_written and len(texts) == 1 else ()
    return Answer(
        kind=kind,
        weight=weight,
        sentences=tuple([signs(text, language) for text in texts]),
        named=tuple([text in named for text in texts]),
        divisions=tuple([(signs(one, language), signs(two, language)) for one, two in pairs]),
    )
