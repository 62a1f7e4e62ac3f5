"""The daemon in Kubernetes: each manifest by its schema, confined as a restricted pod is."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from ragvigil.app.demo.child_daemon import DEFAULT_PORTS
from tests.deploy_files import DEPLOY, parsed, settings_of_pod

FOLDER = DEPLOY / "kubernetes/daemon"
VERSION = "1.37"


def manifests() -> list[Any]:
    """Everything that the kustomization lists."""
    names = parsed("kubernetes/daemon/kustomization.yaml")["resources"]
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in names]
    return [each for text in texts for each in yaml.safe_load_all(text)]


def of_kind(kind: str) -> list[Any]:
    return [each for each in manifests() if each["kind"] == kind]


def pod() -> Any:
    (workload,) = of_kind("StatefulSet")
    return workload["spec"]["template"]["spec"]


def test_every_file_is_listed_and_follows_the_schema() -> None:
    listed = {*parsed("kubernetes/daemon/kustomization.yaml")["resources"], "kustomization.yaml"}
    assert {path.name for path in FOLDER.iterdir()} == listed
    for manifest in manifests():
        kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_the_schema_refuses_what_is_wrong() -> None:
    (workload,) = of_kind("StatefulSet")
    workload["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(workload, VERSION, strict=True)


def test_a_restricted_namespace_takes_the_pod() -> None:
    (namespace,) = of_kind("Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    (container,) = pod()["containers"]
    of_pod, of_container = pod()["securityContext"], container["securityContext"]
    assert of_pod["runAsNonRoot"]
    assert of_pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert of_container["allowPrivilegeEscalation"] is False
    assert of_container["readOnlyRootFilesystem"]
    assert of_container["capabilities"] == {"drop": ["ALL"]}
    assert pod()["automountServiceAccountToken"] is False
    volumes = {name for each in pod()["volumes"] for name in each}
    assert volumes <= {"name", "emptyDir", "secret"}


def test_services_policy_and_budget_select_the_pod_and_name_its_ports() -> None:
    (workload,) = of_kind("StatefulSet")
    labels = workload["spec"]["template"]["metadata"]["labels"]
    (policy,), (budget,) = of_kind("NetworkPolicy"), of_kind("PodDisruptionBudget")
    selected = [
        workload["spec"]["selector"]["matchLabels"],
        policy["spec"]["podSelector"]["matchLabels"],
        budget["spec"]["selector"]["matchLabels"],
        *(service["spec"]["selector"] for service in of_kind("Service")),
    ]
    assert all(each == labels for each in selected)
    (container,) = pod()["containers"]
    named = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert set(named.values()) == set(DEFAULT_PORTS.values())
    ports = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
    assert ports == set(named)
    for service in of_kind("Service"):
        for port in service["spec"]["ports"]:
            assert named[port["targetPort"]] == port["port"]
    assert workload["spec"]["serviceName"] in {
        service["metadata"]["name"] for service in of_kind("Service")
    }


def test_probes_and_mounts_name_what_there_is() -> None:
    (workload,) = of_kind("StatefulSet")
    (container,) = pod()["containers"]
    names = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in names
    claims = {claim["metadata"]["name"] for claim in workload["spec"]["volumeClaimTemplates"]}
    volumes = {volume["name"] for volume in pod()["volumes"]} | claims
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes


def test_the_daemon_starts_with_these_variables_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    made = settings_of_pod(pod(), {"admin-token": "admin-0123456789"}, tmp_path, monkeypatch)
    (container,) = pod()["containers"]
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(made.data_dir) in mounted


def test_the_component_patches_what_carries_its_label() -> None:
    component = parsed("kubernetes/kustomization.yaml")
    assert component["kind"] == "Component"
    (patch,) = component["patches"]
    assert parsed(f"kubernetes/{patch['path']}")["kind"] == patch["target"]["kind"]
