"""What changed among failing records, as it is to be kept: read, reasoned, masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clustering.failures.masking import masked
from clustering.failures.primary_failure import failure_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues.failing_rows import KeptFailure

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Change, Key, Route

MOST_KNOWN = 100_000
"""Records of the traces of one turn; the rest of a trace with more is taken as new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """Records that fail, or fail otherwise than before, each with the issue it was in; and the
    changes of those that fail no more, with what was kept of them."""

    failing: tuple[KeptFailure, ...] = ()
    gone: tuple[Change, ...] = ()
    left: tuple[KeptFailure, ...] = ()


def read(
    store: Store,
    changes: Sequence[Change],
    fails_below: Mapping[str, float],
    usual: Mapping[Route, Mapping[str, float]],
) -> Fresh:
    """What became of these records. Raises as `Store.read` does.

    `usual` are the shares of each route's records that fail the rubrics.
    """
    if not changes:
        return Fresh()
    known = _known(store, changes)
    gone = tuple(one for one in changes if not one.digest)
    found = failing.read(store, [one for one in changes if one.digest], fails_below)
    kept = []
    for one in found:
        mine = usual.get((one.record.service, one.record.environment, one.record.route), {})
        failure = failure_of(one.record, one.scores, fails_below, one.time_unix_nano, mine)
        if failure is not None:
            before = known.get(failure.key)
            kept.append(
                KeptFailure(
                    failure=failure,
                    masked=masked(failure.reason, failure.question),
                    received=one.received,
                    digest=one.digest,
                    membership=before.membership if before else None,
                )
            )
    left = tuple(known[one.key] for one in gone if one.key in known)
    return Fresh(failing=tuple(kept), gone=gone, left=left)


def _known(store: Store, changes: Sequence[Change]) -> dict[Key, KeptFailure]:
    minutes = [one.minute for one in changes]
    wanted = failed.FailureFilter(
        trace_ids=tuple(sorted({one.trace_id for one in changes})),
        since=min(minutes),
        until=max(minutes) + 60,
        limit=MOST_KNOWN,
    )
    return {one.failure.key: one for one in failed.find(store, wanted, priority=Priority.TICK)}
