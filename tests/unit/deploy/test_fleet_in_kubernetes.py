"""The fleet in Kubernetes: each manifest by its schema, confined, and fitting to the others."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from ragvigil.app.settings.fleet import Role
from tests.deploy_files import DEPLOY, parsed, settings_of_pod

FOLDER = DEPLOY / "kubernetes/fleet"
VERSION = "1.37"
WORKLOADS = ("ragvigil-edge", "ragvigil-analyst", "ragvigil-scorer", "otel-gateway")


def manifests() -> dict[tuple[str, str], Any]:
    """Everything that the kustomization lists, by kind and name."""
    names = parsed("kubernetes/fleet/kustomization.yaml")["resources"]
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in names]
    every = [each for text in texts for each in yaml.safe_load_all(text)]
    return {(each["kind"], each["metadata"]["name"]): each for each in every}


def workload(name: str) -> Any:
    return next(each for (_, its), each in manifests().items() if its == name and "template" in
                each.get("spec", {}))  # fmt: skip


def test_every_file_is_used_and_follows_the_schema() -> None:
    kustomization = parsed("kubernetes/fleet/kustomization.yaml")
    (configured,) = kustomization["configMapGenerator"]
    files = {each.partition("=")[2] for each in configured["files"]}
    used = {*kustomization["resources"], *files, "kustomization.yaml"}
    assert {path.name for path in FOLDER.iterdir()} == used
    for manifest in manifests().values():
        kubernetes_validate.validate(manifest, VERSION, strict=True)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_restricted_namespace_takes_each_pod(name: str) -> None:
    spec = workload(name)["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    claims = workload(name)["spec"].get("volumeClaimTemplates", [])
    volumes = {each["name"] for each in spec["volumes"]} | {
        each["metadata"]["name"] for each in claims
    }
    assert {each["name"] for each in container["volumeMounts"]} == volumes
    named = {port["name"] for port in container["ports"]}
    probes = [probe for key, probe in container.items() if key.endswith("Probe")]
    assert {probe["httpGet"]["port"] for probe in probes} <= named


def test_each_service_and_budget_selects_one_workload_and_names_its_ports() -> None:
    labels = {name: workload(name)["spec"]["template"]["metadata"]["labels"] for name in WORKLOADS}
    for (kind, name), each in manifests().items():
        if kind == "PodDisruptionBudget":
            selector = each["spec"]["selector"]["matchLabels"]
            assert [its for its in WORKLOADS if labels[its] == selector] == [name]
        if kind == "Service":
            (owner,) = [its for its in WORKLOADS if labels[its] == each["spec"]["selector"]]
            (container,) = workload(owner)["spec"]["template"]["spec"]["containers"]
            named = {port["name"]: port["containerPort"] for port in container["ports"]}
            assert all(named[port["targetPort"]] == port["port"] for port in each["spec"]["ports"])
    for name in ("ragvigil-edge", "ragvigil-analyst", "ragvigil-scorer"):
        assert ("Service", workload(name)["spec"]["serviceName"]) in manifests()


def test_the_gateway_keeps_a_trace_to_one_edge() -> None:
    exporter = parsed("kubernetes/fleet/gateway-config.yaml")["exporters"]["loadbalancing"]
    assert exporter["routing_key"] == "traceID"
    assert ("Service", exporter["resolver"]["dns"]["hostname"]) in manifests()
    assert exporter["resolver"]["dns"]["port"] == 4317
    # A queue by edge would be dropped with the edge's address.
    assert exporter["sending_queue"]["enabled"]
    assert exporter["retry_on_failure"]["enabled"]
    assert not exporter["protocol"]["otlp"]["sending_queue"]["enabled"]


def test_nothing_waits_for_the_analyst_that_stands_by() -> None:
    spec = workload("ragvigil-analyst")["spec"]
    assert spec["replicas"] == 2
    assert spec["podManagementPolicy"] == "Parallel"
    assert spec["updateStrategy"] == {"type": "OnDelete"}
    (container,) = spec["template"]["spec"]["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    # With one of two ready a budget would let nobody drain the leader's node.
    assert ("PodDisruptionBudget", "ragvigil-analyst") not in manifests()


@pytest.mark.parametrize("role", Role)
def test_a_daemon_starts_with_these_variables_alone(
    role: Role, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    secrets = {
        "admin-token": "admin-0123456789",
        "store-url": "https://u:p@clickhouse:8443/ragvigil",
    }
    pod = workload(f"ragvigil-{role}")["spec"]["template"]["spec"]
    made = settings_of_pod(pod, secrets, tmp_path, monkeypatch)
    assert made.fleet.roles == (role,)
    assert made.judge.salt == "ragvigil"
