"""The daemon with plug-ins of others that do not load: it runs, scores, and says what it lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from tests.distributions import install
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

BROKEN = "import a_library_that_nobody_has\n"
GROUPS = ("conventions", "rubrics", "scorers")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    folder = tmp_path_factory.mktemp("plugins")
    install(
        folder,
        "acme-rag",
        files={"acme/__init__.py": "", "acme/broken.py": BROKEN},
        entry_points={f"ragvigil.{group}": {"tone": "acme.broken"} for group in GROUPS},
    )
    with running(folder / "data", settings={"PYTHONPATH": str(folder)}) as started:
        yield started


def test_it_becomes_ready_and_counts_each(daemon: ChildDaemon) -> None:
    shown = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    for group in GROUPS:
        sample = f'ragvigil_plugin_failures_total{{group="ragvigil.{group}",name="tone"}} 1.0'
        assert sample in shown.splitlines()


def test_its_log_names_each_in_one_line(daemon: ChildDaemon) -> None:
    lines = (daemon.data_dir / "daemon.log").read_text().splitlines()
    named = [line for line in lines if "plug-in left out" in line]
    assert len(named) == len(GROUPS)
    for group in GROUPS:
        (line,) = [line for line in named if f"group=ragvigil.{group} " in line]
        assert "name=tone distribution=acme-rag" in line
        assert "No module named 'a_library_that_nobody_has'" in line


def test_the_status_command_shows_each(daemon: ChildDaemon) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ragvigil.app.cli.main", "status"],
        env=os.environ | {"RAGVIGIL_WEB__ENDPOINT": daemon.web},
        cwd=daemon.data_dir,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    for group in GROUPS:
        assert f"ragvigil.{group}: tone of acme-rag is left out: ModuleNotFound" in done.stdout
