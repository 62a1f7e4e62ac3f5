"""`ragvigil alert rules` writes the shipped rules, with links to your runbook."""

from __future__ import annotations

from pathlib import Path

import yaml
from typer.testing import CliRunner

from ragvigil.app.cli.main import app

ROOT = Path(__file__).resolve().parents[5]


def test_the_rules_link_to_the_runbook_of_the_settings(tmp_path: Path) -> None:
    settings = tmp_path / "ragvigil.toml"
    settings.write_text('[web]\nrunbook_url = "https://wiki.example/rag"\n')
    folder = tmp_path / "rules"
    said = CliRunner().invoke(app, ["alert", "rules", "--to", str(folder), "-c", str(settings)])
    assert said.exit_code == 0, said.output
    shipped = sorted((ROOT / "alerts" / "rules").glob("*.yml"))
    assert [path.name for path in sorted(folder.iterdir())] == [path.name for path in shipped]
    links = [
        rule["annotations"]["runbook_url"]
        for path in folder.iterdir()
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
        if "alert" in rule
    ]
    assert len(links) > 30
    assert all(link.startswith("https://wiki.example/rag#rag") for link in links)


def test_without_settings_the_rules_are_the_shipped_ones(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["alert", "rules", "--to", str(tmp_path)])
    assert said.exit_code == 0, said.output
    for path in (ROOT / "alerts" / "rules").glob("*.yml"):
        assert (tmp_path / path.name).read_text() == path.read_text()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = CliRunner().invoke(app, ["alert", "rules", "--to", str(tmp_path / "file" / "rules")])
    assert said.exit_code == 2
    assert "the rules cannot be written" in said.output
