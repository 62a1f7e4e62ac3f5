"""The admission without any server: nothing is acknowledged before it is durable and clean."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from collector.decode.otlp import Encoding
from collector.receiver.budget import ByteBudget
from collector.receiver.receive import ASIDE_BYTES, Gate, accept
from collector.redaction.redact import Redactor
from collector.redaction.settings import RedactSettings
from collector.refusal import Malformed, Refusal, Refused
from collector.settings import LimitSettings
from ragvigil.model.span import Signal
from tests.otlp import KEY, KeptSpool, encode, trace_request

SECRET = "AKIA2E0A8F3B244C9986"


class SlowSpool(KeptSpool):
    """Is durable only when told so."""

    durable: asyncio.Event

    async def append(self, payload: bytes, **meta: Any) -> int:
        await self.durable.wait()
        return await super().append(payload, **meta)


def gate(spool: KeptSpool, **more: Any) -> Gate:
    redactor = Redactor(RedactSettings(), key=KEY)
    return Gate(spool=spool, redactor=redactor, limits=LimitSettings(), clock=lambda: 42, **more)


async def take(body: bytes, at: Gate, encoding: Encoding = Encoding.PROTOBUF) -> Any:
    return await accept(body, signal=Signal.TRACES, encoding=encoding, gate=at, backfill="b")


async def test_nothing_is_acknowledged_before_the_spool_says_durable() -> None:
    spool = SlowSpool()
    spool.durable = asyncio.Event()
    taking = asyncio.create_task(take(trace_request().SerializeToString(), gate(spool)))
    await asyncio.sleep(0.05)
    assert not taking.done()
    spool.durable.set()
    assert (await taking).rejected == 0
    assert [kept["received_unix_nano"] for kept in spool.kept] == [42]
    assert [kept["backfill"] for kept in spool.kept] == ["b"]


async def test_what_is_left_of_a_short_disk_is_not_for_new_spans() -> None:
    spool, is_short = KeptSpool(), True
    at = gate(spool, is_disk_short=lambda: is_short)
    with pytest.raises(Refused) as refused:
        await take(trace_request().SerializeToString(), at)
    assert (refused.value.reason, refused.value.retry_seconds) == (Refusal.DISK_RESERVE, 5)
    assert spool.kept == []
    is_short = False
    await take(trace_request().SerializeToString(), at)
    assert len(spool.kept) == 1


async def test_a_clean_protobuf_body_reaches_the_spool_to_the_byte() -> None:
    spool = KeptSpool()
    unknown = b"\xfa\x3e\x03abc"
    body = trace_request(2, text="clean").SerializeToString() + unknown
    await take(body, gate(spool))
    assert spool.kept[0]["payload"] == body


@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize("size", [100, (1 << 20) + 100], ids=["small", "beside the loop"])
async def test_a_secret_never_reaches_the_spool_whatever_the_size(
    encoding: Encoding, size: int
) -> None:
    assert max(ASIDE_BYTES.values()) <= 1 << 20
    spool = KeptSpool()
    request = trace_request(2, filler="x y " * (size // 8), text=f"key {SECRET}.")
    await take(encode(request, encoding.value), gate(spool), encoding)
    assert spool.kept[0]["items"] == 2
    assert SECRET.encode() not in spool.kept[0]["payload"]


async def test_a_request_of_which_nothing_is_left_is_not_kept() -> None:
    spool = KeptSpool()
    request = trace_request(1)
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    assert (await take(request.SerializeToString(), gate(spool))).rejected == 1
    assert spool.kept == []


async def test_a_malformed_body_raises_and_is_not_kept() -> None:
    spool = KeptSpool()
    with pytest.raises(Malformed):
        await take(b"\xff", gate(spool))
    assert spool.kept == []


def test_a_budget_refuses_what_others_hold_and_gives_all_back() -> None:
    budget = ByteBudget(100)
    with budget.hold(60) as first:
        with pytest.raises(Refused) as caught, budget.hold(50):
            pass
        assert caught.value.reason is Refusal.OVERLOADED
        assert 1 <= caught.value.retry_seconds <= 5
        with budget.hold(40):
            assert budget.used == 100
        first.grow(500)  # alone it may: the size of a body has a limit of its own
    assert budget.used == 0
