"""The form of log lines in every process: a line an event, key=value, on standard error."""

from __future__ import annotations

import atexit
import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO, cast

import structlog

from ragvigil.app.process.log_stream import LogStream
from ragvigil.model.text import visible


def configure_logs(level: int = logging.INFO) -> None:
    """Configures structlog; call it once, at the start of a process."""
    stream = LogStream(sys.stderr)
    atexit.register(stream.flush)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(),
            escape_values,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Not PrintLogger, which writes the end of a line by itself: a full disk would part them.
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, stream)),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[Forward()], level=logging.WARNING)


class Forward(logging.Handler):
    """Logs what libraries and plug-ins log through Python's `logging` in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        """Logs a record as an event, with its exception."""
        log = structlog.get_logger()
        log.log(record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info)


def escape_values(_logger: object, _method: str, event: MutableMapping[str, Any]) -> Any:
    """Escapes what is no glyph in all values: text of others writes no line and no command here."""
    for key, value in event.items():
        if not isinstance(value, bool | int | float | None):
            event[key] = visible(str(value))
    return event
