"""What parent and child send one another arrives as it was sent, and nonsense is told as such."""

from __future__ import annotations

import asyncio
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.wire import LENGTHS, BadFrame, pack, reader_of, unpack, unpack_from

heads = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()))


@given(frames=st.lists(st.tuples(heads, st.binary()), max_size=4))
def test_frames_arrive_in_order_and_whole(frames: list[tuple[dict[str, object], bytes]]) -> None:
    stream = BytesIO(b"".join(pack(head, body) for head, body in frames))
    assert [unpack(reader_of(stream)) for _ in frames] == frames
    with pytest.raises(EOFError):
        unpack(reader_of(stream))


async def test_a_stream_of_an_event_loop_gives_the_same_frames() -> None:
    reader = asyncio.StreamReader()
    frames = [({"number": 1}, b"a 1\n"), ({"number": 2}, b"")]
    reader.feed_data(b"".join(pack(head, body) for head, body in frames))
    reader.feed_eof()
    assert [await unpack_from(reader) for _ in frames] == frames
    with pytest.raises(asyncio.IncompleteReadError):
        await unpack_from(reader)


@pytest.mark.parametrize("head", [b"[]", b"nonsense", b"\xff", b"[" * 100_000])
def test_a_head_that_is_no_object_is_refused(head: bytes) -> None:
    with pytest.raises(BadFrame):
        unpack(BytesIO(LENGTHS.pack(len(head), 0) + head).read)


def test_a_length_that_cannot_be_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadFrame, match="too long"):
        unpack(BytesIO(LENGTHS.pack(2, 0xFFFFFFFF) + b"{}").read)
