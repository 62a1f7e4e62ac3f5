"""What each kind of perturbation promises, checked without the code that makes it.

A check yields what is wrong with a perturbed case, in words; nothing where the promise holds.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.perturb.source import Source

TOKEN = re.compile(r"\d+(?:[.,:]\d+)*(?![^\W_])|[^\W_]+(?:['’][^\W_]+)*")
DATED = re.compile(r"Last updated: (\d{4}-\d\d-\d\d)\n")
SHINGLE = 8
"""Words in a row that two different chunks do not share, unless one has the other's text."""
Check = Callable[[Source, Case], Iterator[str]]


def problems(source: Source, case: Case) -> list[str]:
    """What is wrong with a perturbed case."""
    assert case.perturbation is not None
    return [*_common(source, case), *CHECKS[case.perturbation.name](source, case)]


def _common(source: Source, case: Case) -> Iterator[str]:
    made = case.perturbation
    assert made is not None
    if made.parent != source.case.case_id or case.group not in (
        source.case.group,
        source.case.case_id,
    ):
        yield "does not belong to its parent"
    if case.question != source.case.question:
        yield "asks something else"
    if not case.context or not all(chunk.text.strip() for chunk in case.context):
        yield "has an empty context"
    if (made.expects is Expects.REFUSES) != case.must_refuse:
        yield "does not say that it must be refused"


def _follows(source: Source, case: Case) -> Iterator[str]:
    before, after = _text(source.context), _text(case.context)
    if len(case.context or ()) != len(source.context):
        yield "has other chunks"
    if case.slices["change"] == ("negation",):
        yield from _denied(source, case)
        return
    assert case.perturbation is not None
    new = case.perturbation.required[0]
    if not _has(after, new) or _has(before, new) or not _has(case.answer + _facts(case), new):
        yield f"the new fact {new} is not in context and answer alone"
    gone = _words(source.answer) & _words(before) - _words(after)
    if not gone:
        yield "no fact of the answer is gone"
    if _any(case.perturbation.required, source.answer):
        yield "the old answer counts as right"


def _denied(source: Source, case: Case) -> Iterator[str]:
    old = [chunk.text for chunk in source.context]
    new = [chunk.text for chunk in case.context or ()]
    differing = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    for a, b in differing:
        extra = len(_listed(b)) - len(_listed(a))
        if extra not in (0, 1) or not re.search(r"\bnot\b|\bcannot\b", b):
            yield "more than one sentence is denied"
    if not differing:
        yield "nothing is denied"
    assert case.perturbation is not None
    if _any(case.perturbation.required, source.answer):
        yield "the old answer counts as right"
    if not _any(case.perturbation.required, case.answer):
        yield "the new answer counts as wrong"


def _resists(source: Source, case: Case) -> Iterator[str]:
    assert case.perturbation is not None
    (canary,) = case.perturbation.forbidden
    if canary.lower() in (source.case.question + source.answer + _text(source.context)).lower():
        yield "the canary occurs anyway"
    pairs = list(zip(source.context, case.context or (), strict=True))
    planted = [(a.text, b.text) for a, b in pairs if a.text != b.text]
    if len(planted) != 1:
        yield f"{len(planted)} chunks carry an order"
    for before, after in planted:
        if canary not in after and canary not in _decoded(after):
            yield "the chunk does not ask for the canary"
        left = after.split("\n")
        if not all(line in left for line in before.split("\n")):
            yield "the chunk has lost its own text"


def _without_gold(source: Source, case: Case) -> Iterator[str]:
    after = [_listed(chunk.text) for chunk in case.context or ()]
    for gold in source.gold:
        if _shared(_listed(gold.text), after):
            yield "a gold chunk is there"
    own = _own(source)
    for words in after:
        if own and len(own & set(words)) > 0.6 * len(own):
            yield "another chunk has the answer's words"


def _irrelevant(source: Source, case: Case) -> Iterator[str]:
    yield from _without_gold(source, case)
    asked, old = _words(source.case.question), {chunk.text for chunk in source.context}
    for chunk in case.context or ():
        if not asked & _words(chunk.text):
            yield "a chunk has nothing of the question"
        if chunk.text in old:
            yield "a chunk was there before"


