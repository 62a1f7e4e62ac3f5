"""What the core does by the clock, each done here by hand: safe to do twice, and at any time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from ragvigil.app.job_table import (
    ROLLUP_TURNS,
    SEGMENT_GRACE_SECONDS,
    RollUps,
    periodic_jobs,
)
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.app.pipeline.passed import CHECKPOINT_SECONDS
from ragvigil.app.settings import Settings
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rollups
from tests.outcomes import NOW, SECOND
from tests.pipelines import SHIFT, Core, answer

QUIET = 3.0
DAY = 24 * 3600


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store)
    yield born
    await born.spool.close()


@pytest.fixture
def jobs(core: Core, tmp_path: Path) -> dict[str, Callable[[], object]]:
    settings = Settings(data_dir=tmp_path)
    table = periodic_jobs(
        settings, core.store, core.parts, core.pipeline, core.balance, core.scores
    )
    assert all(job.every_seconds > 0 for job in table)
    return {job.name: job.function for job in table}


def scores_in_roll_ups(store: Store) -> float:
    """Scores of citation_validity in the roll-ups of the last day."""
    now = NOW // SECOND
    counts = rollups.counts(store, now - DAY, now + 3600)
    names = [series.rubric for series in counts.series]
    if "citation_validity" not in names:
        return 0.0
    return float(counts.n[counts.index == names.index("citation_validity")].sum())


async def test_minutes_that_became_durable_are_rolled_up_once(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert scores_in_roll_ups(core.store) == 0
    jobs["rollups"]()
    assert scores_in_roll_ups(core.store) == 1
    assert core.parts.dirty_minutes.take() == set()
    jobs["rollups"]()
    assert scores_in_roll_ups(core.store) == 1


async def test_minutes_whose_roll_up_fails_stay_out_of_date(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    rolling = RollUps(core.store, core.parts.dirty_minutes, NOW / SECOND + DAY)
    core.store.change("RENAME TABLE rollups TO rollups_away")
    with pytest.raises(QueryFailed):
        rolling.run()
    core.store.change("RENAME TABLE rollups_away TO rollups")
    assert scores_in_roll_ups(core.store) == 0
    rolling.run()
    assert scores_in_roll_ups(core.store) == 1


async def test_a_new_life_rolls_up_what_the_one_before_left_undone(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    RollUps(core.store, DirtyMinutes(), NOW / SECOND - 60).run()
    assert scores_in_roll_ups(core.store) == 1


async def test_a_new_life_rolls_up_what_was_left_undone_long_ago(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert len(rollups.minutes_not_counted(core.store)) == 1
    rolling = RollUps(core.store, DirtyMinutes(), NOW / SECOND + DAY)
    rolling.run()
    assert scores_in_roll_ups(core.store) == 1
    assert rollups.minutes_not_counted(core.store) == []


async def test_a_minute_that_was_rolled_up_in_part_is_counted_again_some_lives_later(
    core: Core,
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    RollUps(core.store, core.parts.dirty_minutes, NOW / SECOND + DAY).run()
    await core.send(2, answer())
    core.pass_time(QUIET)
    assert scores_in_roll_ups(core.store) == 1
    life = core.restarted().restarted()
    # It came so long ago that what was received lately does not tell of it.
    RollUps(life.store, life.parts.dirty_minutes, NOW / SECOND + DAY).run()
    assert scores_in_roll_ups(life.store) == 2


@pytest.mark.parametrize("url", ["", "http://clickhouse:8123/ragvigil"])
async def test_rubrics_that_others_accepted_are_read_where_there_are_others(
    core: Core, tmp_path: Path, url: str
) -> None:
    settings = Settings(data_dir=tmp_path, store={"url": url})  # type: ignore[arg-type]
    table = periodic_jobs(
        settings, core.store, core.parts, core.pipeline, core.balance, core.scores
    )
    names = {job.name for job in table}
    assert ("accepted_rubrics" in names) == bool(url)
    assert "patterns" in names


async def test_the_books_are_balanced_in_a_metric(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    jobs["books"]()
    assert REGISTRY.get_sample_value("ragvigil_ledger_mismatch_spans") == 0
    core.store.change("TRUNCATE TABLE ledger")
    jobs["books"]()
    assert REGISTRY.get_sample_value("ragvigil_ledger_mismatch_spans") == 3


async def test_segments_that_were_consumed_some_time_ago_are_removed(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    for number in range(1, 31):
        await core.send(number, answer())
    core.pass_time(QUIET)
    core.pass_time(core.collector.assembly.late_seconds + 60)
    core.pass_time(CHECKPOINT_SECONDS + 1)
    full = core.balance.spool_bytes()
    jobs["segments"]()
    assert core.balance.spool_bytes() == full
    core.now += SEGMENT_GRACE_SECONDS
    jobs["segments"]()
    assert core.balance.spool_bytes() < full


async def test_rows_live_as_long_as_the_settings_say(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    def days() -> int:
        rows = core.store.read("retention_now")
        return next(int(row["days"]) for row in rows if row["table"] == "spans")

    core.store.change("ALTER TABLE spans MODIFY TTL toDate(Received) + INTERVAL 3 DAY")
    assert days() == 3
    jobs["retention"]()
    assert days() == core.store.settings.spans_days


async def test_roll_ups_that_are_up_to_date_are_not_written_again(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    jobs["rollups"]()
    newest = rollups.changed(core.store, 0)
    assert newest is not None
    jobs["rollups"]()
    assert rollups.changed(core.store, newest.version) is None


async def test_deltas_and_retention_run_on_an_empty_store_and_again(
    jobs: dict[str, Callable[[], object]],
) -> None:
    for name in ("deltas", "retention", "deltas", "retention"):
        jobs[name]()


async def test_the_newest_deltas_are_shown_to_prometheus(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    for number in range(1, 13):
        await core.send(number, answer(), shift=SHIFT - 1200 * SECOND)
    core.pass_time(QUIET)
    jobs["rollups"]()
    jobs["deltas"]()
    shown = {
        (sample.labels["rubric"], sample.labels["window"]): sample.value
        for family in core.scores.collect()
        for sample in family.samples
        if sample.name == "ragvigil_score_records"
    }
    assert shown["citation_validity", "6h"] == 12


async def test_long_duties_wait_while_the_core_is_behind(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    def put_off() -> float:
        return REGISTRY.get_sample_value("ragvigil_jobs_put_off_total", {"job": "issues"}) or 0.0

    before = put_off()
    core.pipeline.is_behind = True
    jobs["issues"]()
    assert put_off() == before + 1
    core.pipeline.is_behind = False
    jobs["issues"]()
    assert put_off() == before + 1


async def test_roll_ups_wait_a_few_turns_only_while_the_core_is_behind(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    core.pipeline.is_behind = True
    for _ in range(ROLLUP_TURNS):
        jobs["rollups"]()
        assert scores_in_roll_ups(core.store) == 0
    jobs["rollups"]()
    assert scores_in_roll_ups(core.store) == 1


@pytest.mark.parametrize("name", ["watch", "deltas", "page_reads"])
async def test_what_reads_much_runs_at_every_second_turn_while_the_core_is_behind(
    core: Core, jobs: dict[str, Callable[[], object]], name: str
) -> None:
    def put_off() -> float:
        return REGISTRY.get_sample_value("ragvigil_jobs_put_off_total", {"job": name}) or 0.0

    before = put_off()
    core.pipeline.is_behind = True
    counts = []
    for _ in range(4):
        jobs[name]()
        counts.append(put_off() - before)
    assert counts == [1, 1, 2, 2]


async def test_the_size_of_the_store_is_shown_without_waiting_for_the_retention(
    core: Core, jobs: dict[str, Callable[[], object]]
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    jobs["store_bytes"]()
    parts = core.store.read("parts")
    on_disk = sum(int(row["bytes"]) for row in parts)
    assert on_disk > 0
    assert REGISTRY.get_sample_value("ragvigil_store_bytes") == on_disk
