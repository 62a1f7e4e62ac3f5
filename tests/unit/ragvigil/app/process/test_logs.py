"""A line of the log is one event, whatever its values hold."""

from __future__ import annotations

import logging
import sys

import pytest
import structlog

from ragvigil.app.process.logs import Forward, configure_logs
from ragvigil.app.process.tied import run_tied
from tests.patience import PATIENCE_SECONDS


def test_a_value_forges_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    try:
        log = structlog.get_logger()
        try:
            raise ValueError("x\n\x1b[2Jlevel=error event=forged\u2028")
        except ValueError as error:
            log.exception("broken", route="/a\nlevel=error\x1b[31m\u202e", error=error, count=3)
    finally:
        structlog.reset_defaults()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert "count=3" in line
    assert r"\x1b[31m" in line


def test_a_library_forges_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    try:
        try:
            raise ValueError("x\n\x1b[2Jforged")
        except ValueError:
            record = logging.LogRecord(
                "acme", logging.ERROR, "acme.py", 1, "failed on %s", ("a\nb",), sys.exc_info()
            )
        Forward().emit(record)
    finally:
        structlog.reset_defaults()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert "logger=acme" in line
    assert "ValueError" in line


FROM_LIBRARIES = """
import logging
import uvicorn
from ragvigil.app.process.jobs import Schedule
from ragvigil.app.process.logs import configure_logs
configure_logs()
Schedule([])
uvicorn.Config(None, log_config=None, log_level="error")
for name in ("uvicorn.error", "apscheduler.scheduler"):
    logging.getLogger(name).error("a library speaks")
"""


def test_the_lines_of_uvicorn_and_apscheduler_have_our_form_and_their_name() -> None:
    done = run_tied([sys.executable, "-c", FROM_LIBRARIES], seconds=PATIENCE_SECONDS)
    lines = done.stderr.splitlines()
    assert all(line.startswith("timestamp=") for line in lines)
    assert [line.partition("logger=")[2] for line in lines] == [
        "uvicorn.error",
        "apscheduler.scheduler",
    ]
