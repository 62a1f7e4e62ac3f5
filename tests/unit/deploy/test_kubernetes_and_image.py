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


def let_through() -> set[str]:
    """What the build gets of the checkout."""
    return set(re.findall(r"^!(\S+)$", text("Dockerfile.dockerignore"), flags=re.M))


def test_the_build_gets_what_the_wheel_is_made_of_and_nothing_else() -> None:
    parsed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = parsed["tool"]["hatch"]["build"]["targets"]["wheel"]
    project = {"pyproject.toml", parsed["project"]["readme"], *parsed["project"]["license-files"]}
    parts = {*project, *wheel["packages"], *wheel["force-include"]}
    assert {name for name in parts if not any(is_in(name, each) for each in let_through())} == set()
    assert {each for each in let_through() if not any(is_in(name, each) for name in parts)} == set()
    assert all((ROOT / name).exists() for name in parts | let_through())


def is_in(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


def test_secrets_are_kept_out_of_the_build() -> None:
    assert "\ndeploy/.env\n" in text("Dockerfile.dockerignore")


def test_the_image_has_all_extras_by_default_and_takes_a_release_instead() -> None:
    assert 'ARG INSTALL=".[all]"\n' in text("Dockerfile")
    assert '"$INSTALL"\n' in text("Dockerfile")


def test_the_helpdesk_image_starts_in_the_folder_that_the_wheel_carries() -> None:
    (python,) = set(re.findall(r"^FROM python:(\d+\.\d+)", text("Dockerfile"), flags=re.M))
    place = f"lib/python{python}/site-packages/ragvigil/shipped"
    assert f"WORKDIR /opt/ragvigil/{place}\n" in text("Dockerfile")
