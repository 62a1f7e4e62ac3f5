"""Classifies an answer as refused, partial or answered, and names the sentences that refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from scorers.text.own_words import own_words
from scorers.text.refusal_clauses import divided
from scorers.text.refusal_model import weigh
from scorers.text.refusal_patterns import (
    LEAST_CLAUSE,
    asks,
    clauses,
    is_bare,
    is_caveat,
    is_courtesy,
    is_polar,
    refusing_by_words,
    without_condition,
)
from scorers.text.refusal_signs import ANSWERING, DENYING, kinds, signs, spoken
from scorers.text.sentences import Sentence, sentences
from scorers.text.tokens import tokens

LEAST_WORDS, LEAST_PART = 4, 5
"""Least words of a sentence, and of a part of a refusing one, that state something else."""
MANY_STATEMENTS = 3
"""An answer that states as much in other sentences is no partial one for a caveat: *note that the
passages do not give the exact time*."""
ENDS = 3
"""Sentences at either end of an answer that the model reads without a pattern's hint."""
SURE, DOUBTED = 0.67, -2.0
"""Log odds from which the model alone says that a sentence refuses, and under which it overrules
the patterns."""
SURE_AMONG_MANY, DOUBTED_AMONG_MANY = 2.0, 0.0
"""The same in an answer of more than `ENDS` sentences, where a caveat is likelier."""
SURE_PART = 1.2
"""Log odds from which a part of a sentence refuses: it has fewer signs."""
STATED, STATED_PART = 0.0, -1.0
"""Log odds from which a sentence, or a part of one, states something beside a refusal."""
SURE_CLAUSE, STATED_REST = 1.0, 0.5
"""Log odds from which a clause refuses, and the rest of its sentence states something."""

OPENING = 2
"""First words of a clause among which one makes it a question: *есть ли*."""

