"""The command line itself."""

from __future__ import annotations

from importlib.metadata import version

from typer.testing import CliRunner

from ragvigil.app.cli.main import app


def test_the_version_is_one_line() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"ragvigil {version('ragvigil')}\n")


def test_without_a_command_help_is_printed() -> None:
    assert "--version" in CliRunner().invoke(app, []).output
