"""The limit of open files: raised, and shared out."""

from __future__ import annotations

import subprocess
import sys

import pytest
import structlog

from collector.settings import CollectorSettings, LimitSettings
from ragvigil.app.process.descriptors import INTAKE_RESERVE, LEAST, fit_core, fit_intake
from ragvigil.app.settings import Settings


def caps(settings: Settings) -> tuple[int, int]:
    """Connections of each OTLP listener and of the metrics listener."""
    return settings.collector.limits.max_connections, settings.metrics.max_connections


def test_with_files_enough_the_settings_stand() -> None:
    settings = Settings()
    assert fit_intake(settings, 65_536) is settings
    assert fit_core(settings, 65_536) is settings


@pytest.mark.parametrize("limit", [200, 256, 512, 1024, 2000])
def test_all_connections_and_the_reserve_fit_into_the_limit(limit: int) -> None:
    otlp, metrics = caps(fit_intake(Settings(), limit))
    assert 2 * otlp + metrics + INTAKE_RESERVE <= limit
    assert min(otlp, metrics) > LEAST


def test_health_keeps_its_connections_when_the_others_shrink() -> None:
    limits = LimitSettings(max_connections=10_000)
    settings = Settings(collector=CollectorSettings(limits=limits))
    assert caps(fit_intake(settings, 1024)) == (432, 64)


def test_a_limit_that_is_far_too_low_leaves_a_few() -> None:
    assert caps(fit_intake(Settings(), 64)) == (LEAST, LEAST)


def test_what_is_lowered_is_one_line() -> None:
    with structlog.testing.capture_logs() as lines:
        fit_intake(Settings(), 512)
        fit_core(Settings(), 512)
    assert [(line["files"], line.get("http"), line.get("web")) for line in lines] == [
        (512, 176, None),
        (512, None, 128),
    ]


@pytest.mark.parametrize(("soft", "hard", "expected"), [(128, 512, 512), (512, 512, 512)])
def test_the_soft_limit_is_raised_to_the_hard_one(soft: int, hard: int, expected: int) -> None:
    code = (
        "import resource; from ragvigil.app.process.descriptors import raise_limit;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}));"
        "print(raise_limit(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(expected)] * 2
