"""From posts of the API to rows of the store."""

from __future__ import annotations
