"""Writes the dashboards, or says which of the written ones differ from the code.

python -m deploy.grafana.make --write      writes deploy/grafana/dashboards/*.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from deploy.grafana import daemon, judge, overview, route

FOLDER = Path(__file__).parent / "dashboards"
BOARDS = {
    "overview": overview.dashboard,
    "route": route.dashboard,
    "judge": judge.dashboard,
    "daemon": daemon.dashboard,
}


def written() -> dict[str, str]:
    """The text of each file in `dashboards/` by its name."""
    return {
        f"{name}.json": json.dumps(make(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        for name, make in BOARDS.items()
    }


def main() -> int:
    """Returns 1 where a file differs and `--write` is not given."""
    differing = [
        name
        for name, text in written().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if "--write" in sys.argv:
        for name, text in written().items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        return 0
    for name in differing:
        print(f"{FOLDER / name}: is not what the code makes")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
