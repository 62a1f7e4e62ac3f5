"""What the daemon says of itself, to the API and to the intake."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from collector.doctor.diagnose import Alike, diagnose
from ragvigil.app import plugins
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.model.clock import Clock
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records

DOCTOR_SECONDS = 24 * 3600


class Status:
    """The API's `StatusSource`, and the short answer for `/readyz`."""

    def __init__(
        self, *, store: Store, pipeline: Pipeline, books: SpanBalance, clock: Clock = time.time
    ) -> None:
        self._store, self._pipeline, self._books = store, pipeline, books
        self._clock, self._started = clock, time.monotonic()
        self.is_ready = False

    def short(self) -> bytes:
        """JSON for the intake: whether the core does its work."""
        return json.dumps({"ready": self.is_ready}).encode()

    def status(self) -> Mapping[str, object]:
        """What is received, scored and stored right now, a mapping a section."""
        writer = self._store.status()
        return {
            "daemon": {
                "ready": self.is_ready,
                "up_seconds": round(time.monotonic() - self._started),
                "open_traces": self._pipeline.parts.runs.open_traces(),
            },
            "spans": self._books.spans(),
            "traces": self._books.records(),
            **self._pipeline.parts.later.status(),
            "issues": self._pipeline.parts.issues.status(),
            "export": self._pipeline.parts.exporting.status(),
            "plugins": {"left_out": [str(one) for one in plugins.left_out()]},
            "spool": {"bytes": self._books.spool_bytes()},
            "store": {
                name: getattr(writer, name)
                for name in writer.__slots__
                if isinstance(getattr(writer, name), bool | int | float | str | None)
            },
        }

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        """The books of spans and traces."""
        return {"spans": self._books.spans(), "records": self._books.records()}

    def doctor(self) -> list[dict[str, object]]:
        """What the spans of the last day lack, by service and instrumentor."""
        rows = records.absences(self._store, int(self._clock()) - DOCTOR_SECONDS)
        kinds = [
            Alike(
                service=str(row["service"]),
                instrumentors=tuple(row["instrumentors"]),
                absent=dict(row["lacks"]),
                truncated=tuple(row["truncated"]),
                records=int(row["records"]),
            )
            for row in rows
        ]
        return diagnose(kinds, self._pipeline.parts.runner.needs)
