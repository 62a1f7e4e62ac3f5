"""Times and values of exported rows, in every form in which tools write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.backfill.values import dumps, loads, nanoseconds

NANOS = 1_767_225_600_000_000_000


@pytest.mark.parametrize(
    "moment",
    ["2026-01-01", "2026-01-01 00:00:00", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00",
     "1767225600", 1_767_225_600, 1_767_225_600_000, 1_767_225_600_000_000, NANOS,
     datetime(2026, 1, 1), datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))],
)  # fmt: skip
def test_one_moment_is_one_number_however_it_is_written(moment: object) -> None:
    assert nanoseconds(moment) == NANOS


@pytest.mark.parametrize(
    "moment", [None, "", "soon", True, -5, 0, float("nan"), float("inf"), [], 1 << 80, "1e400"]
)
def test_what_is_no_time_is_none(moment: object) -> None:
    assert nanoseconds(moment) is None


@given(st.datetimes(datetime(1980, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_a_written_date_keeps_its_microseconds(moment: datetime) -> None:
    found = nanoseconds(moment.isoformat())
    assert found is not None
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=found // 1000) == moment


def test_json_of_python_is_read_and_written_again_as_utf_8() -> None:
    read = loads(b'{"a": NaN, "b": "\\ud800", "c": 123456789012345678901234567890}')
    assert read["c"] == 123456789012345678901234567890
    dumps(read).encode("utf-8")


def test_json_that_is_nested_too_deeply_is_no_json() -> None:
    with pytest.raises(ValueError, match=r"."):
        loads("[" * 200_000)
