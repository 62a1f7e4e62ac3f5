"""What parent and child send one another arrives as it was sent, and nonsense is told as such."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.inference.wire import LENGTHS, BadFrame, pack, unpack

heads = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()))


@given(frames=st.lists(st.tuples(heads, st.binary()), max_size=4))
def test_frames_arrive_in_order_and_whole(frames: list[tuple[dict[str, object], bytes]]) -> None:
    stream = BytesIO(b"".join(pack(head, body) for head, body in frames))
    assert [unpack(stream.read) for _ in frames] == frames


@pytest.mark.parametrize("head", [b"[]", b"nonsense", b"\xff", b"[" * 100_000])
def test_a_head_that_is_no_object_is_refused(head: bytes) -> None:
    with pytest.raises(BadFrame):
        unpack(BytesIO(LENGTHS.pack(len(head), 0) + head).read)


def test_a_length_that_cannot_be_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadFrame, match="too long"):
        unpack(BytesIO(LENGTHS.pack(2, 0xFFFFFFFF) + b"{}").read)
