"""The table `failures`: failing records with their reasons and vectors, and the issue of each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from ragvigil.model.issue import Failure, Membership
from ragvigil.store.engine.batch import Rows
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table
from ragvigil.store.issues.failing_changes import Key
from ragvigil.store.issues.memberships import membership_of, minute_of

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

END = 2**32 - 1
"""The last time that a DateTime can hold, in seconds since the epoch."""
AT_ONCE = 2000
"""Records whose vectors are read in one query: a thousand take 2 MB on the wire, 50 as lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFailure:
    """A failing record as it is stored, and its issue, if it is in one.

    `masked` is its reason without topic words, which is embedded after its label. Vectors are
    float32 in the machine's byte order, of the model `vector_model`; they are empty before they are
    computed, and where `find` reads the record. `received` is in seconds since the epoch; `digest`
    is that of the `FailingRecord` it was made of.
    """

    failure: Failure
    masked: str
    received: int
    digest: int
    reason_vector: bytes = b""
    question_vector: bytes = b""
    vector_model: str = ""
    membership: Membership | None = None

    @property
    def key(self) -> Key:
        """Trace id and record id."""
        return self.failure.key

    @property
    def minute(self) -> int:
        """The start of its minute, in seconds since the epoch."""
        return minute_of(self.failure.time_unix_nano)


class MemberOf(StrEnum):
    """Which failing records, by the issues they are in."""

    ANY = "any"
    LOOSE = "loose"
    """In no issue."""
    RESIDUE = "residue"
    """In no issue, or in a provisional one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureFilter:
    """Which failing records; an empty filter is none. Times in seconds, by whole minutes.

    `without_vectors_of` asks for those whose vectors are not of this model. `after_trace_id`,
    `after_record_id` and the nanoseconds `after` are where the page before ended, in this order.
    """

    service: str = ""
    environment: str = ""
    family: str = ""
    route: str = ""
    rubric: str = ""
    label: str = ""
    issue_ids: tuple[str, ...] = ()
    trace_ids: tuple[str, ...] = ()
    placed: MemberOf = MemberOf.ANY
    without_vectors_of: str = ""
    since: int = 0
    until: int = END
    newest_first: bool = False
    after: int = 0
    after_trace_id: str = ""
    after_record_id: str = ""
    limit: int = 1000


FAILURES = table(
    "failures",
    KeptFailure,
    computed={
        "minute": lambda kept: kept.minute,
        "reason_vector": lambda kept: array("f", kept.reason_vector).tolist(),
        "question_vector": lambda kept: array("f", kept.question_vector).tolist(),
    },
    # `failures_find.sql` leaves the vectors out; `vectors` reads them, in blocks.
    parsed={
        "reason_vector": lambda _: b"",
        "question_vector": lambda _: b"",
        "membership": membership_of,
    },
)


def rows(kept: Iterable[KeptFailure], **stamps: object) -> Rows:
    """Rows of the table; the newest row of a record replaces the others."""
    return FAILURES.rows(kept, is_gone=0, **stamps)


def find(
    store: Store, filter_: FailureFilter, *, priority: Priority = Priority.PAGE
) -> list[KeptFailure]:
    """Failing records that match, without their vectors. Raises as `Store.read` does."""
    parameters = asdict(filter_) | {"placed": filter_.placed.value}
    parameters |= {"issue_ids": list(filter_.issue_ids), "trace_ids": list(filter_.trace_ids)}
    return FAILURES.read(store, "failures_find", parameters, priority=priority)


def vectors(
    store: Store, kept: Sequence[KeptFailure], model: str
) -> Iterator[dict[Key, tuple[bytes, bytes]]]:
    """Vectors of reason and question by key, in blocks; those of another model are left out."""
    for start in range(0, len(kept), AT_ONCE):
        block = kept[start : start + AT_ONCE]
        parameters = {
            "minutes": sorted({failing.minute for failing in block}),
            "trace_ids": sorted({failing.failure.trace_id for failing in block}),
            "model": model,
        }
        yield {
            (row["trace_id"], row["record_id"]): (
                array("f", row["reason_vector"]).tobytes(),
                array("f", row["question_vector"]).tobytes(),
            )
            for row in store.read("failures_vectors", parameters, priority=Priority.TICK)
        }


def with_vectors(store: Store, kept: Sequence[KeptFailure], model: str) -> list[KeptFailure]:
    """Those of these records whose vectors are stored, with them, in the same order."""
    stored = {key: both for block in vectors(store, kept, model) for key, both in block.items()}
    return [
        replace(failing, reason_vector=reason, question_vector=question)
        for failing in kept
        if failing.key in stored
        for reason, question in [stored[failing.key]]
    ]
