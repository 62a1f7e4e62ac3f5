"""The daemon's status, for the API and for the intake."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, zip_longest

from collector.doctor.diagnose import RecordGroup, diagnose
from collector.doctor.sources import SpanGroup, SpanSource, list_sources
from collector.spool.reserve import Space, reserve_of
from ragvigil.app import plugins
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.model.clock import Clock
from ragvigil.store.engine import damage
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records, span_samples
from ragvigil.web.views.doctor import DoctorForm
from ragvigil.web.views.layer_health import read_layer_health

DOCTOR_SECONDS = 24 * 3600


class Status:
    """The API's `StatusSource`, and the short answer for `/readyz`.

    `sections` returns the sections that the parts write themselves; `needs` are the fields of a
    record that each rubric needs; `space` looks at the disk, of which `reserve` is the setting. For
    any number of threads. `remarks` returns lines for people that make the daemon no less ready.
    """

    def __init__(
        self,
        *,
        store: Store,
        pipeline: Pipeline,
        balance: SpanBalance,
        sections: Callable[[], Mapping[str, object]],
        needs: Mapping[str, tuple[str, ...]],
        space: Callable[[], Space],
        reserve: int | None = None,
        clock: Clock = time.time,
        remarks: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._store, self._pipeline, self._balance = store, pipeline, balance
        self._remarks = remarks
        self._sections, self._needs = sections, needs
        self._space, self._reserve = space, reserve
        self._clock, self._started = clock, time.monotonic()
        self.is_ready = False

    def short(self) -> bytes:
        """JSON for the intake: whether the core is ready, how far it is behind, and remarks."""
        behind, remarks = self.behind(), list(self._remarks())
        return json.dumps({"ready": self.is_ready, "behind": behind, "remarks": remarks}).encode()

    def behind(self) -> str:
        """How many spans wait, and how long they take, in a line; empty while few do."""
        return str(self._pipeline.lag or "")

    def status(self) -> Mapping[str, object]:
        """What is received, scored and stored right now, by section."""
        writer = self._store.status()
        return {
            "daemon": {
                "ready": self.is_ready,
                "behind": self.behind(),
                "up_seconds": round(time.monotonic() - self._started),
                "open_traces": self._pipeline.open_traces,
            },
            "spans": self._balance.spans(),
            "traces": self._balance.records(),
            **self._sections(),
            "plugins": {"left_out": [str(plugin) for plugin in plugins.left_out()]},
            "spool": {"bytes": self._balance.spool_bytes()},
            "disk": self._disk(),
            "layer_health": {
                f"{health.service} {health.route} {health.name}": health.line()
                for health in read_layer_health(self._store, int(self._clock()))
            },
            "store": {
                name: getattr(writer, name)
                for name in writer.__slots__
                if isinstance(getattr(writer, name), bool | int | float | str | None)
            }
            | {"parts_set_aside": damage.set_aside(self._store)},
        }

    def judge(self) -> Mapping[str, object]:
        """The section of the judge; empty where there is none. Asks no database."""
        section = self._sections().get("judge", {})
        assert isinstance(section, Mapping)
        return section

    def _disk(self) -> Mapping[str, object]:
        space = self._space()
        reserve = reserve_of(space.total, self._reserve)
        return {
            "free_bytes": space.free,
            "reserve_bytes": reserve,
            "refuses_spans": space.free < reserve,
        }

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        """The balance of spans, and closed traces by outcome."""
        return {"spans": self._balance.spans(), "records": self._balance.records()}

    def doctor(self) -> DoctorForm:
        """What the records of the last day lack, and every service that sent spans."""
        since = int(self._clock()) - DOCTOR_SECONDS
        groups = [
            RecordGroup(
                service=str(row["service"]),
                instrumentors=tuple(row["instrumentors"]),
                has_llm_span=bool(row["has_llm_span"]),
                absent=dict(row["lacks"]),
                truncated=tuple(row["truncated"]),
                records=int(row["records"]),
            )
            for row in records.absences(self._store, since)
        ]
        return DoctorForm.model_validate(
            {
                "services": diagnose(groups, self._needs),
                "sources": self._sources(groups, since),
                "spans_kept": self._store.settings.spans.value,
            },
            from_attributes=True,
        )

    def _sources(self, records_: Iterable[RecordGroup], since: int) -> list[SpanSource]:
        rows = span_samples.sources(self._store, since)
        # The first trace of every service and scope before the second of any: a read has a limit.
        trace_ids = chain.from_iterable(zip_longest(*(row["trace_ids"] for row in rows)))
        samples = span_samples.traces(self._store, filter(None, trace_ids), since)
        answers: Counter[str] = Counter()
        for group in records_:
            answers[group.service] += group.records
        groups = [
            SpanGroup(service=row["service"], scope=row["scope"], spans=int(row["spans"]))
            for row in rows
        ]
        return list_sources(groups, answers, samples)
