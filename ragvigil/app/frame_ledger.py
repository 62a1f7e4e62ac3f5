"""What became of the spans of every spool frame: acknowledged = stored + duplicate + quarantined + in spool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRow:
    """The ledger row of one settled frame."""

    seq: int
    received_unix_nano: int
    spans: int
    stored: int
    duplicate: int
    quarantined: int


@dataclass(slots=True)
class _Open:
    received_unix_nano: int
    spans: int
    stored: int = 0
    duplicate: int = 0
    quarantined: int = 0

    def is_settled(self) -> bool:
        return self.stored + self.duplicate + self.quarantined >= self.spans


class FrameLedger:
    """Follows the frames that are not settled yet; settled ones are handed out once."""

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}

    def opened(self, seq: int, spans: int, received_unix_nano: int) -> None:
        """A frame of `spans` spans was read from the spool."""
        self._open[seq] = _Open(received_unix_nano, spans)

    def count(
        self,
        *,
        stored: Iterable[int] = (),
        duplicate: Iterable[int] = (),
        quarantined: Iterable[int] = (),
    ) -> None:
        """Counts spans by the seq of the frame that brought them, once per span."""
        for field, seqs in (("stored", stored), ("duplicate", duplicate), ("quarantined", quarantined)):
            for seq, number in Counter(seqs).items():
                frame = self._open.get(seq)
                if frame is not None:
                    setattr(frame, field, getattr(frame, field) + number)

    def settled(self) -> list[FrameRow]:
        """Rows of the frames whose every span is accounted for; each is returned once."""
        done = [seq for seq, frame in self._open.items() if frame.is_settled()]
        return [_row(seq, self._open.pop(seq)) for seq in done]

    def unsettled_spans(self) -> int:
        """Spans read from the spool and not accounted for yet."""
        return sum(
            frame.spans - frame.stored - frame.duplicate - frame.quarantined
            for frame in self._open.values()
        )


def _row(seq: int, frame: _Open) -> FrameRow:
    return FrameRow(
        seq=seq,
        received_unix_nano=frame.received_unix_nano,
        spans=frame.spans,
        stored=frame.stored,
        duplicate=frame.duplicate,
        quarantined=frame.quarantined,
    )
