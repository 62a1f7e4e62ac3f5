"""The frame format: encode and parse are inverse, and nothing damaged passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.spool.frames import Frame, encode, opening, parse, previous_seq
from ragvigil.model.span import Signal

LARGE = st.integers(0, 2**64 - 1)
SALT = st.integers(0, 2**32 - 1)
FRAMES = st.builds(
    Frame,
    seq=LARGE,
    signal=st.sampled_from(Signal),
    items=st.integers(0, 2**32 - 1),
    spans_before=LARGE,
    logs_before=LARGE,
    received_unix_nano=LARGE,
    backfill=st.text(max_size=20),
    payload=st.binary(max_size=200),
)


@given(FRAMES, SALT)
def test_a_frame_is_parsed_as_it_was_encoded(frame: Frame, salt: int) -> None:
    assert parse(encode(frame, salt), salt) == frame


@given(FRAMES, SALT, st.data())
def test_no_flipped_bit_passes(frame: Frame, salt: int, data: st.DataObject) -> None:
    encoded = bytearray(encode(frame, salt))
    at = data.draw(st.integers(0, len(encoded) * 8 - 1))
    encoded[at // 8] ^= 1 << (at % 8)
    assert parse(bytes(encoded), salt) is None


@given(FRAMES, SALT, st.data())
def test_no_cut_frame_passes(frame: Frame, salt: int, data: st.DataObject) -> None:
    encoded = encode(frame, salt)
    assert parse(encoded[: data.draw(st.integers(0, len(encoded) - 1))], salt) is None


@given(FRAMES, SALT, SALT)
def test_a_frame_of_another_segment_does_not_pass(frame: Frame, salt: int, other: int) -> None:
    assert (parse(encode(frame, salt), other) is None) == (salt != other)


def test_an_opening_says_what_came_before() -> None:
    frame = opening(seq=9, previous=5, spans=100, logs=3)
    again = parse(encode(frame, 1), 1)
    assert again == frame
    assert previous_seq(again) == 5


def test_a_field_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        encode(Frame(seq=1, signal=Signal.LOGS, items=-1), 0)
