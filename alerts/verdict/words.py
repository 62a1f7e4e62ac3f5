"""The evidence of a verdict in words: what was measured, what is missing, what would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from alerts.verdict.evidence import Measured, State
from alerts.verdict.leaves import Leaf, Rubric
from ragvigil.model.finding import Finding
from ragvigil.model.notice import Cause

DECISIVE = (Rubric.RETRIEVED, Rubric.PROMPT, Rubric.GROUNDED, Rubric.COMPLETE, Rubric.FACTUAL)
"""Rubrics that tell layers apart, in the order in which they are worth measuring."""
LACKS = {
    Rubric.RETRIEVED: "no judge compared what was retrieved before and after",
    Rubric.PROMPT: "no judge compared the chunks of the prompt before and after",
    Rubric.GROUNDED: "no judge compared the support of the answers before and after",
    Rubric.FACTUAL: "no reference to compare with, so the corpus cannot be tested",
}
SETTLES = {
    Rubric.RETRIEVED: "judge what was retrieved, before and after",
    Rubric.PROMPT: "judge the chunks of the prompt, before and after",
    Rubric.GROUNDED: "judge the support of the answers, before and after",
    Rubric.COMPLETE: "judge how complete the answers are, before and after",
    Rubric.FACTUAL: "give the judge golden answers or [factual] sources to compare with",
}
DOCUMENTS = "whether documents came or went: send document ids, or look at the last index build"
READ = "read the answers below; what is measured does not tell these apart"
MOST_PAIRS = 5000
"""More pairs than this are no advice."""


def state_words(measured: Measured, state: State) -> str:
    """What measuring a rubric has shown, in words that stay the same while it stays so.

    >>> state_words(Measured(rubric=Rubric.GROUNDED, change=-0.1, error=0.02, n=90), State.DROPPED)
    'groundedness dropped by about 10 points, by the audit'
    """
    if state is State.DROPPED:
        points = max(5 * round(-20 * measured.change), 1)
        return f"{measured.rubric} dropped by about {points} points, by {measured.by}"
    if state is State.STEADY:
        return f"{measured.rubric} held, by {measured.by}"
    return f"{measured.rubric} is not certain yet, by {measured.by}"


def signal_words(finding: Finding) -> str:
    """A signal on all traffic: its name and which way it went."""
    name, _, label = finding.signal.replace("_", " ").partition(":")
    what = f"{name} ({label})" if label else name
    if finding.value is None or finding.reference is None:
        return f"{what} on all traffic"
    way = "rose" if finding.value > finding.reference else "fell"
    return f"{what} {way}, on all traffic"


def held_words(signal: str) -> str:
    """A number on all traffic that kept its level.

    >>> held_words("top_score")
    'top score held, on all traffic'
    """
    return f"{signal.replace('_', ' ')} held, on all traffic"


def missing(measured: Sequence[Measured]) -> tuple[str, ...]:
    """What no judge has measured of the rubrics that tell the layers apart."""
    known = {each.rubric for each in measured}
    # The prompt's chunks stand for what was retrieved where only these are judged, and back.
    if known & {Rubric.RETRIEVED, Rubric.PROMPT}:
        known |= {Rubric.RETRIEVED, Rubric.PROMPT}
    return tuple(words for rubric, words in LACKS.items() if rubric not in known)


def settles(pair: tuple[Leaf, Leaf], measured: Sequence[Measured]) -> str:
    """What would tell two leaves apart: more pairs of a rubric, a rubric, or a look."""
    by_rubric = {each.rubric: each for each in measured}
    for rubric in DECISIVE:
        if _role(pair[0], rubric) == _role(pair[1], rubric):
            continue
        each = by_rubric.get(rubric)
        if each is None:
            return SETTLES[rubric]
        more = _more_pairs(each)
        if 0 < more <= MOST_PAIRS:
            return f"about {more} more answers judged for {rubric}"
    if {leaf.cause for leaf in pair} == {Cause.RETRIEVAL, Cause.CORPUS}:
        return DOCUMENTS
    return READ


def _role(leaf: Leaf, rubric: Rubric) -> str:
    if rubric in leaf.falls:
        return "falls"
    return "may fall" if rubric in leaf.follows | leaf.free else "holds"


def _more_pairs(measured: Measured) -> int:
    """Pairs that are still needed to tell the drop from none, in steps of 50; 0 if none are."""
    gap = max(abs(measured.change), 0.05)
    needed = measured.n * (3 * measured.error / gap) ** 2 - measured.n
    return 50 * math.ceil(needed / 50) if needed > 0 else 0
