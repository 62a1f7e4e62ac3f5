"""The spool's frame format: one request per frame, with checksums over header and payload.

A frame is a 56-byte little-endian header, the backfill run's name (UTF-8) and the payload. All
checksums start from the segment's salt (a part of its file name). So bytes that an attacker placed
in a payload, or that an older segment left in a recycled disk block, never pass as a frame.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from ragvigil.model.span import Signal

MAGIC = b"\xf5RV1"
_HEADER = struct.Struct("<4sIIIQQQQIHBx")
_CHECKED_FROM = 8  # the magic and the checksum itself are not under the checksum
HEADER_SIZE = _HEADER.size
_OPENING = 0  # the signal code of a frame that opens a segment
_SIGNALS = {1: Signal.TRACES, 2: Signal.LOGS}
_CODES = {signal: code for code, signal in _SIGNALS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One acknowledged request.

    `seq` is unique and strictly increasing, with gaps. `items` counts the payload's spans or log
    records. `spans_before` and `logs_before` count everything acknowledged earlier, so that a gap
    between two frames says how much was lost.
    `payload` is the protobuf of the export request. `signal` is None only on the frame that
    opens a segment; its payload is the last acknowledged seq before it (8 bytes).
    """

    seq: int
    signal: Signal | None
    items: int = 0
    spans_before: int = 0
    logs_before: int = 0
    received_unix_nano: int = 0
    backfill: str = ""
    payload: bytes = b""

    @property
    def items_before(self) -> int:
        """Items of this frame's signal acknowledged before it."""
        return self.logs_before if self.signal is Signal.LOGS else self.spans_before

    @property
    def spans(self) -> int:
        """Spans in this frame: 0 for logs."""
        return self.items if self.signal is Signal.TRACES else 0

    @property
    def spans_after(self) -> int:
        """Spans acknowledged up to and including this frame."""
        return self.spans_before + self.spans

    @property
    def logs_after(self) -> int:
        """Log records acknowledged up to and including this frame."""
        return self.logs_before + (self.items if self.signal is Signal.LOGS else 0)


def opening(*, seq: int, previous: int, spans: int, logs: int) -> Frame:
    """The first frame of a segment: what had been acknowledged when the segment began."""
    payload = previous.to_bytes(8, "little")
    return Frame(seq=seq, signal=None, spans_before=spans, logs_before=logs, payload=payload)


def previous_seq(frame: Frame) -> int:
    """The last acknowledged seq before an opening frame."""
    return int.from_bytes(frame.payload, "little")


def encode(frame: Frame, salt: int) -> bytes:
    """The bytes of `frame`. Raises ValueError when a field does not fit (a run name > 64 KiB)."""
    run = frame.backfill.encode("utf-8", "surrogatepass")
    try:
        header = _HEADER.pack(
            MAGIC,
            0,
            zlib.crc32(frame.payload, zlib.crc32(run, salt)),
            len(frame.payload),
            frame.seq,
            frame.spans_before,
            frame.logs_before,
            frame.received_unix_nano,
            frame.items,
            len(run),
            _OPENING if frame.signal is None else _CODES[frame.signal],
        )
    except struct.error as error:
        raise ValueError(f"a field does not fit into a frame: {error}") from error
    checked = header[_CHECKED_FROM:]
    checksum = zlib.crc32(checked, salt).to_bytes(4, "little")
    return b"".join((MAGIC, checksum, checked, run, frame.payload))


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header whose checksum is right; `size` is that of the whole frame in bytes."""

    seq: int
    size: int
    run_size: int
    body_checksum: int
    spans_before: int
    logs_before: int
    received_unix_nano: int
    items: int
    code: int


def parse_header(data: bytes, salt: int) -> Header | None:
    """The header at the start of `data`; None if it is cut, damaged or of another format."""
    if len(data) < HEADER_SIZE:
        return None
    magic, checksum, body, payload_size, seq, spans, logs, received, items, run, code = (
        _HEADER.unpack_from(data)
    )
    if magic != MAGIC or checksum != zlib.crc32(data[_CHECKED_FROM:HEADER_SIZE], salt):
        return None
    if code != _OPENING and code not in _SIGNALS:
        return None
    return Header(
        seq=seq,
        size=HEADER_SIZE + run + payload_size,
        run_size=run,
        body_checksum=body,
        spans_before=spans,
        logs_before=logs,
        received_unix_nano=received,
        items=items,
        code=code,
    )


def parse_body(header: Header, data: bytes, salt: int) -> Frame | None:
    """The frame of `header`, parsed from all its bytes; None if the body is cut or damaged."""
    if len(data) < header.size:
        return None
    begin = HEADER_SIZE + header.run_size
    run, payload = data[HEADER_SIZE:begin], data[begin : header.size]
    if zlib.crc32(payload, zlib.crc32(run, salt)) != header.body_checksum:
        return None
    return Frame(
        seq=header.seq,
        signal=_SIGNALS.get(header.code),
        items=header.items,
        spans_before=header.spans_before,
        logs_before=header.logs_before,
        received_unix_nano=header.received_unix_nano,
        backfill=run.decode("utf-8", "surrogatepass"),
        payload=payload,
    )


def parse(data: bytes, salt: int) -> Frame | None:
    """The frame at the start of `data`; None if it is cut or damaged."""
    header = parse_header(data, salt)
    return parse_body(header, data, salt) if header else None
