"""A busy daemon is asked again when it says so, and given up with one sentence."""

from __future__ import annotations

import pytest
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from ragvigil.app.client import api as api_client
from ragvigil.app.settings import Settings
from tests.served_api import port_of


class Busy:
    """A daemon that answers 503 a few times, and then answers."""

    def __init__(self, times: int, retry_after: str) -> None:
        self.times, self.retry_after, self.asked = times, retry_after, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        headers = {"retry-after": self.retry_after}
        busy = self.asked <= self.times
        reply = Response(status_code=503, headers=headers) if busy else JSONResponse([self.asked])
        await reply(scope, receive, send)


def ask(daemon: Busy) -> object:
    with port_of(daemon) as port:
        settings = Settings.model_validate({"web": {"endpoint": f"127.0.0.1:{port}"}})
        return api_client.get(settings, "why")


def test_a_busy_daemon_is_asked_again() -> None:
    assert ask(Busy(times=1, retry_after="1")) == [2]


def test_a_daemon_that_stays_busy_is_given_up_with_one_sentence() -> None:
    daemon = Busy(times=99, retry_after="60")
    with pytest.raises(api_client.Unreachable) as refusal:
        ask(daemon)
    assert str(refusal.value) == "the daemon is too busy to answer now; try again in 60 s"
    assert daemon.asked == 1
