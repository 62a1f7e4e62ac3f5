"""The detector's tables, read from a mapped file: what a service's languages never touch costs no
memory.

py3langid holds a table of 41 MB of transitions and one of 28 MB of weights. A service's texts touch
a few per cent of both. They are unpacked into a file without a name, which ends with the process.
"""

from __future__ import annotations

import lzma
import mmap
import os
import shutil
import tempfile
from array import array
from pathlib import Path
from struct import unpack
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

CHUNK_BYTES = 1 << 20
_LOCAL_HEADER, _LENGTHS = 30, 26
"""Of a file in a zip archive: bytes before its name, and the place of that and the next length."""


def mapped_identifier() -> Any:
    """A `LanguageIdentifier` with probabilities, its two large tables in a mapped file.

    Where there is no room for the file (72 MB in TMPDIR), or py3langid stores its model in another
    way, its own one: the same answers, and 74 MB of memory.
    """
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    try:
        return _mapped(LanguageIdentifier, Path(MODEL_DIR) / MODEL_FILE)
    except (OSError, KeyError, ValueError, BadZipFile, lzma.LZMAError):
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _mapped(kind: Any, path: Path) -> Any:
    """Raises OSError, KeyError, ValueError, BadZipFile or LZMAError."""
    import numpy as np

    with tempfile.TemporaryFile() as file:
        with lzma.open(path) as packed:
            shutil.copyfileobj(packed, file, CHUNK_BYTES)
        file.flush()
        places = _places(file)
        # A fault maps the neighbours too that the cache of files holds: it must not hold them all.
        if hasattr(os, "posix_fadvise"):  # not on macOS
            os.fdatasync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        shared = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # lives on without the file
    # Neighbours in the file are not used together: reading ahead would fetch all of it.
    shared.madvise(mmap.MADV_RANDOM)
    tables = {
        name: np.frombuffer(shared, dtype, int(np.prod(shape)), offset).reshape(shape)
        for name, (dtype, shape, offset) in places.items()
    }
    moves = tables["nextmove"]
    start = places["nextmove"][2]
    bytes_of = memoryview(shared)[start : start + moves.nbytes]
    row_of = tables["nextmove_row"]
    identifier = kind(
        tables["ptc"],
        tables["pc"].copy(),
        tables["classes"].tolist(),
        # Twice as fast as an array of numpy, byte by byte.
        bytes_of.cast("H" if moves.itemsize == 2 else "I"),
        array("i", tables["out_feat"].tolist()),
        norm_probs=True,
        tk_row=row_of.tolist(),
    )
    # Packed: as lists of integers the two take 8 MB.
    identifier.tk_row = array("I", row_of.astype(np.uint32).tobytes())
    identifier._rowbase = array("I", (row_of.astype(np.uint32) << 8).tobytes())
    return identifier


def _places(file: IO[bytes]) -> dict[str, tuple[Any, tuple[int, ...], int]]:
    """Type, shape and offset of each array in an npz file. Raises KeyError or ValueError."""
    from numpy.lib import format as npy

    places = {}
    with ZipFile(file) as archive:
        members = archive.infolist()
    for member in members:
        if member.compress_type != ZIP_STORED:
            raise ValueError(f"{member.filename} is compressed")
        file.seek(member.header_offset + _LENGTHS)
        file.seek(member.header_offset + _LOCAL_HEADER + sum(unpack("<HH", file.read(4))))
        if npy.read_magic(file) != (1, 0):
            raise ValueError(f"{member.filename} has another version")
        shape, is_by_column, dtype = npy.read_array_header_1_0(file)
        if is_by_column or dtype.hasobject:
            raise ValueError(f"{member.filename} has another layout")
        places[member.filename.removesuffix(".npy")] = (dtype, shape, file.tell())
    return places
