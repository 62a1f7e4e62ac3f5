"""The verdict on an incident: which layer made it, as far as its evidence tells."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.model.notice import Cause

RERANKER = "reranker"
"""The part of retrieval that ranks what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyLayer:
    """A layer with how likely it is: `share` is 0..1, those of a verdict add up to 1.

    `part` is the part of the layer that fits best, empty where that is open.
    """

    cause: Cause
    share: float
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerVerdict:
    """The layer of an incident, and what it rests on.

    `cause` is None while undetermined; `part` narrows it (`reranker`). `likely` are the layers
    with a share, the likeliest first; empty without evidence. `supports`, `contradicts` and
    `missing` are lines of evidence on the likeliest layer. `settles` says what would settle an
    undetermined verdict. `is_blind`: what changed is what the spans show, so no layer is at fault.
    `goes_with` are the values of dimensions that the drop goes with, in lines.
    """

    cause: Cause | None = None
    part: str = ""
    likely: tuple[LikelyLayer, ...] = ()
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    settles: str = ""
    is_blind: bool = False
    goes_with: tuple[str, ...] = ()


NO_VERDICT = LayerVerdict()