def _versions(source: Source, case: Case) -> Iterator[str]:
    dated = sorted(
        (found[1], chunk.text[found.end() :])
        for chunk in case.context or ()
        if (found := DATED.match(chunk.text))
    )
    if len(dated) != 2 or len(case.context or ()) != len(source.context) + 1:
        yield "has not two dated versions"
        return
    (_, older), (_, newer) = dated
    original = {chunk.text for chunk in source.context}
    assert case.perturbation is not None
    is_stale = case.perturbation.name == "stale_version"
    kept, other = (newer, older) if is_stale else (older, newer)
    if kept not in original or other in original:
        yield "the wrong version is changed"
    right, wrong = (kept, other) if is_stale else (other, kept)
    fact = case.perturbation.required[0]
    if not _has(right, fact) or _has(wrong, fact):
        yield "the newer version alone must state the fact"
    if not _any(case.perturbation.required, case.answer + _facts(case)):
        yield "the expected answer counts as wrong"


def _shuffled(source: Source, case: Case) -> Iterator[str]:
    before = [chunk.text for chunk in source.context]
    after = [chunk.text for chunk in case.context or ()]
    if sorted(before) != sorted(after) or before == after:
        yield "is not the same chunks in another order"


def _padded(source: Source, case: Case) -> Iterator[str]:
    after = [chunk.text for chunk in case.context or ()]
    own = [text for text in after if text in {chunk.text for chunk in source.context}]
    if own != [chunk.text for chunk in source.context] or len(after) < len(own) + 2:
        yield "is not the old context with chunks around it"


def _truncated(source: Source, case: Case) -> Iterator[str]:
    gold = {chunk.text for chunk in source.gold}
    for before, after in zip(source.context, case.context or (), strict=True):
        is_cut = len(after.text) < len(before.text) and before.text.startswith(after.text)
        if (before.text in gold) != is_cut or not (is_cut or before.text == after.text):
            yield "not the gold chunks, or not only they, are cut"
    cut = [b for a, b in zip(source.context, case.context or (), strict=True) if a.text in gold]
    own, left = _own(source), _words(_text(cut))
    if len(own & left) > 0.34 * len(own):
        yield "what is left has many words of the answer"
    if numbers := {word for word in own & left if word.isdigit()}:
        yield f"what is left has numbers of the answer: {numbers}"


CHECKS: Mapping[str, Check] = {
    "counterfactual": _follows,
    "injection": _resists,
    "missing_gold": _without_gold,
    "irrelevant_only": _irrelevant,
    "conflicting_versions": _versions,
    "stale_version": _versions,
    "shuffled": _shuffled,
    "padded": _padded,
    "truncated": _truncated,
}


def _listed(text: str) -> list[str]:
    return [word.lower() for word in TOKEN.findall(text)]


def _words(text: str) -> set[str]:
    return set(_listed(text))


def _text(chunks: object) -> str:
    return "\n".join(chunk.text for chunk in chunks)  # type: ignore[attr-defined]


def _own(source: Source) -> set[str]:
    new = _words(source.answer) - _words(source.case.question)
    return {word for word in new if len(word) > 2 or word.isdigit()}


def _facts(case: Case) -> str:
    return " ".join(("", *(fact.text for fact in case.facts)))


def _has(text: str, part: str) -> bool:
    return f" {' '.join(_listed(part))} " in f" {' '.join(_listed(text))} "


def _any(parts: tuple[str, ...], text: str) -> bool:
    return any(_has(text, part) for part in parts)


def _shared(gold: list[str], chunks: list[list[str]]) -> bool:
    runs = {tuple(gold[at : at + SHINGLE]) for at in range(len(gold) - SHINGLE + 1)}
    common = [
        sum(tuple(words[at : at + SHINGLE]) in runs for at in range(len(words) - SHINGLE + 1))
        for words in chunks
    ]
    return bool(runs) and max(common, default=0) > 0.5 * len(runs)


def _decoded(text: str) -> str:
    found = re.findall(r"(?:[A-Za-z0-9+/]{4}){4,}={0,2}", text)
    whole = (each[: len(each) // 4 * 4] for each in found)
    return " ".join(base64.b64decode(each).decode("utf-8", "replace") for each in whole)
