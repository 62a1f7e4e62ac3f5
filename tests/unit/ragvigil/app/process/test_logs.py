"""A line of the log is one event, whatever its values hold."""

from __future__ import annotations

import logging
import sys

import pytest
import structlog

from ragvigil.app.process.logs import Forward, configure_logs


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
