"""Who sends too many requests waits, the others do not."""

from __future__ import annotations

from base64 import b64encode

import pytest

from collector.receiver.auth import Access, sender
from collector.settings import CollectorSettings, LimitSettings
from ragvigil.listener.rate import RateLimit
from tests.otlp import listening, trace_request


def test_a_burst_passes_and_then_the_rate_holds() -> None:
    now = [0.0]
    limit = RateLimit(2.0, clock=lambda: now[0])
    assert [limit.wait_seconds("ada") for _ in range(20)] == [0.0] * 20
    assert limit.wait_seconds("ada") == 0.5
    assert limit.wait_seconds("bob") == 0.0
    now[0] = 0.5
    assert limit.wait_seconds("ada") == 0.0
    assert limit.wait_seconds("ada") == 0.5


def test_without_a_rate_nobody_waits() -> None:
    limit = RateLimit(None)
    assert not any(limit.wait_seconds("ada") for _ in range(1000))


HEADERS = [
    {"authorization": "Bearer sender-0123456789"},
    {"authorization": "bearer   sender-0123456789 "},
    {"authorization": "Basic " + b64encode(b"me:sender-0123456789").decode()},
]


@pytest.mark.parametrize("token", ["sender-0123456789", None])
def test_a_token_is_one_sender_however_it_is_written(token: str | None) -> None:
    senders = {sender(headers, Access(token=token)) for headers in HEADERS}
    assert senders == {token or ""}


@pytest.mark.parametrize(
    ("transport", "code"), [("grpc", "UNAVAILABLE"), ("application/x-protobuf", "503")]
)
async def test_a_sender_beyond_its_rate_is_told_when_to_come_back(
    transport: str, code: str
) -> None:
    limits = LimitSettings(max_requests_per_second=0.1)
    async with listening(CollectorSettings(limits=limits)) as receivers:
        first = await receivers.send(trace_request(), transport)
        second = await receivers.send(trace_request(), transport)
    assert str(first.code) in ("OK", "200")
    assert str(second.code) == code
    assert second.status is not None
    assert "more than 0.1 requests a second with this token" in second.status.message
