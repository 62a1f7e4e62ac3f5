"""Imports structlog without what it imports only because it is there: rich and greenlet.

These are for tracebacks in colour and for greenlets, which our processes have not, and take 4 MB in
each. The module that a process begins with imports this before anything that logs.
"""

from __future__ import annotations

import sys

_LEFT_OUT = {"rich", "greenlet"} - sys.modules.keys()
for name in _LEFT_OUT:
    sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails, as without it

import structlog  # noqa: E402, F401

for name in _LEFT_OUT:
    del sys.modules[name]
