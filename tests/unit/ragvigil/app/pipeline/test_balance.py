"""The books: the spool's own count against the ledger's; what is missing on one side shows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from collector.spool.spool import SpoolWriter
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.balance import HOUR
from ragvigil.app.pipeline.sink import KINDS
from ragvigil.store.engine.store import Store
from tests.pipelines import Core, answer

QUIET = 3.0


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    spool = await SpoolWriter.open(tmp_path / "spool", segment_bytes=4096)
    yield Core(folder=tmp_path, store=store, spool=spool)
    await spool.close()


async def test_acknowledged_is_always_the_sum_of_the_places(core: Core) -> None:
    for number in range(1, 6):
        await core.send(number, answer())
        spans = core.balance.spans()
        assert spans["acknowledged"] == 3 * number
        assert spans["acknowledged"] == sum(spans[kind] for kind in KINDS) + spans["in_spool"]
        core.pass_time(QUIET if number % 2 else 0.0)
    assert core.balance.spans()["stored"] == 15
    assert core.balance.mismatch() == 0


async def test_a_ledger_row_that_is_lost_is_a_mismatch_of_its_spans(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert core.balance.mismatch() == 0
    core.store.change("TRUNCATE TABLE ledger")
    assert core.balance.mismatch() == 3


async def test_a_row_that_counts_too_many_is_a_mismatch_too(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    core.store.change("INSERT INTO ledger SELECT * REPLACE (2 * spans AS spans) FROM ledger")
    assert core.balance.mismatch() == -3


async def test_what_arrives_while_the_books_are_read_is_no_mismatch(core: Core) -> None:
    """Both sides end at the same frame, whatever the database shows of later ones."""
    await core.send(1, answer())
    core.pass_time(QUIET)
    places = core.loop.sink.places
    await core.send(2, answer())
    assert core.balance.mismatch() == 0
    core.pass_time(QUIET)
    core.loop.sink.places = places
    assert core.balance.mismatch() == 0


async def test_rows_that_were_found_right_may_go_when_they_are_old(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    for _ in range(2):
        core.now += HOUR
        assert core.balance.mismatch() == 0
    core.store.change("TRUNCATE TABLE ledger")
    await core.send(2, answer())
    core.pass_time(QUIET)
    assert core.balance.mismatch() == 0
    core.store.change("TRUNCATE TABLE ledger")
    assert core.balance.mismatch() == 3


async def test_a_new_life_balances_what_came_since_its_checkpoint(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    second = core.restarted()
    await second.send(2, answer())
    assert second.balance.spans() == {
        "acknowledged": 6, "stored": 3, "duplicate": 0, "quarantined": 0, "lost": 0,
        "not_kept": 0, "in_spool": 3,
    }  # fmt: skip
    assert second.balance.mismatch() == 0


async def test_traces_are_counted_by_what_became_of_them(core: Core) -> None:
    nothing = {"scored": 0, "not_rag": 0, "shed": 0, "late": 0, "unparseable": 0, "offline": 0}
    assert core.balance.records() == nothing
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert core.balance.records() == nothing | {"scored": 1}


async def test_only_segments_below_the_checkpoint_go_and_the_newest_never(core: Core) -> None:
    for number in range(1, 31):
        await core.send(number, answer())
    full = core.balance.spool_bytes()
    assert core.balance.drop_segments(0) == 0
    core.pass_time(QUIET)
    last = core.pipeline.spans_read
    core.loop.reader.checkpoint("core", core.loop.reader.durable_seq)
    assert core.balance.drop_segments(0) > 0
    assert 0 < core.balance.spool_bytes() < full
    assert core.balance.spans()["acknowledged"] == last == 90
    assert core.balance.mismatch() == 0


async def test_a_segment_stays_for_a_while_after_it_is_consumed(core: Core) -> None:
    for number in range(1, 31):
        await core.send(number, answer())
    core.pass_time(QUIET)
    core.loop.reader.checkpoint("core", core.loop.reader.durable_seq)
    assert core.balance.drop_segments(3600) == 0
    assert core.balance.drop_segments(0) > 0


async def test_the_books_balance_at_every_step_of_a_replay(core: Core) -> None:
    for number in range(1, 41):  # more frames than one turn reads
        await core.send(number, answer())
    core.pass_time(QUIET)
    second = core.restarted()
    await second.send(41, answer())
    more = True
    while more:
        more = second.pipeline.step()
        second.now += 0.001
        assert second.balance.spans()["acknowledged"] == 123
        assert second.balance.mismatch() == 0
    second.pass_time(QUIET)
    assert second.balance.spans() == {
        "acknowledged": 123, "stored": 123,
        "duplicate": 0, "quarantined": 0, "lost": 0, "not_kept": 0, "in_spool": 0,
    }  # fmt: skip


async def lives_with_a_loss(core: Core, damage: Callable[[list[Path]], object]) -> Core:
    """Sends thirty answers, of which the first ten are stored, and damages the spool; then a new
    intake and a new core begin."""
    for number in range(1, 11):
        await core.send(number, answer())
    core.pass_time(QUIET)
    for number in range(11, 31):
        await core.send(number, answer())
    await core.spool.close()
    damage(sorted((core.folder / "spool").glob("*.seg")))
    core.spool = await SpoolWriter.open(core.folder / "spool", segment_bytes=4096)
    return core.restarted()


def balanced(core: Core, acknowledged: int) -> dict[str, int]:
    """The places of the spans, after checking that they add up."""
    spans = core.balance.spans()
    assert core.balance.mismatch() == 0
    assert spans["acknowledged"] == acknowledged == sum(spans.values()) - spans["acknowledged"]
    return spans


@pytest.mark.parametrize("which", [slice(3, 4), slice(-1, None), slice(None)])
async def test_a_segment_that_vanished_is_lost_in_the_books(core: Core, which: slice) -> None:
    second = await lives_with_a_loss(core, lambda all_: [path.unlink() for path in all_[which]])
    second.pass_time(QUIET)
    spans = balanced(second, 90)
    assert spans["lost"] > 0
    assert spans["lost"] == 90 - spans["stored"]
    assert len(second.rows("spans")) >= spans["stored"]
    await second.send(31, answer())
    third = second.restarted()
    third.pass_time(QUIET)
    assert balanced(third, 93)["lost"] == spans["lost"]


async def test_what_was_stored_before_its_segment_vanished_is_not_lost(core: Core) -> None:
    second = await lives_with_a_loss(core, lambda all_: all_[0].unlink())
    second.pass_time(QUIET)
    assert balanced(second, 90)["lost"] == 0


async def test_a_trace_whose_frame_vanishes_before_it_closes_is_lost(core: Core) -> None:
    for number in range(1, 5):
        await core.send(number, answer())
    core.pass_time(0.1)  # read, and still open
    core.loop.fetcher._cached.clear()
    for path in (core.folder / "spool").glob("*.seg"):
        path.write_bytes(b"")
    core.pass_time(QUIET)
    assert balanced(core, 12)["lost"] == 12
    assert metrics.LOST_SPANS._value.get() == 12
