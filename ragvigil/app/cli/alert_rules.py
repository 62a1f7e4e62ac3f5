"""`ragvigil alert rules`: the Prometheus rules of this version, with links to your runbook."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ragvigil.web.settings import WebSettings

SHIPPED_RUNBOOK = WebSettings().runbook
"""The runbook's address in the shipped rules: that of a daemon with default settings."""


def write_rules(folder: Path, runbook: str) -> list[Path]:
    """Writes each rule file into `folder`, created where it is missing; returns the paths.

    `runbook` replaces the address of the shipped runbook. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for source in sorted(files("alerts").joinpath("rules").iterdir(), key=lambda file: file.name):
        if source.name.endswith(".yml"):
            target = folder / source.name
            text = source.read_text(encoding="utf-8").replace(SHIPPED_RUNBOOK, runbook)
            target.write_text(text, encoding="utf-8")
            paths.append(target)
    return paths
