"""One tick of the signals through the embedded store: 500 series, seconds and MB."""

from __future__ import annotations

import time
from pathlib import Path

from alerts.settings import AlertsSettings
from alerts.signals.job import SignalJob
from alerts.signals.minutes import HOUR, MINUTE
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings

SERVICES, ROUTES = 4, 7
AN_HOUR = 80
VALUED = ("chunk_utilization", "citation_coverage", "citation_validity", "answer_complete_text")
MEASURES = (
    "citations",
    "answer_words",
    "context_tokens",
    "context_chunks",
    "chunk_characters",
    "top_score",
    "score_gap",
    "seconds_total",
    "cost_usd",
)
WARM_TICKS = 3

_REQUESTS = f"""
    SELECT
        {{start}} + intDiv(number * 3600, {AN_HOUR * SERVICES * ROUTES}) AS at,
        toDateTime(intDiv(at, 60) * 60, 'UTC') AS minute,
        concat('service-', toString(rand(1) % {SERVICES})) AS service,
        'live' AS environment,
        concat('/route/', toString(rand(2) % {ROUTES})) AS route,
        lower(hex(cityHash64(number, {{start}}))) AS trace_id,
        rand(3) / 4294967295 AS chance
    FROM numbers(intDiv(({{end}} - {{start}}) * {AN_HOUR * SERVICES * ROUTES}, 3600))
"""
_RECORDS = f"""
INSERT INTO records (
    minute, time, received, trace_id, record_id, service, environment, route, query, error
)
SELECT minute, minute, minute, trace_id, trace_id, service, environment, route,
    concat('What is known of number ', toString(rand(4) % 500), '?'),
    if(chance < 0.01, 'failed', NULL)
FROM ({_REQUESTS})
"""
_SHAPES = f"""
INSERT INTO record_shapes (
    minute, received, trace_id, record_id, service, environment, route, measures
)
SELECT minute, minute, trace_id, trace_id, service, environment, route,
    mapFromArrays(
        {list(MEASURES)},
        arrayMap(place -> 1 + place + rand(place) / 4294967295, range({len(MEASURES)}))
    )
FROM ({_REQUESTS})
"""
_SCORES = f"""
INSERT INTO scores (
    minute, time, received, trace_id, record_id, service, environment, route, rubric, layer,
    segment, stream, value, label, failed
)
SELECT minute, minute, minute, trace_id, trace_id, service, environment, route, rubric,
    'retrieval', 'r1', 'base',
    if(rubric = 'refusal', NULL, chance),
    multiIf(
        rubric = 'refusal', if(chance < 0.05, 'refused', 'answered'), chance < 0.01, 'empty', ''
    ),
    rubric != 'refusal' AND chance < 0.03
FROM (
    SELECT *, arrayJoin({[*VALUED, "injected_context", "retrieval_shape", "refusal"]}) AS rubric
    FROM ({_REQUESTS})
)
"""
_ROLLUPS = f"""
INSERT INTO rollups (
    minute, service, environment, route, rubric, layer, segment, version, n, total, squares,
    failed, labels
)
SELECT
    minute, service, environment, route, rubric, 'retrieval', 'r1', {{version}},
    if(rubric = 'refusal', 0, count()), sum(chance), sum(chance * chance), countIf(chance < 0.03),
    if(
        rubric = 'refusal',
        map(
            'answered', toUInt64(countIf(chance >= 0.05)),
            'refused', toUInt64(countIf(chance < 0.05))
        ),
        map('empty', toUInt64(countIf(chance < 0.01)))
    )
FROM (
    SELECT *, arrayJoin({[*VALUED, "injected_context", "retrieval_shape", "refusal"]}) AS rubric
    FROM ({_REQUESTS})
)
GROUP BY minute, service, environment, route, rubric
"""


def fill(store: Store, start: int, end: int) -> None:
    """Stores the traffic of start..end (seconds) with its scores and roll-ups."""
    for statement in (_RECORDS, _SHAPES, _SCORES, _ROLLUPS):
        store.change(statement.format(start=start, end=end, version=end * 10**9))


def resident_mb() -> float:
    """The resident memory of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def tick_cost(folder: Path, *, days: int, ticks: int) -> dict[str, float]:
    """CPU seconds of the first tick and of later ones, MB that the process grew by in one of them.

    The first tick reads the past and makes the tables. The engine's part is in it too, which takes
    and gives back some dozens of MB as it likes.
    """
    store = Store.open(StoreSettings(threads=1), folder)
    now = int(time.time()) // HOUR * HOUR
    try:
        for start in range(now - days * 24 * HOUR, now, 24 * HOUR):
            fill(store, start, start + 24 * HOUR)
        job = SignalJob(store, AlertsSettings())
        first, first_mb = _run(job, now + 31)
        seconds, grown = [], 0.0
        for place in range(WARM_TICKS + ticks):
            start = now + place * MINUTE
            fill(store, start, start + MINUTE)
            tick, tick_mb = _run(job, start + MINUTE + 31)
            seconds.append(tick)
            grown = max(grown, tick_mb)
        measured = sorted(seconds[WARM_TICKS:])
        return {
            "series": len(job.table.series),
            "first_tick_seconds": round(first, 3),
            "median_tick_seconds": round(measured[len(measured) // 2], 3),
            "worst_tick_seconds": round(measured[-1], 3),
            "first_tick_mb": round(first_mb, 1),
            "mb": round(grown, 1),
        }
    finally:
        store.close()


def _run(job: SignalJob, now: int) -> tuple[float, float]:
    """CPU seconds of a run, and MB by which the process grew."""
    before, started = resident_mb(), time.process_time()
    job.run(now)
    return time.process_time() - started, resident_mb() - before
