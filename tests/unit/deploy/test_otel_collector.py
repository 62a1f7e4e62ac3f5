"""The Collector tees traces and logs, queues, and spreads whole traces."""

from __future__ import annotations

import pytest

from ragvigil.app.settings import Settings
from tests.deploy_files import (
    ROOT,
    parsed,
    text,
)

COLLECTORS = ("collector.yaml", "loadbalancing.yaml", "persistent.yaml")


@pytest.mark.parametrize("name", COLLECTORS)
def test_every_part_of_a_pipeline_is_configured_and_every_configured_part_is_used(
    name: str,
) -> None:
    said = parsed(f"otel-collector/{name}")
    for kind in ("receivers", "processors", "exporters"):
        used = {
            part for pipeline in said["service"]["pipelines"].values() for part in pipeline[kind]
        }
        assert used == set(said[kind])
    assert set(said["service"]["extensions"]) == set(said["extensions"])


@pytest.mark.parametrize("name", [*COLLECTORS, "tee.yaml"])
def test_traces_and_logs_go_to_ragvigil_and_to_another_backend(name: str) -> None:
    pipelines = parsed(f"otel-collector/{name}")["service"]["pipelines"]
    assert set(pipelines) == {"traces", "logs"}
    for pipeline in pipelines.values():
        ours = [
            name for name in pipeline["exporters"] if "ragvigil" in name or name == "loadbalancing"
        ]
        assert len(ours) == 1
        assert len(pipeline["exporters"]) == 2


def test_the_readme_links_to_the_tee_and_says_how_long_it_is() -> None:
    lines = [line for line in text("otel-collector/tee.yaml").splitlines() if line[0] != "#"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "six lines send it a copy: [tee.yaml](deploy/otel-collector/tee.yaml)" in readme
    assert len(lines) == 6


def test_both_ways_to_ragvigil_queue_and_retry() -> None:
    tee = parsed("otel-collector/collector.yaml")["exporters"]["otlp/ragvigil"]
    spread = parsed("otel-collector/loadbalancing.yaml")["exporters"]["loadbalancing"]
    assert spread["routing_key"] == "traceID"
    for exporter in (tee, spread):
        assert exporter["sending_queue"]["enabled"]
        assert exporter["retry_on_failure"]["enabled"]


def test_the_queue_on_a_disk_has_one_and_gives_nothing_up() -> None:
    said = parsed("otel-collector/persistent.yaml")
    exporter = said["exporters"]["otlp/ragvigil"]
    assert exporter["sending_queue"]["storage"] in said["extensions"]
    assert exporter["retry_on_failure"]["max_elapsed_time"] == "0s"
    assert "insecure" not in exporter["tls"]


def test_no_batch_is_larger_than_a_request_may_be() -> None:
    most = Settings.model_fields["collector"].default.limits.max_items
    for name in COLLECTORS:
        assert (
            parsed(f"otel-collector/{name}")["processors"]["batch"]["send_batch_max_size"] <= most
        )
