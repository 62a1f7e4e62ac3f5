"""Describes a change of what is retrieved, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from alerts.notices.corpus import RetrievalDiff
from alerts.notices.kinds import (
    edited_documents,
    gone_documents,
    is_same_for_all,
    is_thinned,
    losses,
    new_documents,
    new_share,
)
from alerts.notices.rare import WINDOW
from alerts.notices.values import Swap
from ragvigil.model.notice import ChangeKind

NAMED = 5
AS_USUAL = "as usual"
Medians = Mapping[str, tuple[float | None, float | None]]
"""A number's median before the change and since."""


def swap_of(
    kind: ChangeKind, diffs: Sequence[RetrievalDiff], medians: Medians
) -> tuple[Swap, dict[str, object]]:
    """The state before and now in words, the share of requests that show it, and the evidence."""
    shows = [_shows(kind, diff) for diff in diffs][-WINDOW:]
    share = sum(shows) / len(shows) if any(shows) else 1.0
    before, after = _words(kind, diffs, medians)
    return Swap(before=before, after=after, share=round(share, 3)), _evidence(diffs)


def versions_swap(swaps: Mapping[ChangeKind, Swap]) -> Swap:
    """The stated versions before and now, of things that did not change themselves."""
    names = {kind: kind.replace("_", " ") for kind in swaps}
    return Swap(
        before=", ".join(f"{names[kind]} {swap.before}" for kind, swap in swaps.items()),
        after=", ".join(f"{names[kind]} {swap.after}" for kind, swap in swaps.items()),
        share=max(swap.share for swap in swaps.values()),
    )


def _shows(kind: ChangeKind, diff: RetrievalDiff) -> bool:
    if kind is ChangeKind.RERANKED:
        return diff.is_shown_otherwise
    return diff.is_changed or (kind is ChangeKind.OTHER_ORDER and diff.is_shown_reordered)


def _words(kind: ChangeKind, diffs: Sequence[RetrievalDiff], medians: Medians) -> tuple[str, str]:
    if kind is ChangeKind.DOCUMENTS:
        return "", _documents(diffs)
    if kind is ChangeKind.OTHER_CHUNKS:
        return AS_USUAL, _other_chunks(diffs)
    if kind is ChangeKind.OTHER_ORDER:
        share = _of_repeats(diffs, [_shows(kind, diff) for diff in diffs])
        return AS_USUAL, f"the same chunks in another order {share}"
    if kind is ChangeKind.RERANKED:
        share = _of_repeats(diffs, [diff.is_shown_otherwise for diff in diffs])
        return AS_USUAL, f"of the same retrieved chunks others in the prompt {share}"
    if kind is ChangeKind.REEMBEDDED:
        pair = _pair(medians["mean_score"], "mean score {:.3g}")
        share = _of_repeats(diffs, [diff.is_moved for diff in diffs])
        return pair if any(pair) else (AS_USUAL, f"other scores for the same chunks {share}")
    if kind is ChangeKind.CHUNK_COUNT:
        moved = max(("retrieved", "in_prompt"), key=lambda name: _ratio(medians[name]))
        return _pair(medians[moved], "{:g} chunks " + moved.replace("_", " "))
    lengths = [_median(diffs, name) for name in ("lost", "new")]
    lengths_pair = (lengths[0] or medians["chunk_characters"][0], lengths[1])
    pair = _pair(lengths_pair, "chunks of {:.0f} characters")
    return pair if any(pair) else ("", "other chunks of the same documents")


def _other_chunks(diffs: Sequence[RetrievalDiff]) -> str:
    changed = [diff for diff in diffs if diff.previous and (diff.lost or diff.entered)]
    if is_same_for_all(changed):
        return (
            f"the same {median(len(diff.chunks) for diff in changed):g} chunks for every question"
        )
    share = _of_repeats(diffs, [bool(diff.lost or diff.entered) for diff in diffs])
    return f"other chunks for the same questions {share}"


def _of_repeats(diffs: Sequence[RetrievalDiff], shows: Sequence[bool]) -> str:
    """The share of repeated questions that show something, in words; empty without any."""
    flags = [shown for diff, shown in zip(diffs, shows, strict=True) if diff.previous]
    return f"on {sum(flags) / len(flags):.0%} of requests".replace("%", " %") if flags else ""


def _ratio(pair: tuple[float | None, float | None]) -> float:
    before, after = pair
    return abs(after - before) if before is not None and after is not None else -1.0


def _pair(pair: tuple[float | None, float | None], words: str) -> tuple[str, str]:
    """Both numbers in words; nothing where they read the same."""
    before, after = ("" if number is None else words.format(number) for number in pair)
    return (before, after) if before != after else ("", "")


def _documents(diffs: Sequence[RetrievalDiff]) -> str:
    gone = losses(diffs).gone
    documents = {"gone": [str(unit) for unit in gone if isinstance(unit, str)]}
    if not is_thinned(diffs):
        documents = {
            "new": new_documents(diffs),
            "edited": edited_documents(diffs),
            **documents,
        }
    elif not documents["gone"]:
        return f"{len(gone)} chunks gone"
    parts = [f"{len(ids)} {what}: {_listed(ids)}" for what, ids in documents.items() if ids]
    return "; ".join(parts) or "other documents are found"


def _listed(ids: Sequence[str]) -> str:
    """Lists the first NAMED ids, and how many more there are.

    >>> _listed(["a", "b"]), _listed(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more


def _evidence(diffs: Sequence[RetrievalDiff]) -> dict[str, object]:
    again = [diff for diff in diffs if diff.previous is not None]
    return {
        "looked_at": len(diffs),
        "asked_before": len(again),
        "new_chunk_share": round(new_share(diffs), 3),
        "new_documents": new_documents(diffs)[:NAMED],
        "edited_documents": edited_documents(diffs)[:NAMED],
        "gone_documents": gone_documents(diffs)[:NAMED],
    }


def _median(diffs: Sequence[RetrievalDiff], name: str) -> float | None:
    lengths = [chunk.length for diff in diffs for chunk in getattr(diff, name) if chunk.length]
    return median(lengths) if lengths else None
