"""What became of every span of the spool: stored, a duplicate, quarantined, lost, left out
by the settings, still there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Edge(NamedTuple):
    """A place in the spool: before frame `seq`, with `spans` spans before it since it began."""

    seq: int
    spans: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRow:
    """The ledger row of one settled frame; `edge` is where its spans begin.

    Frames that no longer exist share a row, under the `seq` of the last of them.
    """

    seq: int
    edge: Edge
    received_unix_nano: int
    spans: int
    stored: int = 0
    duplicate: int = 0
    quarantined: int = 0
    lost: int = 0
    not_kept: int = 0


@dataclass(slots=True)
class _Open:
    edge: Edge
    received_unix_nano: int
    spans: int
    stored: int = 0
    duplicate: int = 0
    quarantined: int = 0
    lost: int = 0
    not_kept: int = 0

    @property
    def accounted(self) -> int:
        return self.stored + self.duplicate + self.quarantined + self.lost + self.not_kept


class FrameLedger:
    """Follows frames until every span is accounted for, then hands out their rows, once.

    `settled` are frames that an earlier life of this process settled, with their spans: a replay
    reads them again, and they are not counted again. `begin` is where the reading begins.
    """

    def __init__(self, settled: Mapping[int, int] | None = None, begin: Edge | None = None) -> None:
        self._before = dict(settled or {})
        self._open: dict[int, _Open] = {}
        self._end = begin

    def opened(self, seq: int, *, spans: int, spans_before: int, received_unix_nano: int) -> int:
        """Follows a frame; returns how many spans were lost between the last one and it."""
        edge = Edge(seq, spans_before)
        lost = self.passed(edge, received_unix_nano)
        self._end = Edge(seq + 1, spans_before + spans)
        if seq not in self._before and spans:
            self._open[seq] = _Open(edge, received_unix_nano, spans)
        return lost

    def passed(self, edge: Edge, received_unix_nano: int) -> int:
        """Counts as lost the spans before `edge` that no frame brought; returns how many.

        The spool's totals count them, and an earlier life has not settled their frames.
        """
        begin, self._end = self._end, max(edge, self._end or edge)
        if begin is None or edge.spans <= begin.spans:
            return 0
        settled = {seq: n for seq, n in self._before.items() if begin.seq <= seq < edge.seq}
        lost = edge.spans - begin.spans - sum(settled.values())
        gone = range(edge.seq - 1, begin.seq - 1, -1)
        last = next((seq for seq in gone if seq not in settled), None)
        if lost <= 0 or last is None:
            return 0
        self._open[last] = _Open(begin, received_unix_nano, lost, lost=lost)
        return lost

    def count(
        self,
        *,
        stored: Iterable[int] = (),
        duplicate: Iterable[int] = (),
        quarantined: Iterable[int] = (),
        lost: Iterable[int] = (),
        not_kept: Iterable[int] = (),
    ) -> None:
        """Counts spans by the seq of the frame that brought them, once per span."""
        for kind, seqs in (
            ("stored", stored),
            ("duplicate", duplicate),
            ("quarantined", quarantined),
            ("lost", lost),
            ("not_kept", not_kept),
        ):
            for seq, number in Counter(seqs).items():
                frame = self._open.get(seq)
                if frame is not None:
                    setattr(frame, kind, getattr(frame, kind) + number)

    def settled(self) -> list[FrameRow]:
        """Rows of the frames whose every span is accounted for; each is returned once."""
        done = [seq for seq, frame in self._open.items() if frame.accounted >= frame.spans]
        return [_row(seq, self._open.pop(seq)) for seq in done]

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


def _row(seq: int, frame: _Open) -> FrameRow:
    return FrameRow(
        seq=seq,
        edge=frame.edge,
        received_unix_nano=frame.received_unix_nano,
        spans=frame.spans,
        stored=frame.stored,
        duplicate=frame.duplicate,
        quarantined=frame.quarantined,
        lost=frame.lost,
        not_kept=frame.not_kept,
    )
