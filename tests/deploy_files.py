"""Reads the files of deploy/ for the tests that check them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from ragvigil.app.demo.child_daemon import DEFAULT_PORTS
from ragvigil.app.settings import Settings, load
from tests.certificates import self_signed

SERVICE_LINKS = {
    "RAGVIGIL_SERVICE_HOST": "10.0.0.7",
    "RAGVIGIL_SERVICE_PORT": "8088",
    "RAGVIGIL_SERVICE_PORT_WEB": "8088",
    "RAGVIGIL_PORT": "tcp://10.0.0.7:8088",
    "RAGVIGIL_PORT_8088_TCP": "tcp://10.0.0.7:8088",
    "RAGVIGIL_PORT_8088_TCP_PROTO": "tcp",
    "RAGVIGIL_PORT_8088_TCP_PORT": "8088",
    "RAGVIGIL_PORT_8088_TCP_ADDR": "10.0.0.7",
    "RAGVIGIL_OTLP_SERVICE_HOST": "10.0.0.8",
}
"""What Kubernetes puts into each pod beside Services `ragvigil` and `ragvigil-otlp`."""
ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
SCHEMAS = ROOT / "tests/golden/schemas"
PORTS = set(DEFAULT_PORTS.values())
YAML = sorted(
    path for path in DEPLOY.rglob("*") if path.suffix in (".yaml", ".yml") and path.is_file()
)


def parsed(path: str) -> Any:
    """A YAML file of deploy/."""
    return yaml.safe_load((DEPLOY / path).read_text(encoding="utf-8"))


def text(path: str) -> str:
    """A file of deploy/ as it stands."""
    return (DEPLOY / path).read_text(encoding="utf-8")


def problems(schema: str, document: object) -> list[str]:
    """What a schema of tests/golden/schemas has against `document`."""
    validator = jsonschema_rs.validator_for(json.loads((SCHEMAS / schema).read_text()))
    return [
        f"{'.'.join(map(str, error.instance_path))}: {error.message}"
        for error in validator.iter_errors(document)
    ]


def compose() -> Any:
    """compose.yaml."""
    return parsed("compose.yaml")


def services() -> dict[str, Any]:
    """The services of compose.yaml."""
    return dict(compose()["services"])


def settings_of(variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the daemon makes of these variables alone, without a settings file."""
    for name in list(os.environ):
        if name.startswith("RAGVIGIL_"):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAGVIGIL_CONFIG", os.devnull)
    return load()


def settings_of_pod(
    pod: Mapping[str, Any],
    secrets: Mapping[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Settings:
    """What the one container's variables make, with `secrets` by key; `folder` stands for /run.

    Every listener off loopback needs a token and TLS, else the settings refuse.
    """
    pair = self_signed(folder)
    files = {"tls.crt": pair.certificate, "tls.key": pair.key}
    for name in ("otlp-token", "metrics-token"):
        files[name] = folder / name
        files[name].write_text(f"{name}-0123456789")
    (container,) = pod["containers"]
    injected = {} if pod.get("enableServiceLinks") is False else SERVICE_LINKS
    variables = injected | {
        each["name"]: each.get("value") or secrets[each["valueFrom"]["secretKeyRef"]["key"]]
        for each in container["env"]
    }
    for name, value in variables.items():
        if value.startswith("/run/"):
            variables[name] = str(files[value.rpartition("/")[2]])
    made = settings_of(variables, monkeypatch)
    assert not any(each.insecure for each in (made.collector, made.metrics, made.web))
    return made
