"""Vectors of texts that come again: a bounded cache, least recently used first out."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping


def text_hash(text: str) -> bytes:
    """A hash of 16 bytes: collisions are too unlikely to matter."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class VectorCache:
    """At most `entries` vectors, as bytes; for any number of threads."""

    def __init__(self, entries: int) -> None:
        self._most = entries
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The vectors of these keys that are in the cache."""
        with self._lock:
            vectors = {key: self._kept[key] for key in keys if key in self._kept}
            for key in vectors:
                self._kept.move_to_end(key)
        return vectors

    def keep(self, vectors: Mapping[bytes, bytes]) -> None:
        """Adds vectors; the least recently used go."""
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
