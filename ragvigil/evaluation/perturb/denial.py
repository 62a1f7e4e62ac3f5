"""Denies the sentence of a chunk that answers a question. Pure.

    >>> from ragvigil.evaluation.case import Case
    >>> case = Case(case_id="1", question="Can I pay by cheque?", answer="You can pay by cheque.")
    >>> denied(case, case.answer, ["Customers can pay by cheque in every store."]).new
    'Customers cannot pay by cheque in every store.'

English only: a *not* behind the auxiliary verb is a rule there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragvigil.evaluation.case import Case
from scorers.text.language import language
from scorers.text.negations import denies
from scorers.text.normalise import words
from scorers.text.sentences import sentences

AUXILIARY = re.compile(r"(?<![\w'’])(is|are|was|were|can|could|will|would|must|should)(?![\w'’])")
ANSWERS = 0.6
"""Share of the answer's words in the sentence that gives it."""
FEWEST_WORDS = 3


class Denial(NamedTuple):
    """A sentence, and what stands in its place."""

    old: str
    new: str


def denied(case: Case, answer: str, chunks: Sequence[str]) -> Denial | None:
    """The only sentence that gives the answer, denied; None where none or several do."""
    said = set(words(answer))
    if len(said) < FEWEST_WORDS or denies(words(answer)) or denies(words(case.question)):
        return None
    texts = [part.text for chunk in chunks for part in sentences(chunk)]
    giving = [text for text in texts if len(said.intersection(words(text))) >= ANSWERS * len(said)]
    if len(giving) != 1 or language(" ".join(chunks)[:2000]) != "en":
        return None
    found = AUXILIARY.search(giving[0])
    if found is None or denies(words(giving[0])):
        return None
    joined = "cannot" if found[1] == "can" else f"{found[1]} not"
    new = giving[0][: found.start()] + joined + giving[0][found.end() :]
    return Denial(old=giving[0], new=new)
