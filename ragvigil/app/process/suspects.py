"""Frames and traces that the core was working on when it ended, and those it ended in too often.

The intake blames when the core has ended; the core reads the file at its start, and forgives
what it got through (ADR 21).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

import structlog

log = structlog.get_logger()

NAME = "suspects.json"
MOST = 4_096
"""Units remembered; of more, those that are not quarantined are forgotten, the oldest first."""


class CoreEnd(StrEnum):
    """How a life of the core ended."""

    ASKED = "asked"
    """It ended itself in order, because a signal asked it to."""
    STALLED = "stalled"
    """It got no further, and the intake killed it."""
    CRASHED = "crashed"
    """It ended itself: an error, an exit, a fault of native code."""
    KILLED = "killed"
    """Somebody killed it: an operator, the kernel without memory, or nobody knows."""


POINTS = {CoreEnd.ASKED: 0, CoreEnd.STALLED: 2, CoreEnd.CRASHED: 2, CoreEnd.KILLED: 1}
QUARANTINED_AT = 4
"""Two ends that the work in hand must have caused, or four that came from outside, with no success
in between. A trace that takes all memory never has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """How often the core ended in a unit, in points; `reason` is how it ended last."""

    points: int = 0
    reason: CoreEnd = CoreEnd.KILLED

    @property
    def is_quarantined(self) -> bool:
        """Whether it is not worked on any more."""
        return self.points >= QUARANTINED_AT


class Suspects:
    """Suspects by unit (`frame SEQ`, `trace ID`); one process writes at a time."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / NAME
        self._suspects: dict[str, Suspect] = {}
        self._read()

    def is_suspect(self, unit: str) -> bool:
        """Whether the core has ended in it before: then it is worked on alone."""
        return unit in self._suspects

    def is_quarantined(self, unit: str) -> bool:
        """Whether it is left out from now on."""
        suspect = self._suspects.get(unit)
        return suspect is not None and suspect.is_quarantined

    def blame(self, units: Sequence[str], end: CoreEnd) -> list[str]:
        """Notes durably that the core ended in these units; returns those quarantined by that.

        Only a unit that was alone in work is quarantined: of several, one is guilty and the
        others are not.
        """
        if not units or not POINTS[end]:
            return []
        self._read()  # the core may have forgiven some since
        guilty = []
        for unit in units:
            before = self._suspects.pop(unit, Suspect())
            points = before.points + POINTS[end]
            after = replace(before, points=points, reason=end)
            if len(units) > 1:
                after = replace(after, points=min(points, QUARANTINED_AT - 1))
            if after.is_quarantined and not before.is_quarantined:
                guilty.append(unit)
            self._suspects[unit] = after
        self._forget()
        self._write()
        return guilty

    def forgive(self, units: Iterable[str]) -> None:
        """Notes that the core got through these units, alone in work: none of them ended it.

        What is quarantined stays so.
        """
        innocent = [
            unit for unit in units if self.is_suspect(unit) and not self.is_quarantined(unit)
        ]
        for unit in innocent:
            del self._suspects[unit]
        if innocent:
            self._write()

    def _forget(self) -> None:
        spare = [unit for unit, suspect in self._suspects.items() if not suspect.is_quarantined]
        for unit in spare[: max(0, len(self._suspects) - MOST)]:
            del self._suspects[unit]

    def _write(self) -> None:
        rows = {unit: asdict(suspect) for unit, suspect in self._suspects.items()}
        draft = self._path.with_suffix(".draft")
        try:
            with draft.open("w", encoding="utf-8") as file:
                json.dump(rows, file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        except OSError as error:
            log.error("suspects cannot be written", reason=str(error))

    def _read(self) -> None:
        """Takes the file's suspects: none if there is no file or it is damaged."""
        try:
            self._suspects = _parsed(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self._suspects = {}
        except OSError as error:  # those that are known stay so
            log.error("suspects cannot be read", reason=str(error))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            log.error("suspects cannot be read; none is known", reason=str(error))
            self._suspects = {}


def _parsed(text: str) -> dict[str, Suspect]:
    """Raises ValueError, KeyError, TypeError or AttributeError."""
    return {
        str(unit): Suspect(points=int(row["points"]), reason=CoreEnd(row["reason"]))
        for unit, row in json.loads(text).items()
    }
