"""Vectors of texts that come again: bounded, the longest unused goes first."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping


def text_hash(text: str) -> bytes:
    """16 bytes that stand for a text; texts that differ differ in them."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class VectorCache:
    """Up to `entries` vectors, as the bytes of their numbers; for any number of threads."""

    def __init__(self, entries: int) -> None:
        self._most = entries
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The vectors that are known."""
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
            for key in found:
                self._kept.move_to_end(key)
        return found

    def keep(self, vectors: Mapping[bytes, bytes]) -> None:
        """Adds vectors and forgets what has not been asked for longest."""
        with self._lock:
            for key, vector in vectors.items():
                self._kept[key] = vector
                self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._kept.clear()
