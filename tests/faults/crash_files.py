"""A file layer that forgets: after `crash`, what was not synced is dropped, torn or reordered.

It is harsher than a real disk where POSIX allows it: a new name needs a directory sync, sectors
reach the disk in any order, and after a failed sync the data is gone though the next one reports
success.
"""

from __future__ import annotations

import errno
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from collector.spool.files import FileStatus

SECTOR = 64  # small, so that the small frames of a test are torn too


class Crashed(Exception):
    """The power went at this point; nothing of the process goes on."""


@dataclass(slots=True)
class Inode:
    """`cache` is what a read sees, `disk` what survives, `dirty` what only the cache has."""

    cache: bytearray = field(default_factory=bytearray)
    disk: bytearray = field(default_factory=bytearray)
    dirty: list[tuple[int, int]] = field(default_factory=list)

    def flush(self, start: int, end: int) -> None:
        if len(self.disk) < end:
            self.disk.extend(bytes(end - len(self.disk)))
        self.disk[start:end] = self.cache[start:end]

    def sync(self) -> None:
        for start, end in self.dirty:
            self.flush(start, end)
        self.dirty.clear()

    def crash(self, rng: random.Random) -> None:
        """Nothing, a prefix, any sectors, or all of what was dirty reaches the disk."""
        manner = rng.choice(("nothing", "prefix", "sectors", "all"))
        for start, end in self.dirty:
            if manner == "all":
                self.flush(start, end)
            elif manner == "prefix":
                self.flush(start, rng.randint(start, end))
                break
            elif manner == "sectors":
                for at in range(start, end, SECTOR):
                    if rng.random() < 0.5:
                        self.flush(at, min(at + SECTOR, end))
        self.cache, self.dirty = bytearray(self.disk), []


Names = dict[str, Inode]


@dataclass(slots=True)
class Folder:
    """`live` names and, for the disk, those of the last sync plus the changes since."""

    live: Names = field(default_factory=dict)
    disk: Names = field(default_factory=dict)
    changes: list[Callable[[Names], object]] = field(default_factory=list)

    def change(self, apply: Callable[[Names], object]) -> None:
        apply(self.live)
        self.changes.append(apply)

    def crash(self, rng: random.Random) -> None:
        chance = rng.choice((0.0, 0.5, 1.0))
        for apply in self.changes:
            if rng.random() < chance:
                apply(self.disk)
        self.live, self.changes = dict(self.disk), []


