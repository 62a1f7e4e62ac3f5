"""Prometheus takes its configuration; Grafana finds its folders."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.deploy_files import (
    DEPLOY,
    ROOT,
    parsed,
    services,
    text,
)
from tests.monitoring import tool
from tests.patience import PATIENCE_SECONDS


def in_this_tree(tmp_path: Path) -> Path:
    """prometheus.yml with the paths of the container put where its files lie here."""
    secret = tmp_path / "ragvigil_metrics_token"
    secret.write_text("secret")
    said = text("prometheus/prometheus.yml")
    said = said.replace("/etc/prometheus/rules", str(ROOT / "alerts/rules"))
    path = tmp_path / "prometheus.yml"
    path.write_text(said.replace("/run/secrets/ragvigil_metrics_token", str(secret)))
    return path


def test_prometheus_accepts_its_configuration_and_finds_the_rules(tmp_path: Path) -> None:
    command = [tool("promtool"), "check", "config", str(in_this_tree(tmp_path))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "rules found" in ended.stdout


def test_the_paths_of_prometheus_are_those_that_compose_mounts() -> None:
    targets = {mount.split(":")[1] for mount in services()["prometheus"]["volumes"]}
    (rules,) = parsed("prometheus/prometheus.yml")["rule_files"]
    assert str(Path(rules).parent) in targets
    assert "/etc/prometheus/prometheus.yml" in targets


def test_grafana_finds_its_folders_and_the_data_source_that_is_provisioned() -> None:
    mounts = dict(mount.split(":")[:2][::-1] for mount in services()["grafana"]["volumes"])
    (provider,) = parsed("grafana/provisioning/dashboards/ragvigil.yaml")["providers"]
    folder = DEPLOY / mounts[provider["options"]["path"]]
    home = services()["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (folder / Path(home).name).is_file()
    assert str(Path(home).parent) == provider["options"]["path"]
    (source,) = parsed("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    assert source["type"] == "prometheus"
    interval = parsed("prometheus/prometheus.yml")["global"]["scrape_interval"]
    assert source["jsonData"]["timeInterval"] == interval
