"""Ids that are the same again for the same thing, so that a replay or a crash finds it."""

from __future__ import annotations

from hashlib import blake2b


def identity(*parts: object, size: int = 8) -> str:
    """Hex of `size` bytes of a hash of the parts, in this order; total on any text.

    >>> identity("desk", "/ask", 3) == identity("desk", "/ask", 3) != identity("desk", "/ask3")
    True
    >>> len(identity("\\ud800", size=6))
    12
    """
    text = "\x00".join(map(str, parts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