class CrashFiles:
    """`Files` in memory. `at` is called before and after each operation with its name and may
    raise `Crashed`, or, before it, an OSError that the operation then fails with."""

    def __init__(self, rng: random.Random, at: Callable[[str], None] = lambda _: None) -> None:
        self.at = at
        self._rng = rng
        self._folders: dict[Path, Folder] = defaultdict(Folder)
        self._shared: dict[Path, bytearray] = {}
        self._boot = 0

    def crash(self) -> None:
        """Cuts the power; the same object is the disk of the next start."""
        self._boot += 1
        seen: dict[int, Inode] = {}
        for folder in self._folders.values():
            for inode in (*folder.live.values(), *folder.disk.values()):
                seen[id(inode)] = inode
            folder.crash(self._rng)
        for inode in seen.values():
            inode.crash(self._rng)
        for path, shared in list(self._shared.items()):
            fate = self._rng.choice(("kept", "zero", "mixed", "gone"))
            if fate == "gone":
                del self._shared[path]
            elif fate != "kept":
                torn = (byte * self._rng.randint(0, fate == "mixed") for byte in shared)
                self._shared[path] = bytearray(torn)

    def entries(self, directory: Path) -> dict[str, int]:
        live = self._folders[directory].live
        sizes = {name: len(inode.cache) for name, inode in live.items()}
        return sizes | {
            path.name: len(data) for path, data in self._shared.items() if path.parent == directory
        }

    def make_directory(self, path: Path) -> None:
        self._folders[path]

    def create(self, path: Path) -> AppendHandle:
        self.at("before_create")
        folder = self._folders[path.parent]
        if path.name in folder.live:
            raise FileExistsError(errno.EEXIST, "File exists", str(path))
        inode = Inode()
        folder.change(lambda names: names.update({path.name: inode}))
        self.at("after_create")
        return AppendHandle(self, inode)

    def open(self, path: Path) -> ReadHandle:
        if path in self._shared:
            return ReadHandle(self._shared[path])
        return ReadHandle(self._inode(path).cache)

    def truncate(self, path: Path, size: int) -> None:
        self.at("before_truncate")
        inode = self._inode(path)
        del inode.cache[size:], inode.disk[size:]
        inode.dirty = [(start, min(end, size)) for start, end in inode.dirty if start < size]
        inode.sync()
        self.at("after_truncate")

    def rename(self, old: Path, new: Path) -> None:
        self.at("before_rename")
        inode = self._inode(old)

        def apply(names: Names) -> None:
            names.pop(old.name, None)
            names[new.name] = inode

        self._folders[old.parent].change(apply)
        self.at("after_rename")

    def remove(self, path: Path) -> None:
        self.at("before_remove")
        self._folders[path.parent].change(lambda names: names.pop(path.name, None))

    def sync_directory(self, path: Path) -> None:
        self.at("before_sync_directory")
        folder = self._folders[path]
        folder.disk, folder.changes = dict(folder.live), []
        self.at("after_sync_directory")

    def share(self, path: Path, size: int) -> bytearray:
        return self._shared.setdefault(path, bytearray(size))

    def damage(self, path: Path, offset: int, mask: int) -> None:
        """Flips bits of one byte, on the disk and in the cache."""
        for data in (self._inode(path).cache, self._inode(path).disk):
            data[offset] ^= mask

    def _inode(self, path: Path) -> Inode:
        try:
            return self._folders[path.parent].live[path.name]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "No such file", str(path)) from None

    def take_part(self, inode: Inode, data: bytes) -> None:
        """What a failed write leaves: any part of its data."""
        self.append(inode, data[: self._rng.randint(0, len(data))])

    @staticmethod
    def append(inode: Inode, data: bytes) -> None:
        start = len(inode.cache)
        inode.cache += data
        inode.dirty.append((start, len(inode.cache)))


@dataclass(slots=True)
class AppendHandle:
    """An open file; a failed sync leaves its pages clean but not on the disk."""

    files: CrashFiles
    inode: Inode

    def write(self, data: bytes) -> None:
        try:
            self.files.at("before_write")
        except OSError:
            self.files.take_part(self.inode, data)
            raise
        self.files.append(self.inode, data)
        self.files.at("after_write")

    def sync(self) -> None:
        try:
            self.files.at("before_fsync")
        except OSError:
            self.inode.dirty.clear()
            raise
        self.inode.sync()
        self.files.at("after_fsync")

    def close(self) -> None:
        self.files.at("before_close")


@dataclass(slots=True)
class ReadHandle:
    """A file that is read."""

    content: bytearray

    def read_at(self, offset: int, size: int) -> bytes:
        return bytes(self.content[offset : offset + size])

    def size(self) -> int:
        return len(self.content)

    def status(self) -> FileStatus:
        return FileStatus(number=id(self.content), size=len(self.content))

    def close(self) -> None:
        pass


class EagerFiles(CrashFiles):
    """The negative control: a sync is reported at once and done with the next one."""

    def create(self, path: Path) -> AppendHandle:
        made = super().create(path)
        return EagerHandle(made.files, made.inode)


class EagerHandle(AppendHandle):
    """Acknowledges before it syncs."""

    def sync(self) -> None:
        late = self.inode.dirty[:-1]
        for start, end in late:
            self.inode.flush(start, end)
        self.inode.dirty = self.inode.dirty[-1:]
        self.files.at("after_fsync")
