"""What became of a corpus, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from alerts.notices.corpus import Look
from alerts.notices.kinds import edited_documents, gone_documents, new_documents, new_share
from alerts.notices.rare import WINDOW
from alerts.notices.values import Swap
from ragvigil.model.notice import ChangeKind

NAMED = 5
Medians = Mapping[str, tuple[float | None, float | None]]
"""A number's median before the change and since."""


def swap_of(
    kind: ChangeKind, looks: Sequence[Look], medians: Medians
) -> tuple[Swap, dict[str, object]]:
    """What was and is in words, the share of requests that show it, and the numbers behind it."""
    shows = [look.is_changed for look in looks][-WINDOW:]
    share = sum(shows) / len(shows) if any(shows) else 1.0
    before, after = _words(kind, looks, medians)
    return Swap(before=before, after=after, share=round(share, 3)), _evidence(looks)


def _words(kind: ChangeKind, looks: Sequence[Look], medians: Medians) -> tuple[str, str]:
    if kind is ChangeKind.DOCUMENTS:
        return "", _documents(looks)
    if kind is ChangeKind.REEMBEDDED:
        return _pair(medians["mean_score"], "mean score {:.3g}")
    if kind is ChangeKind.CHUNK_COUNT:
        moved = max(("retrieved", "in_prompt"), key=lambda name: _ratio(medians[name]))
        return _pair(medians[moved], "{:g} chunks " + moved.replace("_", " "))
    lengths = [_median(looks, name) for name in ("lost", "new")]
    known = (lengths[0] or medians["chunk_characters"][0], lengths[1])
    return _pair(known, "chunks of {:.0f} characters")


def _ratio(pair: tuple[float | None, float | None]) -> float:
    before, after = pair
    return abs(after - before) if before is not None and after is not None else -1.0


def _pair(pair: tuple[float | None, float | None], words: str) -> tuple[str, str]:
    before, after = pair
    return (
        "" if before is None else words.format(before),
        "" if after is None else words.format(after),
    )


def _documents(looks: Sequence[Look]) -> str:
    found = {
        "new": new_documents(looks),
        "edited": edited_documents(looks),
        "gone": gone_documents(looks),
    }
    parts = [f"{len(ids)} {what}: {_listed(ids)}" for what, ids in found.items() if ids]
    return "; ".join(parts) or "other documents are found"


def _listed(ids: Sequence[str]) -> str:
    """The first five.

    >>> _listed(["a", "b"]), _listed(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more


def _evidence(looks: Sequence[Look]) -> dict[str, object]:
    again = [look for look in looks if look.previous is not None]
    return {
        "looked_at": len(looks),
        "asked_before": len(again),
        "new_chunk_share": round(new_share(looks), 3),
        "new_documents": new_documents(looks)[:NAMED],
        "edited_documents": edited_documents(looks)[:NAMED],
        "gone_documents": gone_documents(looks)[:NAMED],
    }


def _median(looks: Sequence[Look], name: str) -> float | None:
    lengths = [one.length for look in looks for one in getattr(look, name) if one.length]
    return median(lengths) if lengths else None
