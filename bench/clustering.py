"""Do failing records become issues that are causes, and do their members keep their ids?

    .venv/bin/python bench/clustering.py [--small]

The measuring is in issue_causes.py. The folder of a benchmark stands first on its path, so that one
which imports the stage of this name finds this file: `__path__` leads on to the stage's modules.
"""

from __future__ import annotations

import sys
from pathlib import Path

__path__ = [str(Path(__file__).resolve().parent.parent / "clustering")]

if __name__ == "__main__":
    from bench.rig.issue_causes import SEED, measured
    from bench.rig.report import finish

    figures, bars = measured(small="--small" in sys.argv)
    finish("clustering", figures, bars, seed=SEED)
