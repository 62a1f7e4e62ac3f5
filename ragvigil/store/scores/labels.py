"""Labels: people's verdicts on answers, by rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

UNSURE = "unsure"
"""The label of a person who could not decide. It is kept, and measures no judge."""
NEWEST_EACH = 2000
"""Labels of a rubric that are read: more than one estimate pools, as several judges share them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's verdict by one rubric: a value in 0..1, a word, or both.

    Without a `record_id` it is about the only record of its trace. A later label with the same
    `label_id` replaces it; one with neither value nor word takes it back.
    """

    label_id: str
    rubric: str
    trace_id: str
    time_unix_nano: int
    record_id: str = ""
    value: float | None = None
    label: str = ""
    labeller: str = ""
    source: str = "api"
    comment: str = ""


LABELS = table("labels", Label)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFilter:
    """Which labels; an empty filter is none. `since` is in seconds since the epoch."""

    label_id: str = ""
    rubric: str = ""
    trace_id: str = ""
    labeller: str = ""
    since: int = 0
    limit: int = 100


def batch(
    labels: Sequence[Label], received_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these labels."""
    lower = (
        replace(label, trace_id=label.trace_id.lower(), record_id=label.record_id.lower())
        for label in labels
    )
    rows = LABELS.rows(lower, received=received_unix_nano, replica=replica, epoch=epoch)
    return Batch(rows={LABELS.name: rows}, token=token_of("labels", rows))


def taken_back(label: Label, time_unix_nano: int) -> Label:
    """What replaces a label that its labeller takes back."""
    return replace(label, value=None, label="", comment="", time_unix_nano=time_unix_nano)


def find(store: Store, filter_: LabelFilter) -> list[Label]:
    """Labels that match, newest first."""
    return LABELS.read(store, "labels_find", asdict(filter_))


def of_ids(store: Store, label_ids: Sequence[str]) -> list[Label]:
    """Labels with these ids, those taken back too."""
    return LABELS.read(store, "labels_of_ids", {"label_ids": label_ids}) if label_ids else []


def newest(store: Store, *, each: int = NEWEST_EACH) -> list[Label]:
    """The newest labels of every rubric that decide, newest first.

    Kept, as several parts of a page ask.
    """
    parameters = {"each": each, "unsure": UNSURE}
    return store.kept.of(
        ("labels", each),
        lambda: LABELS.read(store, "labels_newest", parameters, priority=Priority.TICK),
    )
