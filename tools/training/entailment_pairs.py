"""Collects pairs of a premise and a sentence for the entailment model, labelled or made by rule.

Reads only sets whose licence permits it, and of those that are measured on too the other half.
A line of a text is made into supported, unsupported and contradicted pairs. Each change is made to
the sentence, to the premise, or to both: neither of the two alone tells the label.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorers.grounding.entailment import Support
from scorers.grounding.premise import Premises, lines_of, stems
from scorers.text.sentences import sentences
from tools.training.entailment_edits import NAMES, SMALL_WORD, changed, paraphrased, spans
from tools.training.grounded_examples import (
    MEASURED_ON,
    examples,
    group_of,
    is_held_out,
    read,
)  # fmt: skip

SEED = 19
LEAST_WORDS, MOST_WORDS = 7, 45
"""Of a line that pairs are made from."""
A_TEXT = 4
"""Lines of one text that pairs are made from, before the share of its set."""
NEAR_TEXTS = 3
"""Lines of other texts, by BM25, that stand in for the line that was taken away."""
STILL_THERE = 0.75
"""Share of a line's words in another line: with more, the line was not taken away."""
DONORS = 12
"""Texts whose names and words are put in the place of others."""
HALVED = ("summedits", "wice_claims")
"""Sets of which one half is measured on: that of the groups that `is_held_out` keeps back."""
TEXTS = {
    "wice_claims": 700, "summedits": 64, "clapnq_dev": 175, "mtrag_un": 340, "expertqa_claims": 300,
    "dialogue_audit": 120, "halueval_qa": 172, "halueval_general": 900, "ragchecker_pairs": 280,
    "delucionqa_refusal": 250,
}  # fmt: skip
"""By set, the most texts that lines are taken from; the last three give answers, not chunks."""
ANSWERS = ("halueval_general", "ragchecker_pairs", "delucionqa_refusal")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A premise and a sentence.

    `wrong` has the parts of the sentence that make the label, as offsets; None where nobody knows
    them. Pairs of one `group` are never split between training and measuring.
    """

    source: str
    group: str
    premise: str
    sentence: str
    support: Support
    wrong: tuple[tuple[int, int], ...] | None = None


def pairs(folder: Path) -> list[Pair]:
    """All pairs from the sets in a folder, in an order that depends on nothing but the sets."""
    chance = random.Random(SEED)
    collected = [*labelled(folder), *edited_summaries(folder), *made(folder, chance)]
    return [pair for pair in collected if pair.premise and pair.sentence]


def labelled(folder: Path) -> Iterator[Pair]:
    """Sentences that people judged, and sentences of answers that were written from a context."""
    for example in examples(folder):
        said = list(sentences(example.answer))
        is_told = example.is_supported or len(said) == 1  # else any of them may be at fault
        if example.source == "small_talk" or _is_measured(example.group) or not is_told:
            continue
        premises = Premises(example.contents)
        for sentence in said:
            yield Pair(
                source=example.source,
                group=example.group,
                premise=premises.of(sentence.text),
                sentence=sentence.text,
                support=Support.SUPPORTED if example.is_supported else Support.NOT,
                wrong=() if example.is_supported else None,
            )


def _is_measured(group: str) -> bool:
    """Whether it is the group of a summary of SummEdits that is measured on."""
    task, _, summary = group.partition(" ")
    return task == "summarization" and is_held_out({"group": summary, "chunks": ()})


def edited_summaries(folder: Path) -> Iterator[Pair]:
    """Sentences of SummEdits: as written, edited without harm, edited into something else."""
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in read(folder, "summedits"):
        if not is_held_out(row):
            by_group[group_of(row)].append(row)
    for group, rows in by_group.items():
        premises = Premises([chunk["text"] for chunk in rows[0]["chunks"]])
        true = [row["answer"] for row in rows if not row["hallucinated"]]
        known = {sentence.text for answer in true for sentence in sentences(answer)}
        for sentence in sorted(known):
            yield _of_summary(group, premises, sentence, Support.SUPPORTED, ())
        false = {s.text for row in rows if row["hallucinated"] for s in sentences(row["answer"])}
        for sentence in sorted(false - known):
            nearest = max(sorted(known), key=lambda other: _likeness(other, sentence), default="")
            if _likeness(nearest, sentence) >= 0.5:
                wrong = spans(nearest, sentence)
                yield _of_summary(group, premises, sentence, Support.CONTRADICTED, wrong)


def _of_summary(
    group: str, premises: Premises, sentence: str, support: Support, wrong: Any
) -> Pair:
    return Pair(
        source="summedits", group=group, premise=premises.of(sentence), sentence=sentence,
        support=support, wrong=wrong,
    )  # fmt: skip


def _likeness(one: str, other: str) -> float:
    """The share of the words of two sentences that both have."""
    first, second = set(stems(one)), set(stems(other))
    return len(first & second) / max(1, len(first | second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text in lines."""

    source: str
    group: str
    lines: tuple[str, ...]


