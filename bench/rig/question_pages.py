"""Pages of questions and answers as chunks, of labelled sets: nothing in them is planted.

Splitters cut such pages by length, so that a chunk ends with a question that the next one answers:

    >>> pairs = [("how long is it", "Five days."), ("Who pays?", "We do."), ("When?", "Now.")]
    >>> PAGES["cut"](pairs)
    ['Five days.\\n\\nWho pays?', 'We do.\\n\\nWhen?']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bench.rig.labelled import rows

SETS = ("delucionqa_refusal", "ragtruth_qa", "lfqa_verification", "ragchecker_pairs")
MOST_PAIRS = 400
LISTED = 3
"""Questions in a list of related ones."""
ASKED_TO = ("can you", "could you", "would you", "will you", "can i ask you")
"""Openings of a question that asks the reader to do something."""
OPENERS = frozenset({
    "what", "how", "why", "who", "when", "where", "which", "is", "are", "was", "were", "do", "does",
    "did", "can", "could", "should", "has", "have",
})  # fmt: skip
Pair = tuple[str, str]


def _headed(pairs: Sequence[Pair]) -> list[str]:
    return [f"{_asked(question)}\n{answer}" for question, answer in pairs]


def _cut(pairs: Sequence[Pair]) -> list[str]:
    return [f"{answer}\n\n{_asked(question)}" for (_, answer), (question, _) in pairwise(pairs)]


def _related(pairs: Sequence[Pair]) -> list[str]:
    lists = [
        "\n".join(_asked(question) for question, _ in pairs[place + 1 : place + 1 + LISTED])
        for place in range(len(pairs))
    ]
    return [
        f"{answer}\n\nPeople also ask\n{others}"
        for (_, answer), others in zip(pairs, lists, strict=True)
        if others
    ]


PAGES: Mapping[str, Callable[[Sequence[Pair]], list[str]]] = {
    "headed": _headed, "cut": _cut, "related": _related,
}  # fmt: skip


def question_pages(*, small: bool) -> dict[str, list[str]]:
    """The chunks of each kind of page, of all sets; empty without the data."""
    pages: dict[str, list[str]] = {kind: [] for kind in PAGES}
    for name in SETS:
        try:
            pairs = _pairs(rows(name, small=small))
        except FileNotFoundError:
            continue
        for kind, chunks_of in PAGES.items():
            pages[kind] += chunks_of(pairs)
    return pages


def is_plain_question(attack: str) -> bool:
    """Whether an attack only asks about the world, and asks nobody to do anything."""
    return "?" in attack and not attack.lower().startswith(ASKED_TO)


def _pairs(listed: Sequence[Mapping[str, Any]]) -> list[Pair]:
    answers: dict[str, str] = {}
    for row in listed:
        question, answer = (str(row.get(key) or "").strip() for key in ("question", "answer"))
        # Whole questions only: some rows hold an order or an essay in their place.
        if question and answer and question.split()[0].lower() in OPENERS:
            answers.setdefault(question, answer)
    return list(answers.items())[:MOST_PAIRS]


def _asked(question: str) -> str:
    asked = question[0].upper() + question[1:]
    return asked if asked.endswith("?") else f"{asked}?"
