"""Which change it is: what moved together is named once, by what explains the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import log
from statistics import mean, median

from alerts.notices.corpus import SAME_SCORE, Look
from alerts.notices.fingerprint import Chunk
from ragvigil.model.notice import ChangeKind

FEWEST_AGAIN = 3
WHOLE = 0.8
"""Where this share of what is found is new, it is not a few documents that changed."""
LENGTH_RATIO = 1.3
SLIGHT_MOVE = 0.1
"""Scores that count words move this much when documents come or go."""
RETRIEVAL = frozenset(
    {
        ChangeKind.EMBEDDING_MODEL,
        ChangeKind.RERANKER,
        ChangeKind.INDEX,
        ChangeKind.TOP_K,
    }
)
"""Dimensions that what is retrieved depends on."""
GENERATION = frozenset({ChangeKind.TEMPERATURE, ChangeKind.MAX_TOKENS})


def of_content(
    looks: Sequence[Look], usual_new_documents: float = 0.0, *, certain: bool = True
) -> ChangeKind | None:
    """What became of the chunks, from the requests since the change; None where nothing is new.

    `usual_new_documents` is the share of chunks of unknown documents that is usual for questions
    asked for the first time; these alone tell of new chunks only where that is `certain`.
    """
    again = [look for look in looks if look.previous is not None]
    judged = again if len(again) >= FEWEST_AGAIN or not certain else looks
    changed = [look for look in again if look.is_changed]
    is_whole = new_share(judged) >= WHOLE
    if is_whole or (_has_new(judged) and not _is_moved(changed, SLIGHT_MOVE)):
        usual = 0.0 if judged is again else usual_new_documents
        return _of_new(judged, usual, is_whole=is_whole)
    if _is_moved(changed, SAME_SCORE):
        return ChangeKind.REEMBEDDED
    lost = [chunk.text for look in changed for chunk in look.lost]
    if not lost:
        return None
    found = {chunk.text for look in looks for chunk in look.chunks}
    still = sum(text in found for text in lost)
    return ChangeKind.REEMBEDDED if still > 0.5 * len(lost) else ChangeKind.DOCUMENTS


def new_share(looks: Sequence[Look]) -> float:
    """The share of new chunks in requests that show any: a rolling change shows few of these."""
    return mean([look.new_share for look in looks if look.new] or [0.0])


def is_only_more_or_fewer(looks: Sequence[Look]) -> bool:
    """Whether each question finds what it found before, and more; or less, and nothing new."""
    again = [look for look in looks if look.previous]
    kept = [not look.lost or (not look.new and len(look.chunks) < len(look.previous or ()))
            for look in again]  # fmt: skip
    return bool(kept) and sum(kept) >= 0.8 * len(kept)


def explained(
    values: Collection[ChangeKind], content: ChangeKind | None, *, counts: bool, whole: bool
) -> list[ChangeKind]:
    """The kinds to name; what another one of them explains is left out.

    `values` are the dimensions that changed, `content` what became of the chunks, `counts`
    whether there are more or fewer of them, `whole` whether all of them are new.

    >>> explained({ChangeKind.INDEX, ChangeKind.TOP_K}, ChangeKind.RECHUNKED, counts=True,
    ...           whole=True)
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


def new_documents(looks: Sequence[Look]) -> list[str]:
    """Ids of documents never seen before, in the order in which they came."""
    return list(dict.fromkeys(one.document for look in looks for one in look.new_documents))


def edited_documents(looks: Sequence[Look]) -> list[str]:
    """Ids of known documents with new chunks."""
    fresh = set(new_documents(looks))
    found = dict.fromkeys(one.document for look in looks for one in look.new if one.document)
    return [one for one in found if one not in fresh]


def gone_documents(looks: Sequence[Look]) -> list[str]:
    """Ids of documents that questions found before and none finds any more."""
    found = {one.document for look in looks for one in look.chunks}
    lost = dict.fromkeys(one.document for look in looks for one in look.lost if one.document)
    return [one for one in lost if one not in found]


def _of_new(looks: Sequence[Look], usual_new: float, *, is_whole: bool) -> ChangeKind:
    new = [chunk for look in looks for chunk in look.new]
    if sum(bool(one.document) for one in new) < 0.5 * len(new):
        return ChangeKind.REINDEXED
    unknown = sum(len(look.new_documents) for look in looks) / len(new)
    if unknown >= 0.5 and 1 - unknown < 0.5 * (1 - usual_new):
        return ChangeKind.DOCUMENTS
    if is_whole or (_touched_documents(looks) >= 0.6 and _is_length_moved(looks)):
        return ChangeKind.RECHUNKED
    return ChangeKind.DOCUMENTS


def _has_new(looks: Sequence[Look]) -> bool:
    return any(look.new for look in looks)


def _is_moved(changed: Sequence[Look], least: float) -> bool:
    """Whether most scores of a chunk for a question moved by that share; else, their order."""
    moves = [median(found) for look in changed if (found := look.moves)]
    if moves:
        return sum(one > least for one in moves) >= 0.5 * len(moves)
    return sum(look.is_reordered for look in changed) >= 0.3 * max(len(changed), 1)


def _touched_documents(looks: Sequence[Look]) -> float:
    """Of the known documents of requests that show new chunks, the share that has any."""
    touched = [look for look in looks if look.new]
    known = {one.document for look in touched for one in look.chunks}
    known -= set(new_documents(looks))
    return len(set(edited_documents(looks))) / max(len(known), 1)


def _is_length_moved(looks: Sequence[Look]) -> bool:
    before = list(_lengths(one for look in looks for one in look.lost))
    after = list(_lengths(one for look in looks for one in look.new))
    if not before or not after:
        return False
    return abs(log(median(after) / median(before))) > log(LENGTH_RATIO)


def _lengths(chunks: Iterator[Chunk]) -> Iterator[int]:
    return (one.length for one in chunks if one.length)
