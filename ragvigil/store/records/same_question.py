"""Records by their id, and those that ask the same question before and after a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
SIGNS = " \t\r\n.?!…¿¡。？！؟\"'“”„«»"
"""Signs at the ends of a question that do not make it another one."""
DAYS = 14
"""How far before and after a record its question is looked for."""
WHOLE_ID = 16
LAST_SECOND = 2**32 - 1


class PlacedKey(NamedTuple):
    """A record and the minute under which it is stored, in seconds since the epoch."""

    trace_id: str
    record_id: str
    minute: int

    @property
    def key(self) -> Key:
        """Trace id and record id."""
        return self.trace_id, self.record_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Keys of the nearest records with another version; None where there is none."""

    before: Key | None = None
    after: Key | None = None


def beside(store: Store, asked: PlacedKey) -> Beside:
    """The same question with the version before and the version after. Raises as `Store.read`.

    Nothing for a record without a question.
    """
    place = {**asked._asdict(), "signs": SIGNS}
    found = store.read("same_question_asked", place)
    if not found or not found[0]["asked"]:
        return Beside()
    reach = DAYS * 86_400
    window = {
        "since": max(0, asked.minute - reach),
        "until": min(asked.minute + reach, LAST_SECOND),
    }
    rows = store.read("same_question", place | found[0] | window)
    keys = {bool(row["is_later"]): (str(row["trace"]), str(row["record"])) for row in rows}
    return Beside(before=keys.get(False), after=keys.get(True))


def keys_of(
    store: Store, record_id: str, *, trace_id: str = "", limit: int = 20
) -> list[PlacedKey]:
    """The records whose id begins so, of one trace or of all, in order.

    Raises as `Store.read` does.
    """
    parameters = {
        "prefix": record_id,
        "is_whole": len(record_id) == WHOLE_ID,
        "trace_id": trace_id,
        "limit": limit,
    }
    rows = store.read("ids_records", parameters)
    return [PlacedKey(row["trace_id"], row["record_id"], int(row["minute"])) for row in rows]
