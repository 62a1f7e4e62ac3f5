"""Asking for help or checking the settings loads nothing heavy, and the intake stays lean."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "numpy",
    "chdb",
    "clickhouse_connect",
    "torch",
    "sentence_transformers",
    "hdbscan",
    "umap",
    "numba",
    "apscheduler",
    "fastapi",
    "grpc",
    "rapidfuzz",
    "opentelemetry.sdk",
    "pydantic_ai",
    "openai",
    "anthropic",
    "httpx2",
}


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running `code`."""
    report = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check"], ["deltas", "--help"]])
def test_a_light_command_imports_no_heavy_library(arguments: list[str]) -> None:
    code = f"sys.argv = ['ragvigil', *{arguments}]; from ragvigil.app.cli.main import main; main()"
    assert not HEAVY & loaded_by(code)


def test_the_intake_imports_neither_numpy_nor_the_store() -> None:
    assert not (HEAVY - {"grpc"}) & loaded_by("import ragvigil.app.daemon")


def test_an_edge_imports_no_pages_and_nothing_that_only_they_ask() -> None:
    code = "import ragvigil.app.core, ragvigil.web.site.application"
    asked = {"ragvigil.app.web_sources", "ragvigil.web.site.parts", "ragvigil.web.pages.issues"}
    assert not asked & loaded_by(code)


@pytest.mark.parametrize("module", ["ragvigil.app.daemon", "ragvigil.app.core"])
def test_a_process_that_imports_structlog_alone_has_no_rich(module: str) -> None:
    code = f"import ragvigil.app.process.plain_structlog, {module}; import rich.text"
    loaded = loaded_by(code)
    assert {"structlog", "rich.text"} <= loaded  # who wants rich still gets it
    assert not {"rich.traceback", "rich.pretty", "attr", "greenlet"} & loaded
