"""The ledger: what became of the spans of every frame of the spool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ragvigil.store.engine.batch import Batch, Rows, token_of
from ragvigil.store.engine.table import declare

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

END = 2**63
"""After every frame."""


class SettledFrame(Protocol):
    """A frame of which every span is accounted for.

    spans = stored + duplicate + quarantined + lost + not_kept
    """

    @property
    def seq(self) -> int: ...
    @property
    def received_unix_nano(self) -> int: ...
    @property
    def spans(self) -> int: ...
    @property
    def stored(self) -> int: ...
    @property
    def duplicate(self) -> int: ...
    @property
    def quarantined(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def not_kept(self) -> int: ...


_COLUMNS = declare(
    "ledger",
    (
        *("seq", "received", "spans", "stored", "duplicate", "quarantined", "lost", "not_kept"),
        *("replica", "epoch"),
    ),
)


def batch(frames: Sequence[SettledFrame], *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores these frames; a frame that is settled again replaces its row."""
    rows = [
        (
            frame.seq,
            frame.received_unix_nano,
            frame.spans,
            frame.stored,
            frame.duplicate,
            frame.quarantined,
            frame.lost,
            frame.not_kept,
            replica,
            epoch,
        )
        for frame in frames
    ]
    return Batch(rows={"ledger": Rows(_COLUMNS, rows)}, token=token_of("ledger", *rows))


def settled_after(store: Store, seq: int) -> dict[int, int]:
    """Frames after `seq` that have their row, with their spans: a replay counts none again."""
    (row,) = store.read("ledger_settled", {"replica": store.replica, "seq": seq})
    return dict(zip(map(int, row["frames"]), map(int, row["spans"]), strict=True))


def spans_from(store: Store, seq: int, until: int = END) -> int:
    """Spans of the frames from `seq` until before `until` that have their row."""
    parameters = {"replica": store.replica, "seq": seq, "until": until}
    return int(store.read("ledger_spans_from", parameters)[0]["spans"])


def sums(store: Store) -> dict[str, int]:
    """`frames, spans` and the spans of each kind, over this replica's frames."""
    row = store.read("ledger_sums", {"replica": store.replica})[0]
    return {name: int(value) for name, value in row.items()}
