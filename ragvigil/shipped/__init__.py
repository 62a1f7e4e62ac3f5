"""Files for users that are no code: a wheel carries copies of them here, with the same names.

`[tool.hatch.build.targets.wheel.force-include]` lists them. In a checkout they stand elsewhere.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent
SHIPPED = _HERE if (_HERE / "docs").is_dir() else _HERE.parents[1]
"""The folder that holds `deploy`, `docs` and `examples`."""
