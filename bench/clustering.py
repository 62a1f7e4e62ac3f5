"""Do failing records become issues that are causes, and do their members keep their ids?

    .venv/bin/python bench/clustering.py [--small]

The measuring is in rig/issue_causes.py. Python puts the folder of a script first on its path, so a
benchmark that imports the stage `clustering` finds this file: `__path__` leads to its modules.
"""

from __future__ import annotations

from pathlib import Path

from bench.rig.options import parse_small

__path__ = [str(Path(__file__).resolve().parent.parent / "clustering")]

if __name__ == "__main__":
    from bench.rig.issue_causes import SEED, measured
    from bench.rig.report import finish

    figures, bars = measured(small=parse_small(__doc__))
    finish("clustering", figures, bars, seed=SEED)
