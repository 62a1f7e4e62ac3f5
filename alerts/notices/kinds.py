"""Names a change: what changed together is named once, by the kind that explains the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from statistics import mean, median

from alerts.notices.corpus import SAME_SCORE, RetrievalDiff
from alerts.notices.fingerprint import Chunk
from ragvigil.model.notice import ChangeKind

FEWEST_AGAIN = 3
"""Fewest repeated questions that are evidence enough by themselves."""
FEWEST_CHANGED = 2
FEWEST_EXPECTED = 5
"""Times that lost documents were expected again, from which they are gone if none came."""
A_QUARTER, MOSTLY, STEADY, SELDOM = 0.25, 0.7, 0.9, 0.05
WHOLE = 0.8
"""Share of new chunks from which the whole index counts as new, not a few documents."""
LENGTH_RATIO = 1.3
"""Ratio of median chunk lengths from which chunks count as cut anew."""
SLIGHT_MOVE = 0.1
"""Scores that count words move by up to this share when documents come or go."""
RETRIEVAL = frozenset(
    {
        ChangeKind.EMBEDDING_MODEL,
        ChangeKind.RERANKER,
        ChangeKind.INDEX,
        ChangeKind.TOP_K,
    }
)
"""Dimensions on which it depends what is retrieved."""
OF_PROMPT = frozenset({ChangeKind.RERANKED, ChangeKind.OTHER_ORDER, ChangeKind.OTHER_CHUNKS})
"""Changes of what reaches the prompt that another reranker explains."""
OF_RANKING = OF_PROMPT | {ChangeKind.REEMBEDDED, ChangeKind.REINDEXED}
"""Changes of what is retrieved that another embedding model explains."""
GENERATION = frozenset({ChangeKind.TEMPERATURE, ChangeKind.MAX_TOKENS})


class Effect(StrEnum):
    """What became of the chunks that a question found before."""

    REORDERED = "reordered"
    """The same, perhaps with other scores or in another order."""
    EDITED = "edited"
    """Other chunks of the same documents."""
    JOINED = "joined"
    """Others came among them."""
    THINNED = "thinned"
    """Some are missing; what was next follows those that stayed."""
    RANKED = "ranked"
    """Others came, and what stayed stands in another order or has other scores."""
    REPLACED = "replaced"
    """None of them stayed."""


LEFT = frozenset({Effect.THINNED, Effect.REORDERED})
"""Effects of a loss: nothing else becomes of what questions found before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """The kind of a change of content, None if there is none; `is_sure` unless more may tell."""

    kind: ChangeKind | None = None
    is_sure: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Documents (or chunks, where they have no document) that questions found before and miss now.

    `gone` came in no request since, `returned` in some; `expected` counts how often those of both
    were expected.
    """

    gone: tuple[str | int, ...]
    returned: tuple[str | int, ...]
    expected: int


def effect_of(diff: RetrievalDiff) -> Effect:
    """What became of the chunks of a question that was asked before."""
    entered, lost = diff.entered, diff.lost
    if not entered and not lost:
        return Effect.REORDERED
    # What stayed stands where it stood: else it was ranked anew, and other chunks came by that.
    kept = len(diff.chunks) - len(entered)
    # Another text of a document comes in the place of its text of before.
    documents = {chunk.document for chunk in lost if chunk.document}
    is_turned = diff.is_reordered and not _is_turned_by_new(diff, documents)
    is_ranked_anew = is_turned or any(move > SLIGHT_MOVE for move in diff.moves)
    edited = sum(chunk.document in documents for chunk in entered)
    if entered and edited >= 0.5 * len(entered) and not is_ranked_anew:
        return Effect.EDITED
    if not kept:
        return Effect.REPLACED
    if is_ranked_anew or diff.is_moved:
        return Effect.RANKED
    # Those that were next in rank follow what stayed; what was added comes where it belongs.
    is_behind = set(diff.chunks[kept:]) == set(entered)
    return Effect.THINNED if lost and is_behind else Effect.JOINED


def _is_turned_by_new(diff: RetrievalDiff, lost: Collection[str]) -> bool:
    """Whether new texts came, of new documents or of `lost` ones, and what stayed scores as before.

    A retriever that avoids texts like those it has chosen then puts what stayed in another order.
    """
    moves = diff.moves
    return (
        bool(moves)
        and max(moves) <= SAME_SCORE
        and any(chunk.document in lost or chunk in diff.new_documents for chunk in diff.new)
    )


def is_same_for_all(changed: Sequence[RetrievalDiff]) -> bool:
    """Whether different questions, which found different chunks before, now find the same."""
    questions = {diff.question: diff for diff in changed}
    if len(questions) < FEWEST_AGAIN:
        return False
    before = {chunk.text for diff in questions.values() for chunk in diff.previous or ()}
    now = {chunk.text for diff in questions.values() for chunk in diff.chunks}
    return len(now) <= 1.5 * mean(len(diff.chunks) for diff in changed) and (
        len(before) > 1.5 * mean(len(diff.previous or ()) for diff in changed)
    )


def losses(diffs: Sequence[RetrievalDiff]) -> Losses:
    """What questions lost since the change, and whether it came back later.

    A document of which a question still finds another chunk is not lost.
    """
    returned: dict[str | int, bool] = {}
    expected = 0
    for diff in diffs:
        found = {_unit(chunk) for chunk in diff.chunks}
        # In the order of the chunks, so that a replay lists them alike.
        missed = [unit for unit in dict.fromkeys(map(_unit, diff.lost)) if unit not in found]
        returned |= dict.fromkeys(found & returned.keys(), True)
        for unit in missed:
            returned.setdefault(unit, False)
        expected += len({_unit(chunk) for chunk in diff.previous or ()} & returned.keys())
    return Losses(
        gone=tuple(unit for unit, is_back in returned.items() if not is_back),
        returned=tuple(unit for unit, is_back in returned.items() if is_back),
        expected=expected,
    )


def _unit(chunk: Chunk) -> str | int:
    return chunk.document or chunk.text


def _of_sets(effects: Counter[Effect]) -> int:
    """How many questions find another set of chunks."""
    return effects.total() - effects[Effect.REORDERED]


def of_content(diffs: Sequence[RetrievalDiff], usual_new_documents: float = 0.0) -> Naming:
    """Names what happened to the chunks, from the requests since the change.

    Questions that were asked before decide. Without them only new chunks of known documents are
    evidence, as a new topic finds new chunks too. `usual_new_documents` is the share of chunks of
    unknown documents that is usual for questions asked for the first time.
    """
    again = [diff for diff in diffs if diff.previous]
    if len(again) < FEWEST_AGAIN:
        return _of_first(diffs, usual_new_documents)
    changed = [diff for diff in again if diff.is_changed]
    shown = [diff for diff in again if diff.is_shown_otherwise]
    # No reranker brings a text that was never found before: where many find one, that comes first.
    new = sum(bool(diff.new) for diff in changed)
    has_new = new >= max(FEWEST_CHANGED, 0.5 * len(shown))
    if len(shown) > len(changed) and not has_new:
        return Naming(kind=ChangeKind.RERANKED)
    if len(changed) < FEWEST_CHANGED:
        turned = sum(diff.is_shown_reordered for diff in again)
        return Naming(kind=ChangeKind.OTHER_ORDER if turned >= FEWEST_CHANGED else None)
    return _of_repeated(diffs, again, changed)


def _of_repeated(
    diffs: Sequence[RetrievalDiff],
    again: Sequence[RetrievalDiff],
    changed: Sequence[RetrievalDiff],
) -> Naming:
    effects = Counter(effect_of(diff) for diff in changed)
    replaced = effects[Effect.REPLACED]
    if replaced >= 0.5 * len(changed) and is_same_for_all(changed):
        return Naming(kind=ChangeKind.OTHER_CHUNKS)
    if effects[Effect.EDITED] >= 0.5 * _of_sets(effects) > 0:
        return Naming(kind=_of_new(changed, is_whole=new_share(again) >= WHOLE))
    has_new = any(diff.new for diff in changed)
    if _is_moved(changed, SLIGHT_MOVE if has_new else SAME_SCORE):
        return Naming(kind=ChangeKind.REEMBEDDED)
    if not _of_sets(effects):
        return Naming(kind=ChangeKind.OTHER_ORDER if effects[Effect.REORDERED] else None)
    if not any(chunk.document for diff in changed for chunk in diff.chunks):
        return _without_documents(diffs, again, changed, effects)
    of_documents = [diff for diff in changed if _is_of_documents(diff)]
    is_ranked_anew = effects[Effect.RANKED] + replaced > (1 - MOSTLY) * _of_sets(effects)
    if len(of_documents) >= A_QUARTER * _of_sets(effects) and not is_ranked_anew:
        return Naming(kind=ChangeKind.DOCUMENTS)
    joined = effects[Effect.JOINED]
    if joined >= 0.5 * _of_sets(effects):
        is_new = sum(len(diff.new) for diff in changed) >= 0.5 * sum(
            len(diff.entered) for diff in changed
        )
        return Naming(kind=ChangeKind.DOCUMENTS if is_new else ChangeKind.OTHER_CHUNKS)
    if replaced >= WHOLE * len(again) and _new_documents_share(changed) >= WHOLE:
        return Naming(kind=ChangeKind.REINDEXED)
    # Either what was next in rank moved up, or other questions find what they found before.
    if _is_thinned(effects):
        # What a few others find is another trouble: it brings nothing back that is gone.
        return _of_lost([diff for diff in again if effect_of(diff) in LEFT], is_loss=True)
    return _of_lost(diffs, is_loss=len(changed) < STEADY * len(again))


def _is_of_documents(diff: RetrievalDiff) -> bool:
    """Whether a new text of a known document, or a new document, came among what stayed.

    The others that come along with it only make room, or take the room that it left.
    """
    effect = effect_of(diff)
    is_joined = effect is Effect.JOINED and bool(diff.new_documents)
    return is_joined or (effect is Effect.EDITED and bool(diff.new))


def _of_lost(diffs: Sequence[RetrievalDiff], *, is_loss: bool) -> Naming:
    """Chunks are missing: documents are gone if they were expected often and never came."""
    lost = losses(diffs)
    if not is_loss or len(lost.returned) > SELDOM * (len(lost.returned) + len(lost.gone)):
        return Naming(kind=ChangeKind.OTHER_CHUNKS)
    is_sure = lost.expected >= FEWEST_EXPECTED + len(lost.gone) + len(lost.returned)
    kind = ChangeKind.DOCUMENTS if is_sure else ChangeKind.OTHER_CHUNKS
    return Naming(kind=kind, is_sure=is_sure)


def _without_documents(
    diffs: Sequence[RetrievalDiff],
    again: Sequence[RetrievalDiff],
    changed: Sequence[RetrievalDiff],
    effects: Counter[Effect],
) -> Naming:
    """Without ids an edit, a new cut and an addition look alike; lost chunks may come back."""
    of_sets = _of_sets(effects)
    if _is_thinned(effects):
        return _of_lost(diffs, is_loss=True)
    is_flapping = len(changed) < WHOLE * len(again)
    if effects[Effect.REPLACED] + effects[Effect.RANKED] >= 0.5 * of_sets and is_flapping:
        is_cut = _is_length_moved(changed)
        return Naming(kind=ChangeKind.REINDEXED if is_cut else ChangeKind.OTHER_CHUNKS)
    entered = sum(len(diff.entered) for diff in changed)
    is_new = sum(len(diff.new) for diff in changed) >= 0.5 * entered
    is_joined = effects[Effect.JOINED] >= 0.5 * of_sets
    return Naming(kind=ChangeKind.REINDEXED if is_new or is_joined else ChangeKind.OTHER_CHUNKS)


def _of_first(diffs: Sequence[RetrievalDiff], usual_new: float) -> Naming:
    """Questions asked for the first time: new chunks are evidence where documents are known."""
    named = any(chunk.document for diff in diffs for chunk in diff.chunks)
    touched = [diff for diff in diffs if diff.new_in_known]
    found = sum(len(diff.chunks) for diff in touched)
    new = sum(len(diff.new_in_known) for diff in touched)
    if not named or new < WHOLE * (1 - usual_new) * found or len(touched) < FEWEST_AGAIN:
        return Naming()
    return Naming(kind=ChangeKind.RECHUNKED)


def new_share(diffs: Sequence[RetrievalDiff]) -> float:
    """The mean share of new chunks, over requests that show any.

    Requests without new chunks are left out: while a change is rolled out, few requests show it.
    """
    return mean([diff.new_share for diff in diffs if diff.new] or [0.0])


def is_only_more_or_fewer(diffs: Sequence[RetrievalDiff]) -> bool:
    """Whether questions find what they found before and more, or only a part of it."""
    again = [diff for diff in diffs if diff.previous]
    is_kept = [not diff.lost or (not diff.new and len(diff.chunks) < len(diff.previous or ()))
            for diff in again]  # fmt: skip
    return bool(is_kept) and sum(is_kept) >= 0.8 * len(is_kept)


def named_kinds(
    values: Collection[ChangeKind], content: ChangeKind | None, *, counts: bool, whole: bool
) -> list[ChangeKind]:
    """Returns the kinds to name; a kind that another one explains is left out.

    `values` are the dimensions that changed, `content` what happened to the chunks, `counts`
    whether there are more or fewer of them, `whole` whether all of them are new.

    >>> named_kinds({ChangeKind.INDEX, ChangeKind.TOP_K}, ChangeKind.RECHUNKED, counts=True,
    ...             whole=True)
    [<ChangeKind.RECHUNKED: 're-chunked'>]
    """
    kinds = set(values)
    if ChangeKind.EMBEDDING_MODEL in kinds and (not whole or content in OF_RANKING):
        content = None
    if content is ChangeKind.REEMBEDDED and kinds & {ChangeKind.RERANKER, ChangeKind.TOP_K}:
        content = None
    if content in OF_PROMPT and ChangeKind.RERANKER in kinds:
        content = None
    if content is not None:
        is_explained = whole or content is ChangeKind.OTHER_CHUNKS
        kinds -= {ChangeKind.INDEX} | ({ChangeKind.TOP_K} if is_explained else set())
        kinds.add(content)
    if ChangeKind.EMBEDDING_MODEL in kinds:
        kinds.discard(ChangeKind.INDEX)
    if ChangeKind.LLM_MODEL in kinds:
        kinds -= GENERATION
    if counts and not kinds & (RETRIEVAL - {ChangeKind.INDEX}) and content is None:
        kinds.add(ChangeKind.CHUNK_COUNT)
        kinds.discard(ChangeKind.INDEX)
    if len(kinds) > 1:
        kinds.discard(ChangeKind.RELEASE)
    return sorted(kinds)


def new_documents(diffs: Sequence[RetrievalDiff]) -> list[str]:
    """Ids of documents never found before, in order of appearance."""
    return list(dict.fromkeys(chunk.document for diff in diffs for chunk in diff.new_documents))


def edited_documents(diffs: Sequence[RetrievalDiff]) -> list[str]:
    """Ids of documents of which questions find other chunks than before."""
    edited = [diff for diff in diffs if diff.previous and effect_of(diff) is Effect.EDITED]
    fresh = set(new_documents(edited))
    documents = dict.fromkeys(chunk.document for diff in edited for chunk in diff.new)
    return [document for document in documents if document and document not in fresh]


def is_thinned(diffs: Sequence[RetrievalDiff]) -> bool:
    """Whether questions mostly lost chunks, and what was next in rank moved up."""
    return _is_thinned(Counter(effect_of(diff) for diff in diffs if diff.previous))


def _is_thinned(effects: Counter[Effect]) -> bool:
    # Of questions that lost all nobody knows where what stayed would stand.
    told = _of_sets(effects) - effects[Effect.REPLACED]
    return effects[Effect.THINNED] >= MOSTLY * told > 0


def gone_documents(diffs: Sequence[RetrievalDiff]) -> list[str]:
    """Ids of documents that questions found before and no question finds any more."""
    return [unit for unit in losses(diffs).gone if isinstance(unit, str)]


def _of_new(changed: Sequence[RetrievalDiff], *, is_whole: bool) -> ChangeKind:
    if is_whole or (_touched_documents(changed) >= 0.6 and _is_length_moved(changed)):
        return ChangeKind.RECHUNKED
    return ChangeKind.DOCUMENTS


def _new_documents_share(changed: Sequence[RetrievalDiff]) -> float:
    found = sum(len(diff.chunks) for diff in changed)
    return sum(len(diff.new_documents) for diff in changed) / max(found, 1)


def _is_moved(changed: Sequence[RetrievalDiff], least: float) -> bool:
    """Whether at least half of the questions found chunks of before with scores moved by `least`.

    Without scores: whether 30 % of the questions find their chunks in another order.
    """
    moves = [median(scores) for diff in changed if (scores := diff.moves)]
    if moves:
        return sum(move > least for move in moves) >= 0.5 * len(changed)
    return sum(diff.is_reordered for diff in changed) >= 0.3 * max(len(changed), 1)


def _touched_documents(diffs: Sequence[RetrievalDiff]) -> float:
    """The share of known documents with new chunks, among requests that show new chunks."""
    touched = [diff for diff in diffs if diff.new]
    documents = {chunk.document for diff in touched for chunk in diff.chunks}
    documents -= set(new_documents(diffs))
    return len(set(edited_documents(diffs))) / max(len(documents), 1)


def _is_length_moved(diffs: Sequence[RetrievalDiff]) -> bool:
    before = list(_lengths(chunk for diff in diffs for chunk in diff.lost))
    after = list(_lengths(chunk for diff in diffs for chunk in diff.new))
    if not before or not after:
        return False
    return abs(log(median(after) / median(before))) > log(LENGTH_RATIO)


def _lengths(chunks: Iterator[Chunk]) -> Iterator[int]:
    return (chunk.length for chunk in chunks if chunk.length)
