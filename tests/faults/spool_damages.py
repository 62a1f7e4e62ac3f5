"""Ways in which people and disks damage the folder of a spool."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path, list[Path]], object]
"""Gets the folder and its segments, oldest first: at least five, of 500 bytes or more."""


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x40
    path.write_bytes(data)


def zero(path: Path, start: int, size: int) -> None:
    data = bytearray(path.read_bytes())
    data[start : start + size] = bytes(size)
    path.write_bytes(data)


def in_its_place(path: Path) -> None:
    """A folder that is not empty instead of a file."""
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "x").touch()


def to_nowhere(path: Path) -> None:
    """A link whose target does not exist."""
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def without_quarantine(where: Path, segments: list[Path]) -> None:
    """A damaged frame, and no folder for its copy."""
    (where / "quarantine").write_bytes(b"x")
    flip(segments[2], 150)


def remove(paths: list[Path]) -> None:
    """Removes all of them."""
    for path in paths:
        path.unlink()


DAMAGES: dict[str, Damage] = {
    "the oldest segment removed": lambda _, segments: segments[0].unlink(),
    "a segment in the middle removed": lambda _, segments: segments[3].unlink(),
    "the newest segment removed": lambda _, segments: segments[-1].unlink(),
    "all segments removed": lambda _, segments: remove(segments),
    "a segment renamed": lambda _, segments: segments[2].rename(segments[2].with_suffix(".bak")),
    "a segment under another seq": lambda where, segments: segments[2].rename(
        where / f"{int(segments[2].name[:20]) + 1:020d}{segments[2].name[20:]}"
    ),
    "a copy under a lower seq": lambda where, segments: shutil.copy(
        segments[3], where / f"{1:020d}{segments[3].name[20:]}"
    ),
    "a copy under a higher seq": lambda where, segments: shutil.copy(
        segments[3], where / f"{10**9:020d}{segments[3].name[20:]}"
    ),
    "a copy in the middle of another": lambda where, segments: shutil.copy(
        segments[3], where / f"{int(segments[3].name[:20]) + 2:020d}{segments[3].name[20:]}"
    ),
    "a copy with another salt": lambda where, segments: shutil.copy(
        segments[3], where / f"{segments[3].name[:20]}-00000000.seg"
    ),
    "a segment cut in half": lambda _, segments: segments[2].write_bytes(
        segments[2].read_bytes()[:500]
    ),
    "the newest segment cut in half": lambda _, segments: segments[-1].write_bytes(
        segments[-1].read_bytes()[:100]
    ),
    "a segment emptied": lambda _, segments: segments[2].write_bytes(b""),
    "a segment of zeros": lambda _, segments: zero(segments[2], 0, 2000),
    "a hole of zeros": lambda _, segments: zero(segments[2], 300, 200),
    "a bit flipped in an opening": lambda _, segments: flip(segments[2], 20),
    "a bit flipped in a header": lambda _, segments: flip(segments[2], 70),
    "a bit flipped in a payload": lambda _, segments: flip(segments[2], 150),
    "a folder instead of a segment": lambda _, segments: in_its_place(segments[2]),
    "a link to nowhere instead of a segment": lambda _, segments: to_nowhere(segments[2]),
    "the mark removed": lambda where, _: (where / "durable.mark").unlink(),
    "the mark emptied": lambda where, _: (where / "durable.mark").write_bytes(b""),
    "the mark damaged": lambda where, _: flip(where / "durable.mark", 3),
    "a folder instead of the mark": lambda where, _: in_its_place(where / "durable.mark"),
    "a folder instead of the checkpoint": lambda where, _: in_its_place(where / "checkpoint-core"),
    "a folder instead of its draft": lambda where, _: in_its_place(where / "checkpoint-core.draft"),
    "a file instead of quarantine": without_quarantine,
    "a foreign file": lambda where, _: (where / "core.4711").write_bytes(b"x" * 99),
}
