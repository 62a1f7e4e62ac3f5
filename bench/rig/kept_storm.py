"""What a storm of kills has done so far, in a folder: a long one can be run in several parts."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True, kw_only=True)
class KeptStorm:
    """The kills so far, by name and with the seconds until ready after each, and what was sent.

    `data` is the daemon's folder, in which all parts go on.
    """

    folder: Path
    kills: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    beside: int = 0
    requests: int = 0
    acknowledged: int = 0
    retries: int = 0
    parts: int = 0

    @property
    def data(self) -> Path:
        """The daemon's folder."""
        return self.folder / "data"

    def keep(self) -> None:
        """Writes it down: the next part goes on from here."""
        kept = {name: value for name, value in asdict(self).items() if name != "folder"}
        _file(self.folder).write_text(json.dumps(kept), encoding="utf-8")


@contextlib.contextmanager
def kept_storm(folder: Path | None) -> Iterator[KeptStorm]:
    """The storm in a folder, with one part more; without a folder a storm of one part.

    A part that broke off has left its spans in the store, and no account of them: the folder is of
    no use then.
    """
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        file = _file(folder)
        kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        storm = KeptStorm(folder=folder, **kept)
        storm.parts += 1
        yield storm


def _file(folder: Path) -> Path:
    return folder / "storm.json"
