"""Notices of live traffic: stored once, the same after a restart, despite repeated records."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from alerts.deltas.minute_counter import MinuteCounter
from alerts.notices.job import COUNT_SECONDS, MOST_HELD, NoticeJob
from alerts.notices.settings import NoticeSettings
from ragvigil.app.pipeline.summary import fingerprints_of
from ragvigil.model.notice import ChangeKind
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Absent, Dimensions, Document
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from ragvigil.store.watch import notices as stored
from ragvigil.store.watch.fingerprints import COUNTED
from tests.outcomes import NOW, SECOND, outcome_of

FEW = NoticeSettings(warm_up_requests=100)
START = NOW // SECOND * SECOND - 3600 * SECOND


def answered(
    number: int, *, prompt: str = "v1", length: int = 100, route: str = "/ask", index: str = ""
) -> Outcome:
    """The `number`th request, ten seconds after the one before; chunks end after `length`."""
    made = outcome_of(number, route=route, time_unix_nano=START + number * 10 * SECOND)
    question = number % 7
    documents = tuple(
        Document(
            chunk_id=f"{name}-{question}",
            content=f"{name} {question} {'word ' * 100}"[:length],
            document_id=name,
            score=0.5 + 0.01 * question,
        )
        for name in ("refunds", "fees")
    )
    record = replace(
        made.records[0].record,
        query=f"Question {question}?",
        retrieved=documents,
        context=documents,
        dimensions=Dimensions(prompt_version=prompt, index_epoch=index),
    )
    return replace(made, records=(replace(made.records[0], record=record),))


def keep(store: Store, outcomes: Sequence[Outcome], *, is_of_this_life: bool = False) -> None:
    epoch = store.epoch if is_of_this_life else store.epoch + 1
    rows = TraceRows({}, replica=store.replica, epoch=epoch)
    for outcome in outcomes:
        rows.add(outcome)
    store.write(rows.take())


def noticing(store: Store, now: float = START / SECOND + 3600) -> NoticeJob:
    return NoticeJob(store, FEW, lambda: now)


def offer(watch: NoticeJob, outcomes: Sequence[Outcome]) -> None:
    watch.offer(fingerprint for outcome in outcomes for fingerprint in fingerprints_of(outcome))


def epoch(watch: NoticeJob) -> str:
    return watch.epochs().get(("helpdesk", "prod", "/ask"), "")


def usual(count: int = 120) -> list[Outcome]:
    return [answered(number) for number in range(count)]


def changed(first: int, last: int, **setup: str | int) -> list[Outcome]:
    return [answered(number, **setup) for number in range(first, last)]  # type: ignore[arg-type]


def test_a_change_is_returned_once_and_stored(store: Store) -> None:
    watch = noticing(store)
    offer(watch, usual())
    assert watch.run() == ()
    offer(watch, changed(120, 150, prompt="v2"))
    (notice,) = watch.run()
    assert (notice.kind, notice.before, notice.after) == (ChangeKind.PROMPT, "v1", "v2")
    assert notice.since_unix_nano == START + 1200 * SECOND
    assert watch.run() == ()
    assert stored.find(store) == [notice]
    assert stored.find(store, route="/other") == []
    assert stored.find(store, since=notice.since_unix_nano // SECOND + 1) == []
    assert stored.newest(store, each=1) == [notice]


def test_routes_do_not_matter_to_one_another_nor_does_their_order(store: Store) -> None:
    outcomes = [*usual(), *changed(120, 150, prompt="v2")]
    others = [answered(number, route="/other") for number in range(1000, 1150)]
    others = [replace(outcome, time_unix_nano=two.time_unix_nano)
              for outcome, two in zip(others, outcomes, strict=True)]  # fmt: skip
    watch = noticing(store)
    offer(watch, [*others, *reversed(outcomes)])
    assert [(notice.route, notice.kind) for notice in watch.run()] == [("/ask", ChangeKind.PROMPT)]


def unnoticed(reason: str) -> float:
    labels = {"reason": reason}
    return REGISTRY.get_sample_value("ragvigil_records_unnoticed_total", labels) or 0.0


def test_what_comes_twice_counts_once(store: Store) -> None:
    watch, late = noticing(store), unnoticed("late")
    offer(watch, usual())
    outcomes = changed(120, 121, prompt="v2")
    for _ in range(20):
        offer(watch, outcomes)
    assert watch.run() == ()
    offer(watch, usual())
    assert (watch.run(), unnoticed("late") - late) == ((), 0)


def test_what_comes_late_is_counted(store: Store) -> None:
    watch, late = noticing(store), unnoticed("late")
    offer(watch, changed(120, 220))
    watch.run()
    offer(watch, usual(30))
    assert (watch.run(), unnoticed("late") - late) == ((), 30)


def test_what_another_process_scores_meanwhile_is_waited_for(store: Store) -> None:
    watch, late = noticing(store), unnoticed("late")
    watch.is_held = True
    offer(watch, changed(120, 220, prompt="v2"))
    assert watch.run() == ()
    offer(watch, usual())
    watch.is_held = False
    (notice,) = watch.run()
    assert (notice.kind, unnoticed("late") - late) == (ChangeKind.PROMPT, 0)


def test_too_many_are_not_held(store: Store) -> None:
    watch = noticing(store)
    watch.is_held = True
    offer(watch, [answered(1_000 + number, route="/other") for number in range(MOST_HELD)])
    assert watch.run() == ()
    offer(watch, [*usual(), *changed(120, 150, prompt="v2")])
    assert [notice.kind for notice in watch.run()] == [ChangeKind.PROMPT]


def test_a_restart_neither_notices_twice_nor_forgets(store: Store) -> None:
    before = [*usual(), *changed(120, 150, length=30)]
    keep(store, before)
    watch = noticing(store)
    offer(watch, before)
    # The first run learns from the store what it is offered, so it notices nothing anew.
    assert watch.run() == ()
    store.change("TRUNCATE TABLE records")
    watch = noticing(store)
    offer(watch, before)
    (notice,) = watch.run()
    assert notice.kind is ChangeKind.RECHUNKED
    keep(store, before)
    again = noticing(store)
    offer(again, before)
    assert again.run() == ()
    offer(again, changed(150, 190, length=30))
    assert again.run() == ()
    offer(again, changed(190, 220))
    (back,) = again.run()
    assert (back.kind, back.before, back.after) == (notice.kind, notice.after, notice.before)
    assert epoch(again) != epoch(watch)


def test_a_tenant_who_slept_for_days_is_no_news_after_a_restart(store: Store) -> None:
    night = [
        replace(outcome, time_unix_nano=outcome.time_unix_nano - 5 * 86_400 * SECOND)
        for outcome in changed(1_000, 1_060, prompt="batch")
    ]
    keep(store, [*night, *usual()])
    minutes = {outcome.time_unix_nano // SECOND // 60 * 60 for outcome in (*night, *usual())}
    rollups.recompute(store, minutes, version=NOW)
    watch = noticing(store)
    assert watch.run() == ()
    offer(watch, changed(120, 160, prompt="batch"))
    assert watch.run() == ()
    offer(watch, changed(160, 200, prompt="v2"))
    assert [notice.after for notice in watch.run()] == ["v2"]


def test_what_this_life_has_stored_is_not_its_past(store: Store) -> None:
    seen = [*usual(), *changed(120, 150, length=30)]
    keep(store, seen, is_of_this_life=True)
    watch = noticing(store)
    offer(watch, seen)
    (notice,) = watch.run()
    assert notice.kind is ChangeKind.RECHUNKED


def test_a_change_that_was_not_named_before_a_restart_is_named_after_it(store: Store) -> None:
    keep(store, [*usual(), *changed(120, 126, prompt="v2")])
    watch = noticing(store)
    assert watch.run() == ()
    offer(watch, changed(126, 132, prompt="v2"))
    (notice,) = watch.run()
    assert notice.since_unix_nano == START + 1200 * SECOND


def test_a_change_is_named_after_ten_minutes_without_traffic(store: Store) -> None:
    now = [0.0]
    watch = NoticeJob(store, FEW, lambda: now[0])
    offer(watch, [*usual(), *changed(120, 127, prompt="v2")])
    assert watch.run() == ()
    now[0] += 599
    assert watch.run() == ()
    now[0] += 2
    assert [notice.kind for notice in watch.run()] == [ChangeKind.PROMPT]


def test_an_index_without_a_version_gets_one_when_it_changes(store: Store) -> None:
    watch = noticing(store)
    offer(watch, usual())
    watch.run()
    assert epoch(watch) == ""
    offer(watch, changed(120, 150, length=30))
    watch.run()
    noticed = epoch(watch)
    assert noticed.startswith("noticed re-chunked 20")
    offer(watch, changed(150, 180, index=noticed, length=30))
    assert watch.run() == ()
    assert epoch(watch) == noticed
    offer(watch, changed(180, 181, index="2026-06", length=30))
    watch.run()
    assert epoch(watch) == ""


def test_no_more_waits_than_memory_is_there_for(store: Store) -> None:
    watch, shed = noticing(store), unnoticed("shed")
    for _ in range(67):
        offer(watch, usual(300))
    assert unnoticed("shed") - shed == 100


def unseen(first: int, last: int) -> list[Outcome]:
    """Requests whose chunks have ids and no texts."""
    made = []
    for outcome in changed(first, last):
        record = outcome.records[0].record
        bare = tuple(replace(document, content=None) for document in record.retrieved)
        hidden = replace(
            record, retrieved=bare, context=bare, absent={"document_texts": Absent.HIDDEN}
        )
        made.append(replace(outcome, records=(replace(outcome.records[0], record=hidden),)))
    return made


def test_texts_that_are_no_longer_sent_are_a_finding_that_outlives_a_restart(store: Store) -> None:
    outcomes = [*usual(300), *unseen(300, 340)]
    keep(store, outcomes[:320])
    watch = noticing(store)
    offer(watch, outcomes)
    assert watch.run() == ()
    (finding,) = watch.blind()
    assert (finding.signal, finding.since_unix_nano) == (
        "document_texts",
        START + 3000 * SECOND,
    )
    keep(store, outcomes[320:])
    again = NoticeJob(store, FEW, lambda: START / SECOND + 3600, blind=[finding])
    assert again.run() == ()
    assert [each.finding_id for each in again.blind()] == [finding.finding_id]
    offer(again, changed(340, 380))
    assert again.run() == ()
    assert [bool(each.cleared_unix_nano) for each in again.blind()] == [True]


def test_counts_that_fail_are_told_once_until_they_succeed_again(store: Store) -> None:
    now = itertools.count(START / SECOND, COUNT_SECONDS)
    watch, fails = NoticeJob(store, FEW, lambda: next(now)), [True, True, True, False, True]
    refusals = iter(fails)

    class Refusing(MinuteCounter):
        def run(self, first: int, until: float = math.inf) -> None:
            if next(refusals):
                raise QueryFailed("over the memory limit")
            super().run(first, until)

    watch._counter = Refusing(store, COUNTED)
    with capture_logs() as told:
        for _ in fails:
            watch.run()
    assert [each["event"] for each in told] == [
        "fingerprints_not_counted",
        "fingerprints_counted_again",
        "fingerprints_not_counted",
    ]
