"""What the container allows counts, not what the machine has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragvigil.app.process import memory


@pytest.mark.parametrize(
    ("quota", "cpus"), [("100000 100000", 1), ("50000 100000", 1), ("max 100000", None)]
)
def test_cpus_are_those_of_the_containers_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cpus: int | None
) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota + "\n", encoding="ascii")
    monkeypatch.setattr(memory, "CPU_CGROUP", file)
    assert memory.cpus() == (cpus or len(os.sched_getaffinity(0)))
