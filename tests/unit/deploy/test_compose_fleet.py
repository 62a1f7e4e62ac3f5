"""compose.fleet.yaml: the Compose Specification, and daemons that are one fleet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.settings import Settings
from tests.deploy_files import DEPLOY, parsed, problems, settings_of, text

FILE = "compose.fleet.yaml"
DAEMONS = ("edge-1", "edge-2", "analyst-1", "analyst-2", "scorer-1")


def services() -> dict[str, Any]:
    return dict(parsed(FILE)["services"])


def test_it_follows_the_compose_specification() -> None:
    assert not problems("compose-spec.json", parsed(FILE))


def test_its_files_volumes_secrets_and_services_exist() -> None:
    whole = parsed(FILE)
    for name, service in services().items():
        for mount in service.get("volumes", ()):
            source = mount.partition(":")[0]
            exists = (DEPLOY / source).exists() if source[0] == "." else source in whole["volumes"]
            assert exists, f"{name}: {source}"
        assert "secrets" not in service, name
        for other, how in service.get("depends_on", {}).items():
            image = services()[other]["image"]
            is_checked = "healthcheck" in services()[other] or image.startswith("ragvigil:")
            assert is_checked, f"{name} -> {other}: {how}"
    asked = set(re.findall(r"\$\{(\w+):\?", text(FILE)))
    assert asked <= set(re.findall(r"^(\w+)=$", text(".env.example"), re.MULTILINE))


def test_ports_are_published_on_loopback_alone_and_once() -> None:
    ports = [port for service in services().values() for port in service.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


def test_its_images_are_those_of_compose_yaml() -> None:
    known = {service["image"] for service in parsed("compose.yaml")["services"].values()}
    assert {service["image"] for service in services().values()} <= known


def made(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings that a daemon runs with."""
    variables = {}
    for key, value in services()[name]["environment"].items():
        variables[key] = re.sub(r"\$\{(\w+)[^}]*\}", "secret", value)
        if value.startswith("/run/secrets/"):
            secret = folder / Path(value).name
            secret.write_text("secret")
            variables[key] = str(secret)
    return settings_of(variables, monkeypatch)


def test_the_daemons_are_one_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    all_ = {name: made(name, tmp_path, monkeypatch) for name in DAEMONS}
    assert len({each.store.url for each in all_.values()}) == 1
    assert len({each.judge.salt for each in all_.values()}) == 1
    for name, each in all_.items():
        assert each.fleet.replica == name
        assert [role.value for role in each.fleet.roles] == [name.partition("-")[0]]
        assert (each.metrics.secret(), each.web.secret("admin")) == ("secret", "secret")
    folders = [services()[name]["volumes"] for name in DAEMONS]
    assert len(set(map(str, folders))) == len(DAEMONS), "each has a folder of its own"


def test_the_gateway_finds_both_edges_by_the_name_that_it_asks_for() -> None:
    asked = parsed("otel-collector/loadbalancing.yaml")["exporters"]["loadbalancing"]
    name = asked["resolver"]["dns"]["hostname"]
    for edge in DAEMONS[:2]:
        service = services()[edge]
        assert service["networks"]["default"]["aliases"] == [name]
        port = asked["resolver"]["dns"]["port"]
        assert service["environment"]["RAGVIGIL_COLLECTOR__GRPC_ENDPOINT"] == f"0.0.0.0:{port}"
