"""The files that `ragvigil deploy print` gives out, with their names in the folder they go to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files as resources
from pathlib import Path

from ragvigil.shipped import SHIPPED

SOURCES = '".[all]"'
"""What the shipped compose.yaml installs into its image: a checkout, where a user has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Files that belong together; their names are those below `folder`."""

    patterns: tuple[str, ...]
    folder: str = ""
    with_rules: str = ""
    """The folder that the alert rules go to; empty leaves them out."""


BUNDLES: Mapping[str, Bundle] = {
    "grafana": Bundle(
        folder="deploy/grafana", patterns=("dashboards/*.json", "provisioning/*/*.yaml")
    ),
    "tee": Bundle(folder="deploy/otel-collector", patterns=("tee.yaml",)),
    "collector": Bundle(
        folder="deploy/otel-collector", patterns=("collector.yaml", "loadbalancing.yaml")
    ),
    "prometheus": Bundle(
        folder="deploy/prometheus", patterns=("prometheus.yml",), with_rules="rules"
    ),
    "alertmanager": Bundle(folder="deploy/alertmanager", patterns=("*.yml", "*.tmpl")),
    "compose": Bundle(
        patterns=(
            "constraints.txt",
            "deploy/.env.example",
            "deploy/Dockerfile*",
            "deploy/alertmanager/*",
            "deploy/compose.yaml",
            "deploy/grafana/dashboards/*.json",
            "deploy/grafana/provisioning/*/*.yaml",
            "deploy/otel-collector/collector.yaml",
            "deploy/prometheus/prometheus.yml",
        ),
        with_rules="alerts/rules",
    ),
    "sidecar": Bundle(folder="deploy/kubernetes", patterns=("sidecar.yaml",)),
    "settings": Bundle(folder="deploy/examples", patterns=("*.toml",)),
    "ci": Bundle(folder="deploy/ci", patterns=("*.yml",)),
}


def files(subject: str) -> dict[str, str]:
    """The text of each file of BUNDLES[subject], by its name in the folder it goes to."""
    bundle = BUNDLES[subject]
    folder = SHIPPED / bundle.folder
    paths = sorted(path for pattern in bundle.patterns for path in folder.glob(pattern))
    texts = {path.relative_to(folder).as_posix(): _text(path) for path in paths}
    return texts | (_rules(bundle.with_rules) if bundle.with_rules else {})


def write(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Writes files into `folder`, which is created; returns the paths. Raises OSError."""
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _text(path: Path) -> str:
    """A file's text; compose.yaml then installs this version, not the sources beside it."""
    release = f'"ragvigil[all]=={version("ragvigil")}"'
    return path.read_text(encoding="utf-8").replace(SOURCES, release)


def _rules(folder: str) -> dict[str, str]:
    rules = sorted(resources("alerts").joinpath("rules").iterdir(), key=lambda file: file.name)
    return {
        f"{folder}/{rule.name}": rule.read_text(encoding="utf-8")
        for rule in rules
        if rule.name.endswith(".yml")
    }
