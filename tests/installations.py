"""Environments that hold ragvigil and the packages of some extras, and nothing else.

Each is a virtual environment of links to the packages of the one that runs the tests, chosen as pip
would: by the requirements in pyproject.toml and in the packages' own metadata.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def install(folder: Path, *extras: str, code: Path = ROOT) -> Path:
    """Makes an environment with these extras and the ragvigil in `code`; its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    _link(site, [distribution(name) for name in sorted(needed(extras))])
    (site / "ragvigil.pth").write_text(f"{code}\n", encoding="utf-8")
    if code == ROOT:  # an unpacked wheel brings its own metadata
        info = Path(str(distribution("ragvigil")._path))  # type: ignore[attr-defined]
        (site / info.name).symlink_to(info)
    return folder / "bin" / "python"


def needed(extras: Iterable[str]) -> set[str]:
    """The distributions that pip would install for `ragvigil[extras]`, by normalized name.

    Raises PackageNotFoundError for one that the environment of the tests lacks.
    """
    waiting = list(_of_ragvigil(set(extras)))
    names: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        wanted = (_normalized(requirement.name), frozenset(requirement.extras))
        if wanted not in names:
            names.add(wanted)
            lines = distribution(requirement.name).requires or []
            waiting += _applying(map(Requirement, lines), requirement.extras)
    return {name for name, _ in names}


def _of_ragvigil(extras: set[str]) -> Iterator[Requirement]:
    """Its requirements as pyproject.toml has them; an extra may name further ones of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    waiting, done = set(extras), set[str]()
    while waiting:
        done.add(extra := waiting.pop())
        lines += project["optional-dependencies"][extra]
        own = [Requirement(line) for line in lines if line.startswith("ragvigil[")]
        waiting |= {name for requirement in own for name in requirement.extras} - done
    others = [Requirement(line) for line in lines if not line.startswith("ragvigil[")]
    yield from _applying(others, set())


def _applying(requirements: Iterable[Requirement], extras: set[str]) -> list[Requirement]:
    return [
        each
        for each in requirements
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in (extras or {""}))
    ]


def _link(site: Path, chosen: list[Distribution]) -> None:
    """Links whole folders, and single files in a folder that several distributions share."""
    files = {own.name: _files(own) for own in chosen}
    owners = Counter(top for paths in files.values() for top in {path.parts[0] for path in paths})
    for own in chosen:
        for path in files[own.name]:
            is_shared = owners[path.parts[0]] > 1 or (site / path.parts[0]).is_dir()
            place = path if owners[path.parts[0]] > 1 else Path(path.parts[0])
            if is_shared and place != path:
                continue
            (site / place).parent.mkdir(parents=True, exist_ok=True)
            if not (site / place).is_symlink():
                (site / place).symlink_to(Path(str(own.locate_file(place))))


def _files(own: Distribution) -> list[Path]:
    paths = [Path(str(path)) for path in own.files or []]
    return [path for path in paths if path.parts[0] != ".." and "__pycache__" not in path.parts]


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def ran(python: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `ragvigil ARGUMENTS` in the environment of `python`, with these variables alone."""
    return subprocess.run(
        [python, "-m", "ragvigil.app.cli.main", *arguments],
        cwd=python.parents[1],
        env={"PATH": f"{python.parent}:/usr/bin:/bin", "COLUMNS": "200", **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


if __name__ == "__main__":
    print(install(Path(sys.argv[1]), *sys.argv[2:]))
