"""Sessions: the answers with one session id, in order, and what their user said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_SESSIONS = 5000
"""Of more sessions about this many are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question and its answer. `complaints` are the kinds of bad feedback on the answer."""

    trace_id: str
    record_id: str
    question: str
    is_unanswered: bool
    """It failed or refused."""
    complaints: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The turns of a session, oldest first; `complaints` name the session alone."""

    service: str
    environment: str
    session_id: str
    turns: Sequence[Turn]
    complaints: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnSessions:
    """Sessions that are over, and the share of all that were drawn."""

    sessions: Sequence[Session]
    share: float


def read(store: Store, since: int, ended: int, service: str = "") -> DrawnSessions:
    """Sessions with an answer since a time and none from `ended` on, in seconds.

    Raises StoreError.
    """
    asked = {"since": since, "service": service}
    stored = int(store.read("sessions_counted", asked)[0]["sessions"])
    share = min(1.0, MOST_SESSIONS / stored) if stored else 1.0
    parameters = {**asked, "ended": ended, "per_million": round(share * 1e6)}
    return DrawnSessions(
        sessions=[_session(row) for row in store.read("sessions", parameters)], share=share
    )


def _session(row: Mapping[str, Any]) -> Session:
    return Session(
        service=row["service"],
        environment=row["environment"],
        session_id=row["session_id"],
        turns=[
            Turn(
                trace_id=trace_id,
                record_id=record_id,
                question=question,
                is_unanswered=bool(is_unanswered),
                complaints=_complaints(kinds, bad),
            )
            for _, trace_id, record_id, question, is_unanswered, kinds, bad in row["turns"]
        ],
        complaints=_complaints(row["session_kinds"], row["session_bad"]),
    )


def _complaints(kinds: Sequence[str], bad: Sequence[int]) -> frozenset[str]:
    named = ("thumbs_down" if kind in ("thumbs", "rating") else kind for kind in kinds)
    return frozenset(kind for kind, is_bad in zip(named, bad, strict=True) if is_bad)
