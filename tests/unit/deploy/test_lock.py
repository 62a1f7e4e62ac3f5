"""The lock: every library that is installed, at the version that is tested, with its hashes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from packaging.requirements import Requirement

from tests.deploy_files import ROOT


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, list[str]]:
    """The lines of each library in the lock, its own first."""
    libraries: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if line[:1] not in ("#", " "):
            lines = libraries.setdefault(canonical(line.partition("==")[0]), [])
        if line[:1] != "#":
            lines.append(line)
    return libraries


def needed() -> Iterator[Requirement]:
    """What ragvigil[all] needs directly."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for lines in (project["dependencies"], *(v for k, v in extras.items() if k != "dev")):
        yield from map(Requirement, lines)


def test_every_library_has_hashes_and_the_version_that_is_tested() -> None:
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if "==" in line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pinned[canonical(name)] = version.partition(";")[0].strip()
    for name, (first, *hashes) in locked().items():
        assert hashes, name
        assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}( \\)?", each) for each in hashes)
        version = re.match(r"\S+==([^\s;]+)", first)
        assert version, first
        if name in pinned:
            assert version[1] == pinned[name], f"{name}: run `make lock`"


def test_everything_that_is_needed_directly_is_locked() -> None:
    missing = {canonical(each.name) for each in needed()} - locked().keys() - {"ragvigil"}
    assert not missing, "run `make lock`"
