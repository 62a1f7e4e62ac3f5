"""compose.yaml against the Compose Specification, the files it names, and the daemon."""

from __future__ import annotations

import re

import pytest

from ragvigil.app.demo.child_daemon import DEFAULT_PORTS
from ragvigil.app.settings import Settings
from ragvigil.model.endpoint import split_endpoint
from tests.deploy_files import (
    DEPLOY,
    PORTS,
    compose,
    parsed,
    problems,
    services,
    settings_of,
    text,
)


def test_compose_follows_the_compose_specification() -> None:
    assert not problems("compose-spec.json", compose())


def test_the_compose_schema_refuses_what_is_wrong() -> None:
    wrong = compose()
    wrong["services"]["ragvigil"]["prots"] = []
    assert problems("compose-spec.json", wrong)


def test_every_file_that_compose_mounts_or_builds_from_exists() -> None:
    for name, service in services().items():
        for mount in service.get("volumes", ()):
            source, target, *_ = mount.split(":")
            assert target.startswith("/"), name
            if source.startswith("."):
                assert (DEPLOY / source).exists(), f"{name}: {source}"
            else:
                assert source in compose()["volumes"], f"{name}: {source}"
        if build := service.get("build"):
            context = DEPLOY / build["context"]
            assert (context / build["dockerfile"]).is_file()
            assert f" AS {build['target']}\n" in text("Dockerfile")


def test_every_image_is_pinned_and_either_built_here_or_named_with_its_version() -> None:
    built = {service["image"] for service in services().values() if "build" in service}
    for name, service in services().items():
        image = service["image"]
        assert image in built or re.search(r":v?\d+\.\d+\.\d+(\.\d+)?$", image), name


def test_every_port_is_published_on_loopback_alone() -> None:
    for name, service in services().items():
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), f"{name}: {port}"


def test_no_two_services_publish_the_same_port() -> None:
    hosts = [
        port.split(":")[1] for service in services().values() for port in service.get("ports", ())
    ]
    assert len(hosts) == len(set(hosts))


def test_every_service_has_a_healthcheck_or_says_why_not() -> None:
    of_images = text("Dockerfile").count("HEALTHCHECK")
    without = {
        name
        for name, service in services().items()
        if "healthcheck" not in service and "build" not in service
    }
    assert of_images == sum("build" in service for service in services().values())
    assert without == {"otel-collector"}
    assert "no shell" in text("compose.yaml")


def test_every_service_that_is_waited_for_exists_and_can_become_healthy() -> None:
    for name, service in services().items():
        for other, how in service.get("depends_on", {}).items():
            checked = services()[other]
            is_checked = "healthcheck" in checked or "build" in checked
            assert is_checked or how["condition"] == "service_started", f"{name} -> {other}"


def test_every_secret_of_compose_stands_in_the_example_environment_and_none_has_a_value() -> None:
    asked = set(re.findall(r"\$\{(\w+):\?", text("compose.yaml")))
    asked |= {secret["environment"] for secret in compose()["secrets"].values()}
    lines = [line for line in text(".env.example").splitlines() if "=" in line and line[0] != "#"]
    assert {line.partition("=")[0] for line in lines} == asked
    assert all(line.endswith("=") for line in lines)
    assert ".env" in text(".gitignore").splitlines()


def test_every_secret_file_that_is_read_is_given_to_who_reads_it() -> None:
    wanted = set(re.findall(r"/run/secrets/(\w+)", text("prometheus/prometheus.yml")))
    assert wanted
    for name, service in services().items():
        assert set(service.get("secrets", ())) == (wanted if name == "prometheus" else set()), name
        # Compose puts a secret that it has of a variable only where the root may be written.
        assert not (service.get("read_only") and service.get("secrets")), name


def environment_of_ragvigil() -> dict[str, str]:
    given = services()["ragvigil"]["environment"]
    return {name: re.sub(r"\$\{(\w+)[^}]*\}", "secret", value) for name, value in given.items()}


@pytest.fixture
def in_compose(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings that the daemon of compose.yaml runs with."""
    return settings_of(environment_of_ragvigil(), monkeypatch)


def test_the_daemon_of_compose_accepts_its_settings_and_asks_everybody_for_a_token(
    in_compose: Settings,
) -> None:
    assert in_compose.store.url.endswith("@clickhouse:8123/ragvigil")
    assert in_compose.metrics.secret() == "secret"
    assert in_compose.collector.token("grpc") == in_compose.collector.token("http") == "secret"
    assert in_compose.web.secret("reader") == "secret"


def test_ports_agree_between_the_daemon_compose_prometheus_collector_and_image(
    in_compose: Settings,
) -> None:
    listens = {
        split_endpoint(endpoint)[1]
        for endpoint in (
            in_compose.collector.grpc_endpoint,
            in_compose.collector.http_endpoint,
            in_compose.metrics.endpoint,
            in_compose.web.endpoint,
        )
    }
    assert listens == PORTS
    exposed = re.findall(r"EXPOSE ([\d ]+)", text("Dockerfile"))[-1]
    assert {int(port) for port in exposed.split()} == PORTS
    published = {int(port.split(":")[-1]) for port in services()["ragvigil"]["ports"]}
    assert published <= PORTS
    (job,) = parsed("prometheus/prometheus.yml")["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"ragvigil:{DEFAULT_PORTS['metrics']}"]}]
    sent_to = parsed("otel-collector/collector.yaml")["exporters"]["otlp/ragvigil"]["endpoint"]
    assert sent_to == f"ragvigil:{DEFAULT_PORTS['grpc']}"
    healthy = f"http://127.0.0.1:{DEFAULT_PORTS['metrics']}/healthz"
    assert healthy in text("Dockerfile")


def test_every_host_that_a_service_is_pointed_to_is_a_service() -> None:
    known = set(services())
    files = ("compose.yaml", "prometheus/prometheus.yml", "otel-collector/collector.yaml")
    provisioned = "grafana/provisioning/datasources/prometheus.yaml"
    for path in (*files, provisioned):
        for host in re.findall(r"(?:://(?:\w+:[^@]*@)?|\")([a-z][a-z-]*):\d{4}", text(path)):
            assert host in known, f"{path}: {host}"
