"""A daemon with the settings of compose.yaml: whom it answers, and with which token."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import httpx2
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from ragvigil.app.demo.child_daemon import VARIABLES, ChildDaemon, running
from tests.deploy_files import parsed, services

pytestmark = pytest.mark.slow

SECRETS = {"OTLP_TOKEN": "of-otlp", "METRICS_TOKEN": "of-metrics", "ADMIN_TOKEN": "of-admin"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    """On free ports of loopback, with the store inside; all else as in compose.yaml."""
    folder = tmp_path_factory.mktemp("compose")
    settings = {"RAGVIGIL_CONFIG": os.devnull}
    for name, value in services()["ragvigil"]["environment"].items():
        if name not in (*VARIABLES.values(), "RAGVIGIL_STORE__URL"):
            settings[name] = re.sub(r"\$\{(\w+):[^}]*\}", lambda found: SECRETS[found[1]], value)
    with running(folder / "data", settings=settings) as started:
        yield started


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_metrics_ask_for_the_token_that_prometheus_has_and_probes_for_none(
    daemon: ChildDaemon,
) -> None:
    url = f"http://{daemon.metrics}"
    assert httpx2.get(f"{url}/metrics").status_code == 401
    known = SECRETS["METRICS_TOKEN"]
    assert httpx2.get(f"{url}/metrics", headers=bearer(known)).status_code == 200
    assert httpx2.get(f"{url}/healthz").status_code == 200


def test_the_api_asks_for_the_admin_token(daemon: ChildDaemon) -> None:
    url = f"http://{daemon.web}/api/v1/ledger"
    assert httpx2.get(url).status_code == 401
    assert httpx2.get(url, headers=bearer(SECRETS["ADMIN_TOKEN"])).status_code == 200


def test_spans_are_taken_with_the_header_of_the_collector_alone(daemon: ChildDaemon) -> None:
    headers = parsed("otel-collector/collector.yaml")["exporters"]["otlp/ragvigil"]["headers"]
    said = headers["authorization"].replace("${env:OTLP_TOKEN}", SECRETS["OTLP_TOKEN"])
    for authorization, taken in (("Bearer another", 0), (said, 1)):
        sent_with({"authorization": authorization}, daemon)
        reply = httpx2.get(
            f"http://{daemon.metrics}/metrics", headers=bearer(SECRETS["METRICS_TOKEN"])
        )
        found = re.findall(r"^ragvigil_items_accepted_total\{.*\} (\S+)$", reply.text, flags=re.M)
        assert sum(map(float, found)) == taken


def sent_with(headers: dict[str, str], daemon: ChildDaemon) -> None:
    """One span over gRPC."""
    exporter = OTLPSpanExporter(endpoint=f"http://{daemon.grpc}", insecure=True, headers=headers)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("compose").start_as_current_span("one"):
        pass
    provider.shutdown()
