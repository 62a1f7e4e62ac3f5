"""Distributions of other people: a package and its dist-info in a folder, as pip leaves them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_SECONDS


def install(
    folder: Path,
    name: str,
    *,
    files: Mapping[str, str],
    entry_points: Mapping[str, Mapping[str, str]],
) -> None:
    """Puts a distribution into `folder`; `entry_points` are values by group and name."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines: list[str] = []
    for group, points in entry_points.items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ran_with(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that finds the distributions in `folder`."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("RAGVIGIL_")}
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *arguments],
        env=variables | {"PYTHONPATH": path},
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def printed_with(folder: Path, code: str) -> Any:
    """The JSON that `code` prints in such an interpreter."""
    done = ran_with(folder, "-c", code)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
