"""Records that ask the same question before and after a change, and records by their id."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
SIGNS = " \t\r\n.?!…¿¡。？！؟\"'“”„«»"
"""Signs at the ends of a question that do not make it another one."""
DAYS = 14
"""How far before and after a record its question is looked for."""
WHOLE_ID = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, where and when it was asked (nanoseconds), and what answered it."""

    question: str
    service: str
    environment: str
    route: str
    nanos: int
    prompt_version: str
    llm_model: str
    index_epoch: str
    service_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Keys of the nearest records with another version; None where there is none."""

    before: Key | None = None
    after: Key | None = None


def beside(store: Store, asked: Asked) -> Beside:
    """The same question with the version before and the version after. Raises as `Store.read`."""
    second, reach = asked.nanos // 10**9, DAYS * 86_400
    window = {"since": max(0, second - reach), "until": min(second + reach, 2**32 - 1)}
    rows = store.read("same_question", {**asdict(asked), **window, "signs": SIGNS})
    keys = {bool(row["is_later"]): (str(row["trace"]), str(row["record"])) for row in rows}
    return Beside(before=keys.get(False), after=keys.get(True))


def keys_of(store: Store, record_id: str, *, trace_id: str = "", limit: int = 20) -> list[Key]:
    """Keys of the records whose id begins so, in order. Raises as `Store.read` does."""
    parameters = {
        "prefix": record_id,
        "is_whole": len(record_id) == WHOLE_ID,
        "trace_id": trace_id,
        "limit": limit,
    }
    rows = store.read("ids_records", parameters)
    return [(str(row["trace_id"]), str(row["record_id"])) for row in rows]
