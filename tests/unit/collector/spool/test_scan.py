"""Scanning damaged segments: every frame that is whole is found, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from collector.spool.frames import MAGIC, Frame, encode
from collector.spool.scan import scan
from ragvigil.model.span import Signal

SALT = 3


@dataclass(frozen=True)
class Memory:
    data: bytes

    def read_at(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]

    def size(self) -> int:
        return len(self.data)

    def close(self) -> None:
        return


def frame_of(number: int, payload: bytes) -> bytes:
    return encode(Frame(seq=number, signal=Signal.TRACES, payload=payload), SALT)


JUNK = st.one_of(st.binary(max_size=80), st.just(MAGIC * 9), st.just(frame_of(9, b"cut")[:-1]))


@given(st.lists(st.tuples(JUNK, st.binary(max_size=60)), max_size=8), JUNK)
def test_whole_frames_are_found_between_junk(
    pieces: list[tuple[bytes, bytes]], tail: bytes
) -> None:
    data, expected = b"", []
    for number, (junk, payload) in enumerate(pieces):
        # A cut frame would swallow what follows it: its header promises that length.
        junk = junk if not junk.startswith(frame_of(9, b"cut")[:-1]) else b""
        data += junk + frame_of(number, payload)
        expected.append(payload)
    data += tail
    parts = list(scan(Memory(data), SALT, 0, len(data)))
    assert [part.frame.payload for part in parts if part.frame] == expected
    assert [part.start for part in parts] == [0, *(part.end for part in parts)][: len(parts)]
    assert not parts or parts[-1].end == len(data)


def test_frames_larger_than_a_chunk_are_read() -> None:
    payloads = [b"a" * 700_000, b"b" * 10, b"c" * 300_000]
    data = b"".join(frame_of(number, payload) for number, payload in enumerate(payloads))
    found = scan(Memory(data), SALT, 0, len(data))
    assert [part.frame.payload for part in found if part.frame] == payloads


def test_a_magic_on_a_chunk_border_is_found() -> None:
    for shift in range(-6, 7):
        data = b"\0" * ((1 << 18) + shift) + frame_of(1, b"here")
        parts = list(scan(Memory(data), SALT, 0, len(data)))
        assert [part.frame.payload for part in parts if part.frame] == [b"here"]