_OWN_MATTERS = frozenset({"source", "given", "paper", "me", "find", "tell", "info", "relate"})
"""Kinds of words of a clause that speaks of the answer, not of what nobody knows."""
_CONDITION = frozenset({"^if", "^reason", "reason$"})
_SUBORDINATE = frozenset({"^if", "^which", "which$", "^reason", "reason$", "sorry"})
"""Signs of a clause that is a condition or a reason, and of a rest that is one or asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """The label `refused`, `partial` or `answered`, and the sentences that refuse."""

    label: str
    refusing: tuple[Sentence, ...] = ()


@lru_cache(maxsize=512)
def classify(answer: str) -> Stance:
    """Classifies an answer. Caches the last 512: several scorers and rubrics need the stance."""
    parts = [part for part in sentences(own_words(answer)) if part.text.strip()]
    starts_bare = is_bare(answer)
    if not parts and starts_bare:  # code, as `NO_ANSWER`
        return Stance(label="refused", refusing=(Sentence(0, len(answer), answer),))
    language = spoken(part.text for part in parts)
    is_short = len(parts) <= ENDS
    sure, doubted = (SURE, DOUBTED) if is_short else (SURE_AMONG_MANY, DOUBTED_AMONG_MANY)
    named = {part.start for part in refusing_by_words(answer)}
    refusing = [
        part
        for place, part in enumerate(parts)
        if (starts_bare and place == 0)
        or (part.start in named and weigh(part.text, language)[0] > doubted)
        or (_is_at_an_end(place, len(parts)) and _refuses(part.text, language, sure))
    ]
    refusing = [
        part for part in refusing if not asks(part.text) or _refuses_before(part.text, language)
    ]
    mixed = [part for part in parts if is_short and _is_mixed(part.text, language)]
    refusing += [part for part in mixed if part not in refusing]
    refusing = _without_caveats(parts, refusing) or _of_the_sources_alone(parts, language)
    if not refusing:
        return Stance(label="answered")
    others = [part.text for part in parts if part not in refusing]
    is_partial = (
        bool(mixed)
        or any(_states(text, language) for text in others)
        or any(_goes_on(part.text, language) for part in refusing)
    )
    originals = tuple(
        Sentence(part.start, part.end, answer[part.start : part.end]) for part in refusing
    )
    return Stance(label="partial" if is_partial else "refused", refusing=originals)


def _is_at_an_end(place: int, count: int) -> bool:
    """Whether a sentence is one of the first or last ones."""
    return place < ENDS or place >= count - ENDS


def _refuses(sentence: str, language: str, sure: float) -> bool:
    """Whether the model is sure that a sentence, or a part behind a word such as *but*, refuses."""
    if not _may_refuse(sentence, language):
        return False
    if weigh(sentence, language)[0] > sure:
        return True
    return any(weigh(part, language)[0] > SURE_PART for part in _parts(sentence, language))


def _may_refuse(sentence: str, language: str) -> bool:
    """Whether a sentence denies something of its own matters, and not only in its condition."""
    own = kinds(sentence, language)
    if DENYING.isdisjoint(own) or ANSWERING.isdisjoint(own):
        return False
    return not DENYING.isdisjoint(kinds(without_condition(sentence, language), language))


def _refuses_before(question: str, language: str) -> bool:
    """Whether a clause before a question refuses: *we have nothing on that, shall I ask?*"""
    return any(
        not asks(clause)
        and weigh(clause, language)[0] > SURE_PART
        and _CONDITION.isdisjoint(signs(clause, language))
        for clause, _ in divided(question, language)
    )


def _is_mixed(sentence: str, language: str) -> bool:
    """Whether a clause of a sentence refuses, and the rest of the sentence states something."""
    if asks(sentence) or not _may_refuse(sentence, language):
        return False
    # A sentence of eight pieces is divided in 20 ways, and one of many denials has most of them in
    # the rest: to see that, no signs are needed.
    return any(
        not _is_of_the_search(rest, language)
        and not _OWN_MATTERS.isdisjoint(kinds(clause, language))
        and weigh(clause, language)[0] > SURE_CLAUSE
        and weigh(rest, language)[1] > STATED_REST
        and _CONDITION.isdisjoint(signs(clause, language))
        and _is_substance(rest, language)
        for clause, rest in divided(sentence, language)
    )


def _is_substance(rest: str, language: str) -> bool:
    """Whether what stands beside a refusing clause is no question, reason or courtesy."""
    opening = " ".join(rest.split()[:OPENING])
    asks_whether = "which" in kinds(opening, language)
    is_subordinate = asks_whether or not _SUBORDINATE.isdisjoint(signs(rest, language))
    return not is_subordinate and not is_courtesy(rest)


def _without_caveats(parts: Sequence[Sentence], refusing: list[Sentence]) -> list[Sentence]:
    """The refusing sentences; without caveats where the others state a good deal."""
    others = [part for part in parts if part not in refusing] if refusing else []
    if sum(_is_statement(part.text) for part in others) < MANY_STATEMENTS:
        return refusing
    return [part for part in refusing if not is_caveat(part.text)]


def _of_the_sources_alone(parts: Sequence[Sentence], language: str) -> list[Sentence]:
    """The sentences of an answer that speaks of its sources and states nothing: *the passages are
    about another model*."""
    if len(parts) > ENDS:
        return []
    about = [part for part in parts if _is_about_sources(kinds(part.text, language))]
    if not about or any(weigh(part.text, language)[1] > 0 for part in parts):
        return []
    return [part for part in about if not asks(part.text)]


def _is_about_sources(own: frozenset[str]) -> bool:
    return not own.isdisjoint(("source", "scope")) and not own.isdisjoint(
        ("only", "lack", "relate")
    )


def _is_statement(sentence: str) -> bool:
    """Whether a sentence is long enough to state something, and no courtesy and no question."""
    if asks(sentence):
        return False
    least = LEAST_CLAUSE + 1 if is_polar(sentence) else LEAST_WORDS
    return len(tokens(sentence)) >= least and not is_courtesy(sentence)


def _states(sentence: str, language: str) -> bool:
    """Whether a sentence beside a refusal states something."""
    return _is_statement(sentence) and weigh(sentence, language)[1] > STATED


def _goes_on(sentence: str, language: str) -> bool:
    """Whether a refusing sentence states something before or after a word such as *but*."""
    return any(
        len(tokens(part)) >= LEAST_PART
        and not is_courtesy(part)
        and weigh(part, language)[1] > STATED_PART
        and not _is_of_the_search(part, language)
        for part in _parts(sentence, language)
    )


def _parts(sentence: str, language: str) -> list[str]:
    """The parts of a sentence between words such as *but*; none where it has one part."""
    parts = [part for part in clauses(sentence, language) if len(tokens(part)) >= LEAST_CLAUSE]
    return parts if len(parts) > 1 else []


def _is_of_the_search(part: str, language: str) -> bool:
    """Whether a part says what was searched or asked, what may be answered, or what lacks.

    *I read all of it*, *I answer from the manual alone*.
    """
    own = kinds(part, language)
    if not own.isdisjoint(("neg", "lack", "unable", "question")):
        return True
    if "me" in own and not own.isdisjoint(("find", "scope", "only", "offer", "sorry")):
        return True
    return "source" in own and not own.isdisjoint(("tell", "only", "relate", "find"))
