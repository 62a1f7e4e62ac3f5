"""Files of others that pages load are those that their README names, byte for byte."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.house.tables import ROOT

STATIC = ROOT / "ragvigil" / "web" / "static"
FOLDERS = sorted(folder.name for folder in STATIC.iterdir() if folder.is_dir())
ROW = re.compile(r"^\| `(?P<file>[^`]+)` \| `(?P<checksum>[0-9a-f]{64})` \|$", re.MULTILINE)


def test_there_are_files_of_others() -> None:
    assert {"htmx", "swagger-ui", "uplot"} <= set(FOLDERS)


@pytest.mark.parametrize("name", FOLDERS)
def test_each_file_has_the_checksum_in_its_readme(name: str) -> None:
    folder = STATIC / name
    files = {path.name: sha256(path.read_bytes()).hexdigest() for path in _files(folder)}
    assert files == dict(ROW.findall((folder / "README.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", FOLDERS)
def test_the_readme_names_version_licence_and_source(name: str) -> None:
    text = (STATIC / name / "README.md").read_text(encoding="utf-8")
    assert re.search(r"`[\w.-]+` \d+\.\d+\.\d+ from npm, [\w.-]+ \(`LICENSE`", text)
    assert (STATIC / name / "LICENSE").is_file()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "README.md"]
