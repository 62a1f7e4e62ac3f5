"""What became of every frame's spans: stored, a duplicate, quarantined, or still in the spool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Edge(NamedTuple):
    """A place in the spool: before frame `seq`, with `spans` spans before it since it began."""

    seq: int
    spans: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRow:
    """The ledger row of one settled frame; `edge` is where its spans begin."""

    edge: Edge
    received_unix_nano: int
    spans: int
    stored: int
    duplicate: int
    quarantined: int

    @property
    def seq(self) -> int:
        """The frame."""
        return self.edge.seq


@dataclass(slots=True)
class _Open:
    edge: Edge
    received_unix_nano: int
    spans: int
    stored: int = 0
    duplicate: int = 0
    quarantined: int = 0

    @property
    def accounted(self) -> int:
        return self.stored + self.duplicate + self.quarantined


class FrameLedger:
    """Follows frames until every span is accounted for, then hands out their rows, once.

    `settled` are frames that an earlier life of this process settled: a replay reads them again,
    and they are not counted again.
    """

    def __init__(self, settled: Collection[int] = ()) -> None:
        self._before = frozenset(settled)
        self._open: dict[int, _Open] = {}
        self._end: Edge | None = None

    def opened(self, seq: int, *, spans: int, spans_before: int, received_unix_nano: int) -> None:
        """Follows a frame; spans of damaged frames between the last one and it are quarantined."""
        begins = min(spans_before, self._end.spans) if self._end else spans_before
        lost = spans_before - begins  # the spool counts them, no frame brings them
        self._end = Edge(seq + 1, spans_before + spans)
        if seq in self._before or not spans + lost:
            return
        edge = Edge(seq, begins)
        self._open[seq] = _Open(edge, received_unix_nano, spans + lost, quarantined=lost)

    def count(
        self,
        *,
        stored: Iterable[int] = (),
        duplicate: Iterable[int] = (),
        quarantined: Iterable[int] = (),
    ) -> None:
        """Counts spans by the seq of the frame that brought them, once per span."""
        for kind, seqs in (
            ("stored", stored),
            ("duplicate", duplicate),
            ("quarantined", quarantined),
        ):
            for seq, number in Counter(seqs).items():
                frame = self._open.get(seq)
                if frame is not None:
                    setattr(frame, kind, getattr(frame, kind) + number)

    def settled(self) -> list[FrameRow]:
        """Rows of the frames whose every span is accounted for; each is returned once."""
        done = [seq for seq, frame in self._open.items() if frame.accounted >= frame.spans]
        return [_row(self._open.pop(seq)) for seq in done]

    def edge(self) -> Edge | None:
        """The first frame that is not settled, else the end of the last one; None before any."""
        first = next(iter(self._open.values()), None)
        return first.edge if first else self._end

    def oldest_seq(self) -> int | None:
        """The first frame that is not settled."""
        return next(iter(self._open), None)

    def waiting_spans(self) -> int:
        """Spans read from the spool whose frame is not settled."""
        return sum(frame.spans for frame in self._open.values())


def _row(frame: _Open) -> FrameRow:
    return FrameRow(
        edge=frame.edge,
        received_unix_nano=frame.received_unix_nano,
        spans=frame.spans,
        stored=frame.stored,
        duplicate=frame.duplicate,
        quarantined=frame.quarantined,
    )
