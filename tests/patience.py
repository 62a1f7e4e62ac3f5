"""How long a test waits before it fails: far longer than anything takes, on any machine."""

from __future__ import annotations

PATIENCE_SECONDS = 300.0
