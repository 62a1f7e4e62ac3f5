"""What scorers say of healthy retrievals and supported answers, and of what must not pass.

A record is alarmed by `injected_context` if any of its chunks is flagged. A supported answer uses
none of its chunks if `chunk_utilization` says 0, by words and by meaning; a foreign passage, of
another group of the set, is used by nobody. A question that passes for a golden one must have its
intent, as people labelled it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Protocol

from bench.rig.labelled import rows
from bench.rig.question_pages import is_plain_question, question_pages
from bench.rig.report import progress
from bench.rig.unseen_answers import SupportedAnswer, supported_answers
from bench.rig.unseen_retrievals import retrievals
from ragvigil.inference.process import Inference
from ragvigil.model.record import Document, RagRecord
from scorers.chunk_utilization import ChunkUtilization
from scorers.golden import parse_case, question_key
from scorers.injected_context import InjectedContext, suspects
from scorers.local.golden_questions import GoldenQuestions, content
from scorers.local.relevance import answer_relevance
from scorers.local.utilization import utilization

ATTACKS = "bipia_injection"
INTENTS, MOST_PAIRS = ("banking77", "clinc150"), 300
GOLD = (Document(chunk_id="a", content="It is so."),)
MOST_ANSWERS, SMALL_ANSWERS, FOREIGN = 60, 3, 5
"""Answers of a half of a set that the local model reads, and foreign passages for each."""
Half = Callable[[str], bool]


class Failures(Protocol):
    """Counts failures by name and set."""

    def add(self, name: str, of: str, has_failed: bool) -> None:
        """One answer."""
        ...


def measure_injection(tally: Failures, of_half: Half, sets: Iterable[str], *, small: bool) -> None:
    """Healthy retrievals and chunks that are flagged, and planted orders that are."""
    scorer = InjectedContext()
    for name in sets:
        for healthy in (each for each in retrievals(name, small=small) if of_half(each.group)):
            score = scorer.score(healthy.record())
            tally.add("injected_retrieval", name, score.value is not None and score.value < 1)
            for chunk in healthy.chunks:
                tally.add("injected_chunk", name, bool(suspects(chunk)))
        progress(f"injected_context of {name}")
    for kind, pages in question_pages(small=small).items():
        for page in pages:
            tally.add("injected_page", kind, bool(suspects(page)))
    for row in rows(ATTACKS, small=small):
        if row["injected"] and of_half(row["group"]):
            is_plain = is_plain_question(row["attack"])
            name = "injected_question" if is_plain else "injected_order"
            tally.add(name, ATTACKS, bool(suspects(row["chunks"][0]["text"])))


def measure_utilization(
    tally: Failures, of_half: Half, sets: Iterable[str], inference: Inference, *, small: bool
) -> None:
    """Supported answers that use no chunk, and foreign passages that an answer uses."""
    chance, most = random.Random(17), SMALL_ANSWERS if small else MOST_ANSWERS
    for name in sets:
        answers = [each for each in supported_answers(name, small=small) if of_half(each.group)]
        for answer in chance.sample(answers, min(most, len(answers))):
            others = [other for other in answers if other.group != answer.group]
            foreign = [chance.choice(chance.choice(others).chunks) for _ in range(FOREIGN)]
            _measure(tally, name, answer, foreign, inference)
        progress(f"utilization of {name}: {len(answers)} answers")


def measure_questions(
    tally: Failures, sets: Iterable[str], inference: Inference, *, small: bool
) -> None:
    """Questions that pass for a golden one of the same labelled set, but ask something else.

    Of each other question of the same words that carry meaning; `golden_missed` counts those that
    are left out though both have one intent.
    """
    chance = random.Random(17)
    for name in sets:
        alike: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
        for row in rows(name, small=small):
            alike[content(row["question"])].append((row["question"], row["intent"]))
        pairs = [chance.sample(group, 2) for group in alike.values() if len(group) > 1]
        for (golden, intent), (asked, other) in chance.sample(pairs, min(MOST_PAIRS, len(pairs))):
            case = parse_case({"question": golden, "gold_chunk_ids": ["a"]})
            record = RagRecord(record_id="1", trace_id="1", query=asked, retrieved=GOLD)
            is_same = question_key(golden) == question_key(asked)
            is_found = bool(GoldenQuestions([case]).scores(record, inference))
            if is_found:
                tally.add("golden_wrong", name, intent != other)
            if intent == other and not is_same:
                tally.add("golden_missed", name, not is_found)
        progress(f"questions of {name}: {len(pairs)} pairs")


def _measure(
    tally: Failures, of: str, answer: SupportedAnswer, foreign: list[str], inference: Inference
) -> None:
    own, others = _record(answer, answer.chunks), _record(answer, foreign)
    by_words = ChunkUtilization().score(own).value
    if by_words is not None:
        tally.add("unused_by_words", of, by_words == 0)
    answer_relevance(own, inference)  # loads the model, as every record's other scores do
    value = utilization(own, inference).value
    if value is not None:
        tally.add("unused", of, value == 0)
    used = utilization(others, inference)
    if used.value is not None:
        count = round(used.value * len(foreign))
        for place in range(len(foreign)):
            tally.add("foreign_used", of, place < count)


def _record(answer: SupportedAnswer, chunks: Iterable[str]) -> RagRecord:
    context = tuple(
        Document(chunk_id=str(place), content=text) for place, text in enumerate(chunks)
    )
    return RagRecord(
        record_id="1", trace_id="1", query=answer.question, context=context, answer=answer.text
    )
