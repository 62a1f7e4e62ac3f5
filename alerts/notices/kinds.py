"""Names a change: what changed together is named once, by the kind that explains the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import log
from statistics import mean, median

from alerts.notices.corpus import SAME_SCORE, RetrievalDiff
from alerts.notices.fingerprint import Chunk
from ragvigil.model.notice import ChangeKind

FEWEST_AGAIN = 3
"""Fewest repeated questions that are evidence enough by themselves."""
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
GENERATION = frozenset({ChangeKind.TEMPERATURE, ChangeKind.MAX_TOKENS})


def of_content(
    diffs: Sequence[RetrievalDiff], usual_new_documents: float = 0.0, *, certain: bool = True
) -> ChangeKind | None:
    """Names what happened to the chunks, from the requests since the change; None if nothing did.

    `usual_new_documents` is the share of chunks of unknown documents that is usual for questions
    asked for the first time; these questions alone show new chunks only if the change is `certain`.
    """
    again = [diff for diff in diffs if diff.previous is not None]
    judged = again if len(again) >= FEWEST_AGAIN or not certain else diffs
    changed = [diff for diff in again if diff.is_changed]
    is_whole = new_share(judged) >= WHOLE
    if is_whole or (_has_new(judged) and not _is_moved(changed, SLIGHT_MOVE)):
        usual = 0.0 if judged is again else usual_new_documents
        return _of_new(judged, usual, is_whole=is_whole)
    if _is_moved(changed, SAME_SCORE):
        return ChangeKind.REEMBEDDED
    lost = [chunk.text for diff in changed for chunk in diff.lost]
    if not lost:
        return None
    found_texts = {chunk.text for diff in diffs for chunk in diff.chunks}
    # Lost for their question, but still found by others: they are ranked otherwise, not gone.
    still = sum(text in found_texts for text in lost)
    return ChangeKind.REEMBEDDED if still > 0.5 * len(lost) else ChangeKind.DOCUMENTS


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
    if content is not None and not whole and ChangeKind.EMBEDDING_MODEL in kinds:
        content = None
    if content is ChangeKind.REEMBEDDED and kinds & {ChangeKind.RERANKER, ChangeKind.TOP_K}:
        content = None
    if content is not None:
        kinds -= {ChangeKind.INDEX} | ({ChangeKind.TOP_K} if whole else set())
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
    """Ids of known documents with new chunks."""
    fresh = set(new_documents(diffs))
    edited = dict.fromkeys(chunk.document for diff in diffs for chunk in diff.new if chunk.document)
    return [document for document in edited if document not in fresh]


def gone_documents(diffs: Sequence[RetrievalDiff]) -> list[str]:
    """Ids of documents that questions found before and no question finds any more."""
    still_there = {chunk.document for diff in diffs for chunk in diff.chunks}
    lost = dict.fromkeys(chunk.document for diff in diffs for chunk in diff.lost if chunk.document)
    return [document for document in lost if document not in still_there]


def _of_new(diffs: Sequence[RetrievalDiff], usual_new: float, *, is_whole: bool) -> ChangeKind:
    new = [chunk for diff in diffs for chunk in diff.new]
    if sum(bool(chunk.document) for chunk in new) < 0.5 * len(new):
        return ChangeKind.REINDEXED
    unknown = sum(len(diff.new_documents) for diff in diffs) / len(new)
    if unknown >= 0.5 and 1 - unknown < 0.5 * (1 - usual_new):
        return ChangeKind.DOCUMENTS
    if is_whole or (_touched_documents(diffs) >= 0.6 and _is_length_moved(diffs)):
        return ChangeKind.RECHUNKED
    return ChangeKind.DOCUMENTS


def _has_new(diffs: Sequence[RetrievalDiff]) -> bool:
    return any(diff.new for diff in diffs)


def _is_moved(changed: Sequence[RetrievalDiff], least: float) -> bool:
    """Whether at least half of the questions' scores moved by more than `least`.

    Without scores: whether 30 % of the questions find their chunks in another order.
    """
    moves = [median(scores) for diff in changed if (scores := diff.moves)]
    if moves:
        return sum(move > least for move in moves) >= 0.5 * len(moves)
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
