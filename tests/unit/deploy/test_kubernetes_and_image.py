"""The sidecar against the schema of Kubernetes, the image against the tree."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from ragvigil.app.demo.child_daemon import DEFAULT_PORTS
from tests.deploy_files import (
    ROOT,
    parsed,
    problems,
    settings_of,
    text,
)


def patched() -> Any:
    """A small Deployment with the sidecar's patch merged into it, as kubectl does by name."""
    patch = parsed("kubernetes/sidecar.yaml")
    labels = {"app": "rag"}
    own = {"name": "rag", "image": "rag:1"}
    template = patch["spec"]["template"]
    template["metadata"]["labels"] = labels
    template["spec"]["containers"] = [own, *template["spec"]["containers"]]
    patch["metadata"] = {"name": "rag"}
    patch["spec"]["selector"] = {"matchLabels": labels}
    return patch


def test_the_patched_deployment_follows_the_schema_of_kubernetes() -> None:
    assert not problems("kubernetes-deployment.json", patched())


def test_the_schema_of_kubernetes_refuses_what_is_wrong() -> None:
    wrong = patched()
    wrong["spec"]["template"]["spec"]["containers"][1]["livenesProbe"] = {}
    assert problems("kubernetes-deployment.json", wrong)


def test_the_sidecar_mounts_what_the_pod_has_and_probes_the_port_it_names() -> None:
    pod = parsed("kubernetes/sidecar.yaml")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }
    (port,) = container["ports"]
    assert port["containerPort"] == DEFAULT_PORTS["metrics"]
    for probe in ("startupProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]


def test_the_sidecar_accepts_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    (container,) = parsed("kubernetes/sidecar.yaml")["spec"]["template"]["spec"]["containers"]
    variables = {variable["name"]: variable.get("value", "secret") for variable in container["env"]}
    made = settings_of(variables, monkeypatch)
    assert made.metrics.endpoint == f"0.0.0.0:{DEFAULT_PORTS['metrics']}"
    assert made.metrics.secret() == "secret"
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(made.data_dir) in mounts


def test_image_and_sidecar_run_as_the_same_user_who_is_not_root() -> None:
    (container,) = parsed("kubernetes/sidecar.yaml")["spec"]["template"]["spec"]["containers"]
    (user,) = re.findall(r"^USER (\d+):\1$", text("Dockerfile"), flags=re.M)
    assert container["securityContext"]["runAsUser"] == int(user) > 0
    assert text("Dockerfile").rindex("USER ") < text("Dockerfile").index("ENTRYPOINT")


def test_what_the_image_copies_exists_and_is_let_through_to_the_build() -> None:
    copied = {
        name
        for line in re.findall(r"^COPY (?!--)(.+) \S+$", text("Dockerfile"), flags=re.M)
        for name in line.split()
    }
    let_through = set(re.findall(r"^!(\S+)$", text("Dockerfile.dockerignore"), flags=re.M))
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)


def test_the_image_holds_every_package_of_the_distribution() -> None:
    packages = re.search(r"packages = \[(.*?)\]\n", (ROOT / "pyproject.toml").read_text())
    assert packages
    for name in re.findall(r'"(\w+)"', packages[1]):
        assert f"COPY {name} {name}\n" in text("Dockerfile")


def test_the_image_holds_what_the_wheel_takes_along() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    taken = wheel["targets"]["wheel"]["force-include"]
    assert taken
    for name in taken:
        assert f"COPY {name} {name}\n" in text("Dockerfile")
