"""Which text ends the model process: suspects are asked alone, the guilty not again."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from ragvigil.inference.outcome import Reason

BLAMED = frozenset({Reason.FAILED, Reason.CRASHED, Reason.TIMED_OUT, Reason.TOO_LARGE})
"""Ends that the texts of the request may have caused."""
LOSSES = 2
"""A text is given up when a request of it alone has failed this often: one may be chance."""
MOST = 4_096
"""Suspects remembered; of more, the oldest is forgotten and asked among others again."""


class Blame:
    """Counts failed requests by text, until the process of the daemon ends.

    Texts go by the keys of the vector cache. For any number of threads.
    """

    def __init__(self) -> None:
        self._losses: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def is_given_up(self, key: bytes) -> bool:
        """Whether the text is not asked any more."""
        return self._losses.get(key, 0) >= LOSSES

    def batches(self, keys: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
        """The keys in requests of at most `size`, then each suspect in one of its own."""
        usual = [key for key in keys if key not in self._losses]
        for start in range(0, len(usual), size):
            yield usual[start : start + size]
        for key in keys:
            if key in self._losses and not self.is_given_up(key):
                yield [key]

    def answered(self, keys: Sequence[bytes]) -> None:
        """Clears these texts of suspicion."""
        with self._lock:
            for key in keys:
                self._losses.pop(key, None)

    def failed(self, keys: Sequence[bytes]) -> list[bytes]:
        """Suspects the texts of a request that failed; returns those given up by that."""
        alone = int(len(keys) == 1)
        with self._lock:
            for key in keys:
                self._losses[key] = self._losses.pop(key, 0) + alone
            while len(self._losses) > MOST:
                del self._losses[next(iter(self._losses))]
            return [key for key in keys if alone and self._losses[key] == LOSSES]
