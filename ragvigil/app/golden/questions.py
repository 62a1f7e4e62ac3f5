"""The questions of the golden cases, from the file that the scorers read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import structlog

from ragvigil.app.settings import Settings
from scorers.golden import BadGolden, read_golden

log = structlog.get_logger()


def golden_questions(settings: Settings) -> Callable[[], Sequence[str] | None]:
    """A function that reads them: `()` where there is no file, None where it cannot be read."""
    return partial(_questions, _golden_file(settings))


def _golden_file(settings: Settings) -> Path | None:
    repository = settings.golden.repository
    return settings.scorers.golden or (repository and repository / settings.golden.file)


def _questions(golden: Path | None) -> Sequence[str] | None:
    if golden is None or not golden.exists():
        return ()
    try:
        return tuple(case.question for case in read_golden(golden).values())
    except BadGolden as error:
        log.warning("golden cases cannot be read", reason=str(error))
        return None
