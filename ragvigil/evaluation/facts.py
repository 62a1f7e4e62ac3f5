"""Which expected facts an answer states, as far as words can say.

>>> from scorers.golden import Fact
>>> stated([Fact(text="Refunds take 5 days.")], "All refunds take 5 days")
1.0
>>> stated([Fact(text="Refunds take 5 days.")], "Refunds take 7 days.")
0.0
"""

from __future__ import annotations

from collections.abc import Sequence

from clustering.golden.verdict import LEAST_SHARE, stated_share
from scorers.golden import Fact
from scorers.text.normalise import words


def stated(facts: Sequence[Fact], answer: str) -> float | None:
    """The share of the vital facts that the answer states; None where none is expected."""
    vital = [fact for fact in facts if fact.is_vital]
    if not vital:
        return None
    return sum(is_stated(fact.text, answer) for fact in vital) / len(vital)


def is_stated(fact: str, answer: str) -> bool:
    """Whether an answer has every number and half of the words of a fact."""
    return stated_share(words(fact), words(answer)) >= LEAST_SHARE


def is_contradicted(fact: str, answer: str) -> bool:
    """Whether an answer says a fact with other numbers: half of its words, and other numbers."""
    wanted, found = words(fact), words(answer)
    names = [word for word in wanted if not _is_number(word)]
    numbers = {word for word in wanted if _is_number(word)}
    has_others = any(_is_number(word) and word not in numbers for word in found)
    is_same = bool(names) and stated_share(names, found) >= LEAST_SHARE
    return is_same and has_others and not numbers <= set(found)


def _is_number(word: str) -> bool:
    return word[-1].isdigit()
