"""Pauses are jittered, grow, are bounded, and honour what the server asks for."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.retry import Backoff, asked_pause

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.integers(1, 10_000), st.integers())
def test_a_pause_lies_between_zero_and_its_doubling_span(attempt: int, seed: int) -> None:
    backoff = Backoff(first_seconds=0.5, longest_seconds=8.0)
    pause = backoff.pause(attempt, asked=None, chance=random.Random(seed))
    assert 0 <= pause <= min(0.5 * 2.0 ** min(attempt - 1, 60), 8.0)


def test_clients_that_fail_together_do_not_come_back_together() -> None:
    backoff = Backoff()
    for asked in (None, 5.0):
        pauses = {backoff.pause(4, asked=asked, chance=random.Random(i)) for i in range(50)}
        assert len(pauses) == 50


@given(st.floats(0, 1e9), st.integers(1, 50), st.integers())
def test_the_pause_that_is_asked_for_is_kept_unless_it_is_too_long(
    asked: float, attempt: int, seed: int
) -> None:
    pause = Backoff(longest_seconds=30).pause(attempt, asked=asked, chance=random.Random(seed))
    assert min(asked, 30) <= pause <= min(asked * 1.1, 30)


@given(st.integers(0, 10**7))
def test_seconds_and_a_date_ask_for_the_same_pause(seconds: int) -> None:
    date = format_datetime(NOON + timedelta(seconds=seconds), usegmt=True)
    now = NOON.timestamp()
    assert asked_pause({"retry-after": str(seconds)}, now) == seconds
    assert asked_pause({"retry-after": date}, now) == seconds


def test_a_date_that_has_passed_asks_for_no_pause() -> None:
    date = format_datetime(NOON - timedelta(hours=1), usegmt=True)
    assert asked_pause({"retry-after": date}, NOON.timestamp()) == 0


def test_milliseconds_win_over_the_coarser_header() -> None:
    assert asked_pause({"retry-after-ms": "250", "retry-after": "9"}, 0.0) == 0.25


@pytest.mark.parametrize(
    "text", ["", "soon", "-5", "nan", "inf", "Thu, 99 Xyz 2026", "1" * 400, "\x00"]
)
def test_a_header_that_says_nothing_clear_asks_for_nothing(text: str) -> None:
    assert asked_pause({"retry-after": text}, 0.0) is None


@given(st.text())
def test_no_header_raises(text: str) -> None:
    asked = asked_pause({"retry-after": text, "retry-after-ms": text}, 0.0)
    assert asked is None or asked >= 0
