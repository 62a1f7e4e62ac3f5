"""Sentences that refuse, state something or do neither, for the model of refusals.

Written ones lie in `refusal_wordings/<language>.txt`. A line there is a mark and a sentence: `R`
refuses, `S` states something, `C` does neither (courtesy, advice, what was searched). `(a|b)` is a
choice; `<Q>` stands for an indirect question and `<T>` for a topic, listed under those marks.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from bench.refusal import LEARNED, RIG, WHOLE_SETS, is_full, is_measured
from scorers.text.own_words import own_words
from scorers.text.refusal_patterns import refusing_by_words
from scorers.text.refusal_signs import signs, spoken
from scorers.text.sentences import sentences

WORDINGS = Path(__file__).parent / "refusal_wordings"
A_LINE = 6
"""Sentences made of one line."""
MADE, WRITTEN, LABELLED = 2.0, 2.0, 0.5
"""Weight of all sentences of a line together, of a written one, and of one of a labelled answer:
these are long and many."""
ONE_OF = 3
"""One in so many labelled answers is learned from."""
MARKS = {"R": "refuses", "S": "states", "C": "neither"}
_CHOICE = re.compile(r"\(([^()]*)\)")
_FORMS = {"answer": "states", "partial": "partial"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The signs of a sentence, its class of `refusal_model.CLASSES`, and how much it counts."""

    signs: frozenset[str]
    kind: str
    weight: float


def examples(folder: Path) -> Iterator[Example]:
    """All sentences, the same on each call; `folder` holds the labelled sets."""
    yield from made()
    for name in LEARNED:
        for line in (RIG / name).read_text("utf-8").splitlines():
            row = json.loads(line)
            kind = _FORMS.get(row["form"], "refuses")
            yield from _sentences_of(row["text"], kind, WRITTEN)
    for answer in labelled(folder):
        yield from _sentences_of(answer, "states", LABELLED)


def made() -> Iterator[Example]:
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
                yield from _sentences_of(sentence, MARKS[mark], MADE / len(drawn), whole=True)


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


def _sentences_of(
    answer: str, kind: str, weight: float, *, whole: bool = False
) -> Iterator[Example]:
    """The sentences of an answer. Of a refusal with several, the words say which refuses."""
    texts = [part.text for part in sentences(own_words(answer)) if part.text.strip()]
    kinds: Iterable[str | None] = [kind] * len(texts)
    if not whole and (kind == "partial" or (kind == "refuses" and len(texts) > 1)):
        kinds = _sorted_out(answer, texts, kind)
    language = spoken(texts)
    for text, own in zip(texts, kinds, strict=True):
        if own is not None:
            yield Example(signs=signs(text, language), kind=own, weight=weight)


def _sorted_out(answer: str, texts: list[str], kind: str) -> list[str | None]:
    """The class of each sentence; none where a partial answer may refuse and state in one."""
    refusing = {part.text for part in refusing_by_words(answer)}
    if not refusing or (kind == "partial" and len(texts) == 1):
        return [None] * len(texts)
    beside = "states" if kind == "partial" else "neither"
    return ["refuses" if text in refusing else beside for text in texts]
