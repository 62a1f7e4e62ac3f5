"""The file operations that the spool needs (`Files`), and their implementation on a real disk.

`Files` is passed in, so that `bench/spool_crash.py` can drop, tear and reorder unsynced writes.
"""

from __future__ import annotations

import mmap
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

SharedBytes: TypeAlias = mmap.mmap | bytearray
DRAFT = ".draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """Which file a name leads to (`number` is its inode) and its size in bytes.

    `is_file` is False for a folder.
    """

    number: int
    size: int
    is_file: bool = True


class AppendFile(Protocol):
    """A file that is only ever appended to."""

    def write(self, data: bytes) -> None:
        """Appends all of `data`. On OSError an unknown part of it is written."""
        ...

    def sync(self) -> None:
        """Makes everything written before this call survive a power cut (fdatasync)."""
        ...

    def close(self) -> None:
        """Releases the handle; does not sync."""
        ...


class ReadFile(Protocol):
    """Random access to a file that another process may be appending to."""

    def read_at(self, offset: int, size: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        ...

    def size(self) -> int:
        """Bytes in the file now."""
        ...

    def status(self) -> FileStatus:
        """Which file it is, and its size now."""
        ...

    def close(self) -> None:
        """Releases the handle."""
        ...


class Files(Protocol):
    """The operations on a directory. Everything raises OSError as the system does."""

    def make_directory(self, path: Path) -> None:
        """Creates `path` and its missing parents, durably."""
        ...

    def entries(self, directory: Path) -> dict[str, int]:
        """Names and sizes in bytes of the regular files of `directory`."""
        ...

    def create(self, path: Path) -> AppendFile:
        """Creates an empty file. Raises FileExistsError."""
        ...

    def open(self, path: Path) -> ReadFile:
        """Opens a file for reading. Raises FileNotFoundError."""
        ...

    def truncate(self, path: Path, size: int) -> None:
        """Cuts the file to `size` bytes, durably."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Replaces `new` by `old` in one step; durable after `sync_directory`."""
        ...

    def remove(self, path: Path) -> None:
        """Removes the file; a missing file is no error."""
        ...

    def sync_directory(self, path: Path) -> None:
        """Makes the names that were added, renamed or removed in `path` durable."""
        ...

    def share(self, path: Path, size: int) -> SharedBytes:
        """Maps a file of `size` bytes as memory shared between processes; creates it if missing."""
        ...


class RealFiles:
    """Files on the disk."""

    def make_directory(self, path: Path) -> None:
        """See `Files`."""
        if not path.is_dir():
            path.mkdir(parents=True, exist_ok=True)
            self.sync_directory(path.parent)

    def entries(self, directory: Path) -> dict[str, int]:
        """See `Files`."""
        sizes = {}
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    if entry.is_file(follow_symlinks=False):
                        sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue  # the other process removed it between the listing and the stat
        return sizes

    def create(self, path: Path) -> AppendFile:
        """See `Files`."""
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
        return _RealAppendFile(os.open(path, flags, 0o600))

    def open(self, path: Path) -> ReadFile:
        """See `Files`."""
        return _RealReadFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def truncate(self, path: Path, size: int) -> None:
        """See `Files`."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """See `Files`."""
        old.replace(new)

    def remove(self, path: Path) -> None:
        """See `Files`."""
        path.unlink(missing_ok=True)

    def sync_directory(self, path: Path) -> None:
        """See `Files`."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def share(self, path: Path, size: int) -> SharedBytes:
        """See `Files`."""
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_size < size:
                # Write zeros instead of extending: storing into a hole of a full disk is a SIGBUS.
                os.pwrite(descriptor, bytes(size), 0)
                os.fsync(descriptor)
            return mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)


class _RealAppendFile:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        written = os.write(self._descriptor, data)
        while written < len(data):  # a full disk accepts a part; the next write raises ENOSPC
            written += os.write(self._descriptor, memoryview(data)[written:])

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


class _RealReadFile:
    def __init__(self, descriptor: int) -> None:
        # Becomes -1 when closed: a late read must not hit the next file with the same number.
        self._descriptor = descriptor

    def read_at(self, offset: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, offset)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def status(self) -> FileStatus:
        status = os.fstat(self._descriptor)
        is_file = stat.S_ISREG(status.st_mode)
        return FileStatus(number=status.st_ino, size=status.st_size, is_file=is_file)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)


def status_of(files: Files, path: Path) -> FileStatus | None:
    """The file of this name; None if there is none. Raises OSError if it cannot be opened."""
    try:
        file = files.open(path)
    except FileNotFoundError:
        return None
    try:
        return file.status()
    finally:
        file.close()


def read_whole(files: Files, path: Path) -> bytes:
    """All bytes of a small file. Raises FileNotFoundError."""
    file = files.open(path)
    try:
        return file.read_at(0, file.size())
    finally:
        file.close()


def write_durably(files: Files, path: Path, content: bytes) -> None:
    """Replaces a small file atomically: after a crash it has either the old or the new content."""
    draft = path.with_name(path.name + DRAFT)
    files.remove(draft)
    file = files.create(draft)
    try:
        file.write(content)
        file.sync()  # before the rename: else a crash may leave the new name without content
    finally:
        file.close()
    files.rename(draft, path)
    files.sync_directory(path.parent)
