"""`POST /api/v1/alerts/test`, from the request to the metric."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx2
import pytest
from prometheus_client import CollectorRegistry

from alerts.settings import MetricsSettings
from alerts.watch.metrics import WatchMetrics
from ragvigil.app.cli.alert import instructions, scrape
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NOW, Quiet


class Daemon:
    """The API over the metrics of a watch, with a clock that is moved by hand."""

    def __init__(self, store: Store, settings: WebSettings | None = None) -> None:
        self.now = NOW
        watch = WatchMetrics(MetricsSettings(), lambda: self.now)
        self._registry = CollectorRegistry()
        self._registry.register(watch)
        app = api(
            store,
            Quiet(),
            settings or WebSettings(),
            alerting=watch,
            clock=lambda: datetime.fromtimestamp(self.now, UTC),
        )
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        self.client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088")

    def value(self) -> float | None:
        return self._registry.get_sample_value("ragvigil_alert_test")


async def test_the_test_alert_is_on_for_five_minutes(store: Store) -> None:
    daemon = Daemon(store)
    assert daemon.value() == 0
    reply = await daemon.client.post("/api/v1/alerts/test", json={})
    assert reply.status_code == 202
    assert datetime.fromisoformat(reply.json()["until"]).timestamp() == NOW + 300
    daemon.now = NOW + 299
    assert daemon.value() == 1
    daemon.now = NOW + 300
    assert daemon.value() == 0


@pytest.mark.parametrize(("role", "status"), [("reader", 403), ("triager", 202), ("", 401)])
async def test_only_who_may_triage_may_wake_somebody(store: Store, role: str, status: int) -> None:
    tokens = {"reader_token": "r" * 32, "triager_token": "t" * 32}
    daemon = Daemon(store, WebSettings.model_validate(tokens))
    headers = {"authorization": f"Bearer {tokens[role + '_token']}"} if role else {}
    reply = await daemon.client.post("/api/v1/alerts/test", json={}, headers=headers)
    assert reply.status_code == status
    assert daemon.value() == float(status == 202)


async def test_without_a_watch_nothing_is_pretended(store: Store) -> None:
    transport = httpx2.ASGITransport(api(store, Quiet(), WebSettings()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8088") as client:
        reply = await client.post("/api/v1/alerts/test", json={})
    assert reply.status_code == 404
    assert "the watch does not run" in reply.json()["error"]["message"]


async def test_the_command_says_what_happens_and_where_to_look(store: Store) -> None:
    reply = await Daemon(store).client.post("/api/v1/alerts/test", json={})
    text = instructions(reply.json(), scrape(MetricsSettings()))
    for words in ("curl -s http://127.0.0.1:9464/metrics", "RagvigilTestAlert", "amtool"):
        assert words in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_where_metrics_ask_for_a_token_the_command_shows_where_it_goes() -> None:
    assert "Bearer TOKEN" in scrape(MetricsSettings.model_validate({"token": "secret"}))
    assert "secret" not in scrape(MetricsSettings.model_validate({"token": "secret"}))
