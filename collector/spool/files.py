"""The file layer of the spool: what it needs of a disk, and the disk itself.

It is passed in, so that a crash model can drop and tear what was not synced.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Protocol, TypeAlias

SharedBytes: TypeAlias = mmap.mmap | bytearray


class AppendFile(Protocol):
    """A file that is only ever appended to."""

    def write(self, data: bytes) -> None:
        """Appends all of `data`, or raises OSError with an unknown part of it written."""
        ...

    def sync(self) -> None:
        """Returns when everything written so far would survive a power cut (fdatasync)."""
        ...

    def close(self) -> None:
        """Releases the handle; durable is only what `sync` made so."""
        ...


class ReadFile(Protocol):
    """Random access to a file that may grow meanwhile."""

    def read_at(self, offset: int, size: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end of the file."""
        ...

    def size(self) -> int:
        """Bytes in the file now."""
        ...

    def close(self) -> None:
        """Releases the handle."""
        ...


class Files(Protocol):
    """The operations on a directory. Everything raises OSError as the system does."""

    def make_directory(self, path: Path) -> None:
        """Makes `path` and its parents where they are missing, durably."""
        ...

    def entries(self, directory: Path) -> dict[str, int]:
        """Names and sizes in bytes of the regular files of `directory`."""
        ...

    def create(self, path: Path) -> AppendFile:
        """A new, empty file. Raises FileExistsError."""
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
        """Removes the file; no error where it is already gone."""
        ...

    def sync_directory(self, path: Path) -> None:
        """Makes the names that were added, renamed or removed in `path` durable."""
        ...

    def share(self, path: Path, size: int) -> SharedBytes:
        """A file of `size` bytes that several processes see as memory; made where missing."""
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
        with os.scandir(directory) as found:
            for entry in found:
                try:
                    if entry.is_file(follow_symlinks=False):
                        sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue  # the other process removed it between listing and asking
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
                # Written, not only extended: a store into a hole of a full disk is a SIGBUS.
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
        while written < len(data):  # a full disk takes a part first and says so the next time
            written += os.write(self._descriptor, memoryview(data)[written:])

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


class _RealReadFile:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor  # -1 when closed: a late read must not hit another file

    def read_at(self, offset: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, offset)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)


def read_whole(files: Files, path: Path) -> bytes:
    """All bytes of a small file. Raises FileNotFoundError."""
    opened = files.open(path)
    try:
        return opened.read_at(0, opened.size())
    finally:
        opened.close()


def write_durably(files: Files, path: Path, content: bytes) -> None:
    """Replaces a small file so that after a crash either the old or the new content is there."""
    draft = path.with_name(path.name + ".draft")
    files.remove(draft)
    opened = files.create(draft)
    try:
        opened.write(content)
        opened.sync()
    finally:
        opened.close()
    files.rename(draft, path)
    files.sync_directory(path.parent)
