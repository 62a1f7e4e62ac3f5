"""A server may ask for a pause in seconds, milliseconds or as a date; nonsense asks for none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.retry_after import requested_pause

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.integers(0, 10**7))
def test_seconds_and_a_date_ask_for_the_same_pause(seconds: int) -> None:
    date = format_datetime(NOON + timedelta(seconds=seconds), usegmt=True)
    now = NOON.timestamp()
    assert requested_pause({"retry-after": str(seconds)}, now) == seconds
    assert requested_pause({"retry-after": date}, now) == seconds


def test_a_date_that_has_passed_asks_for_no_pause() -> None:
    date = format_datetime(NOON - timedelta(hours=1), usegmt=True)
    assert requested_pause({"retry-after": date}, NOON.timestamp()) == 0


def test_milliseconds_win_over_the_coarser_header() -> None:
    assert requested_pause({"retry-after-ms": "250", "retry-after": "9"}, 0.0) == 0.25


@pytest.mark.parametrize(
    "text", ["", "soon", "-5", "nan", "inf", "Thu, 99 Xyz 2026", "1" * 400, "\x00"]
)
def test_a_header_that_says_nothing_clear_asks_for_nothing(text: str) -> None:
    assert requested_pause({"retry-after": text}, 0.0) is None


@given(st.text())
def test_no_header_raises(text: str) -> None:
    seconds = requested_pause({"retry-after": text, "retry-after-ms": text}, 0.0)
    assert seconds is None or seconds >= 0