def texts(folder: Path, chance: random.Random) -> list[Text]:
    """The texts that pairs are made from: chunks of sets, and answers."""
    rows = [row for name in MEASURED_ON for row in read(folder, name)]
    measured = {chunk["text"] for row in rows for chunk in row["chunks"]}
    asked = {row["question"] for row in rows} - {None, ""}
    collected = []
    for name, most in TEXTS.items():
        found: dict[str, Text] = {}
        for row in read(folder, name):
            if row.get("question") in asked or (name in HALVED and is_held_out(row)):
                continue
            bodies = [row["answer"]] if name in ANSWERS else [c["text"] for c in row["chunks"]]
            for body in bodies:
                if body and body not in measured:
                    found[body] = Text(
                        source=name, group=group_of(row), lines=tuple(lines_of(body))
                    )
        kept = [text for text in found.values() if any(map(_is_statement, text.lines))]
        collected += chance.sample(kept, min(most, len(kept)))
    return collected


def _is_statement(line: str) -> bool:
    said = line.split()
    plain = sum(word.isalpha() and word.islower() for word in said)
    is_whole = line[0].isupper() and line[-1] in ".!\"'"
    return is_whole and LEAST_WORDS <= len(said) <= MOST_WORDS and plain >= 0.5 * len(said)


def made(folder: Path, chance: random.Random) -> Iterator[Pair]:
    """Pairs made by rule from the lines of texts."""
    collected = texts(folder, chance)
    near = NearLines(collected)
    words = [_names_and_words(" ".join(text.lines)) for text in collected]
    for place, text in enumerate(collected):
        usable = [at for at, line in enumerate(text.lines) if _is_statement(line)]
        for at in chance.sample(usable, min(A_TEXT, len(usable))):
            donors = [*words[place], *words[place]]
            for other in chance.sample(range(len(collected)), min(DONORS, len(collected))):
                donors += chance.sample(words[other], min(6, len(words[other])))
            yield from _of_line(text, at, donors, near, chance)


def _names_and_words(text: str) -> list[str]:
    names = [match.group() for match in NAMES.finditer(text)]
    return list(dict.fromkeys([*names, *SMALL_WORD.findall(text)]))


def _of_line(
    text: Text, at: int, donors: Sequence[str], near: NearLines, chance: random.Random
) -> Iterator[Pair]:
    """Pairs of one line: supported, changed here or there or in both, taken away, added to."""
    line, rest = text.lines[at], (*text.lines[:at], *text.lines[at + 1 :])
    said = paraphrased(line, chance)
    yield _pair(text, text.lines, said, Support.SUPPORTED, ())
    other = changed(line, donors, chance)
    false = changed(said, donors, chance)
    if false is not None and other is not None:
        as_other = (*text.lines[:at], other, *text.lines[at + 1 :])
        in_sentence = _pair(text, text.lines, false, Support.CONTRADICTED, spans(said, false))
        in_premise = _pair(text, as_other, line, Support.CONTRADICTED, spans(other, line))
        yield in_sentence
        yield chance.choice((in_premise, _pair(text, as_other, other, Support.SUPPORTED, ())))
    near_lines = near.of(line, text)
    if max((_held(line, each) for each in (*rest, *near_lines)), default=0.0) < STILL_THERE:
        yield _pair(text, (*rest, *near_lines), said, Support.NOT, None)
        yield from _added_to(text, said, near_lines, chance)


def _added_to(
    text: Text, said: str, near_lines: Sequence[str], chance: random.Random
) -> Iterator[Pair]:
    """The line with the end of another text's line, and the line with one of its own text."""
    if near_lines and chance.random() < 0.5:
        foreign = chance.choice(near_lines).rstrip(".").split()
        tail = " ".join(foreign[-chance.randint(4, 9) :])
        joint = chance.choice((" ", ", ", " and ", ", such as ", ", which means "))
        longer = f"{said.rstrip('.!')}{joint}{tail}."
        yield _pair(text, text.lines, longer, Support.NOT, ((len(said.rstrip(".!")), len(longer)),))
        return
    own = [line for line in text.lines if _is_statement(line) and line != said]
    if own:
        both = f"{said.rstrip('.!')}, and {paraphrased(chance.choice(own), chance)}"
        if len(both.split()) <= MOST_WORDS:
            yield _pair(text, text.lines, both, Support.SUPPORTED, ())


def _pair(text: Text, lines: Sequence[str], sentence: str, support: Support, wrong: Any) -> Pair:
    return Pair(
        source=f"made from {text.source}", group=text.group,
        premise=Premises(["\n".join(lines)]).of(sentence), sentence=sentence, support=support,
        wrong=wrong,
    )  # fmt: skip


def _held(line: str, other: str) -> float:
    """The share of a line's words that another line has."""
    wanted = set(stems(line))
    return len(wanted.intersection(stems(other))) / max(1, len(wanted))


class NearLines:
    """Lines of other groups that share words with a line, by BM25."""

    def __init__(self, collected: Sequence[Text]) -> None:
        import bm25s

        self._groups = [text.group for text in collected for _ in text.lines]
        self._lines = [line for text in collected for line in text.lines]
        self._index = bm25s.BM25()
        self._index.index(bm25s.tokenize(self._lines, show_progress=False), show_progress=False)

    def of(self, line: str, text: Text) -> list[str]:
        """NEAR_TEXTS lines of texts of other groups, the nearest first."""
        import bm25s

        size = min(10 * NEAR_TEXTS, len(self._lines))
        tokens = bm25s.tokenize(line, show_progress=False)
        hits, _ = self._index.retrieve(tokens, k=size, show_progress=False)
        found = [self._lines[hit] for hit in hits[0] if self._groups[hit] != text.group]
        return found[:NEAR_TEXTS]
