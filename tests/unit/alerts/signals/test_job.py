"""The job of the signals over a real store: reads what changed, and finds what is worse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.settings import AlertsSettings
from alerts.signals.catalogue import accepted_key
from alerts.signals.job import SignalJob
from alerts.signals.settings import BrokenSettings
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Cause
from ragvigil.store.engine.store import Store
from tests.outcomes import NOW, SECOND
from tests.unit.alerts.stored_requests import Served, write

MINUTE, HOUR = 60, 3600
NOON = NOW // SECOND // HOUR * HOUR - 6 * HOUR
SETTINGS = AlertsSettings()


def good(first: int, start: int, minutes: int, **fields: object) -> list[Served]:
    """Two good requests a minute."""
    return [
        Served(number=first + place, time=start + place * 30, **fields)  # type: ignore[arg-type]
        for place in range(2 * minutes)
    ]


def of(found: tuple[Finding, ...], signal: str) -> list[Finding]:
    return [finding for finding in found if finding.signal == signal]


@pytest.mark.parametrize(
    ("signal", "fields", "words"),
    [
        ("citation_validity:failed", {"validity": 0.5}, "answers cite what is not there"),
        (
            "context_relevance:none_relevant",
            {"is_irrelevant": True},
            "answers have nothing relevant in their context",
        ),
        (
            "answer_language:failed",
            {"language": 0.0},
            "answers are in another language than their question",
        ),
        ("refusal:refused", {"label": "refused"}, "answers refuse"),
        ("retrieval_shape:empty", {"retrieval": "empty"}, "retrievals return nothing"),
        ("answer_complete_text:empty", {"ending": "empty"}, "answers have no text"),
        ("answer_complete_text:truncated", {"ending": "truncated"}, "answers are cut off"),
        ("error", {"error": "502"}, "requests fail"),
        ("seconds_total:slow", {"measures": {"seconds_total": 90.0}}, "longer than 60 s"),
    ],
)
def test_what_breaks_is_found_within_minutes_with_its_traces(
    store: Store, signal: str, fields: dict[str, object], words: str
) -> None:
    usual = {"measures": {"seconds_total": 2.0}, "is_irrelevant": False}
    write(store, good(0, NOON - 2 * HOUR, 120, **usual))
    job = SignalJob(store, SETTINGS)
    assert job.run(NOON + 31) == ()
    write(store, good(1000, NOON, 10, **(usual | fields)))
    found = [finding for minute in range(1, 7) for finding in job.run(NOON + minute * MINUTE + 31)]
    (finding,) = {finding.finding_id: finding for finding in found}.values()
    assert (finding.signal, finding.kind, finding.routes) == (signal, FindingKind.BROKEN, ("/ask",))
    assert words in finding.words
    assert abs(finding.since_unix_nano // SECOND - NOON) <= 2 * MINUTE
    assert len(finding.traces) == 5
    assert {int(trace, 16) >= 1000 for trace in finding.traces} == {True}


def test_a_question_that_many_ask_at_once_is_one_voice(store: Store) -> None:
    def asked(requests: list[Served]) -> list[Served]:
        return [replace(request, query=f"question {request.number}") for request in requests]

    write(store, asked(good(0, NOON - 2 * HOUR, 120)))
    many = good(1000, NOON, 30, validity=0.0, local=0.1, measures={"answer_words": 5.0})
    popular = [replace(request, query="Is it down?", time=request.time + 7) for request in many]
    spelled = [
        replace(request, query="is it down")
        if place % 2
        else replace(request, query=" Is it down?! ")
        for place, request in enumerate(popular)
    ]
    write(store, [*asked(good(2000, NOON, 30)), *spelled])
    job = SignalJob(store, SETTINGS)
    for minute in range(31):
        assert job.run(NOON + minute * MINUTE + 31) == ()
    newest = job.table.last(NOON + 30 * MINUTE, 30)
    sums = {series.rubric: newest[:2, place] for place, series in enumerate(job.table.series)}
    # Two quarters of an hour, in each of which the popular question is one of 31.
    assert sums["citation_validity:failed"].tolist() == [62, 2]
    assert sums["refusal:refused"].tolist() == [62, 0]
    assert sums["answer_words"][0] == 62
    assert sums["groundedness"][0] == 2
    # Requests that fail or are slow are all counted: these are of the machinery.
    assert sums["error"][0] == 120


def test_where_all_ask_the_same_each_request_counts(store: Store) -> None:
    probe = {"query": "Are you there?"}
    write(store, good(0, NOON - 2 * HOUR, 120, **probe))
    write(store, good(1000, NOON, 10, validity=0.0, **probe))
    found = SignalJob(store, SETTINGS).run(NOON + 10 * MINUTE + 31)
    assert [finding.signal for finding in found] == ["citation_validity:failed"]


@pytest.mark.slow
def test_a_finding_clears_when_the_rate_was_under_its_ceiling_for_long_enough(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    write(store, good(1000, NOON, 10, validity=0.0))
    write(store, good(2000, NOON + 10 * MINUTE, 60))
    job = SignalJob(store, SETTINGS)
    states = [
        (finding.finding_id, finding.is_open)
        for minute in range(70)
        for finding in job.run(NOON + minute * MINUTE + 31)
    ]
    assert len({name for name, _ in states}) == 1
    assert [is_open for _, is_open in states].count(False) == 1
    assert not states[-1][1]


@pytest.mark.slow
def test_late_minutes_of_what_cleared_do_not_open_it_again(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    write(store, good(1000, NOON, 10, validity=0.0))
    write(store, good(2000, NOON + 10 * MINUTE, 50))
    job = SignalJob(store, SETTINGS)
    for minute in range(60):
        job.run(NOON + minute * MINUTE + 31)
    write(store, good(3000, NOON, 8, validity=0.0))
    assert job.run(NOON + 60 * MINUTE + 31) == ()


def test_records_that_come_late_by_less_than_two_hours_still_open_a_finding(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    job = SignalJob(store, SETTINGS)
    for minute in range(40):
        job.run(NOON + minute * MINUTE + 31)
    write(store, good(1000, NOON + 5 * MINUTE, 30, validity=0.0))
    found = job.run(NOON + 40 * MINUTE + 31)
    assert [finding.signal for finding in found] == ["citation_validity:failed"]


def test_a_backfill_of_older_minutes_opens_nothing(store: Store) -> None:
    job = SignalJob(store, SETTINGS)
    job.run(NOON + 31)
    write(store, good(0, NOON - 6 * HOUR, 120, validity=0.0))
    assert job.run(NOON + MINUTE + 31) == ()
    assert job.run(NOON + 2 * MINUTE + 31) == ()


def test_a_new_life_goes_on_with_the_findings_of_the_last_under_their_ids(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    write(store, good(1000, NOON, 20, validity=0.0))
    (before,) = of(
        SignalJob(store, SETTINGS).run(NOON + 10 * MINUTE + 31), "citation_validity:failed"
    )
    (after,) = of(
        SignalJob(store, SETTINGS, [before]).run(NOON + 15 * MINUTE + 31),
        "citation_validity:failed",
    )
    assert after.finding_id == before.finding_id
    assert after.seen_unix_nano > before.seen_unix_nano


def test_a_clock_that_was_a_day_ahead_blinds_nobody(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    job = SignalJob(store, SETTINGS)
    job.run(NOON + 31)
    job.run(NOON + 24 * HOUR)
    write(store, good(1000, NOON, 20, validity=0.0))
    found = [each for minute in range(1, 7) for each in job.run(NOON + minute * MINUTE + 31)]
    assert of(tuple(found), "citation_validity:failed")


def test_two_lives_give_a_finding_the_same_id(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    write(store, good(1000, NOON, 20, validity=0.0))
    first, other = (SignalJob(store, SETTINGS).run(NOON + 10 * MINUTE + 31) for _ in range(2))
    assert [finding.finding_id for finding in first] == [finding.finding_id for finding in other]
    assert first


def test_an_accepted_level_clears_a_finding_and_keeps_it_away(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 120))
    half = good(1000, NOON, 60, validity=0.0)
    write(
        store,
        [
            request if place % 2 else replace(request, validity=1.0)
            for place, request in enumerate(half)
        ],
    )
    job = SignalJob(store, SETTINGS)
    (found,) = of(job.run(NOON + 38 * MINUTE + 31), "citation_validity:failed")
    accepted = {accepted_key(found): 0.55}
    (cleared,) = job.run(NOON + 39 * MINUTE + 31, accepted)
    assert not cleared.is_open
    assert [job.run(NOON + minute * MINUTE + 31, accepted) for minute in (40, 50, 59)] == [()] * 3


def test_a_route_can_have_a_ceiling_of_its_own(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 140, label="refused"))
    assert of(SignalJob(store, SETTINGS).run(NOON + 20 * MINUTE), "refusal:refused")
    for route in ("/ask", "helpdesk/ask"):
        broken = BrokenSettings.model_validate({"routes": {route: {"refusals": 1.0}}})
        settings = SETTINGS.model_copy(update={"broken": broken})
        assert SignalJob(store, settings).run(NOON + 20 * MINUTE) == ()


def test_a_route_can_have_seconds_of_its_own(store: Store) -> None:
    write(store, good(0, NOON - 2 * HOUR, 140, measures={"seconds_total": 90.0}))
    assert of(SignalJob(store, SETTINGS).run(NOON + 20 * MINUTE), "seconds_total:slow")
    for route in ("/ask", "helpdesk/ask"):
        broken = BrokenSettings.model_validate({"routes": {route: {"latency_seconds": 120}}})
        settings = SETTINGS.model_copy(update={"broken": broken})
        assert SignalJob(store, settings).run(NOON + 20 * MINUTE) == ()


def test_a_number_that_shifts_is_a_ticket_with_the_level_before(store: Store) -> None:
    def words(place: int, usual: float) -> dict[str, float]:
        return {"answer_words": usual * (1 + 0.2 * (place % 5 - 2))}

    past = good(0, NOON - 5 * HOUR, 300)
    write(
        store, [replace(request, measures=words(place, 100)) for place, request in enumerate(past)]
    )
    job = SignalJob(store, SETTINGS)
    assert job.run(NOON + 31) == ()
    short = good(1000, NOON, 60)
    write(
        store, [replace(request, measures=words(place, 50)) for place, request in enumerate(short)]
    )
    found = [
        finding for minute in range(5, 40, 5) for finding in job.run(NOON + minute * MINUTE + 31)
    ]
    (finding,) = {finding.finding_id: finding for finding in found}.values()
    assert finding.kind is FindingKind.MOVED
    assert finding.causes == (Cause.GENERATION,)
    assert finding.words.startswith("words of a typical answer fell from ")
    assert finding.reference == pytest.approx(93, abs=8)
    assert finding.value is not None
    assert finding.value < 75
    assert len(finding.traces) == 5


@pytest.mark.slow
def test_local_scores_are_followed_though_a_judge_speaks_for_the_rubric(store: Store) -> None:
    past = good(0, NOON - 5 * HOUR, 300)
    write(
        store,
        [replace(request, local=0.9 - 0.1 * (place % 3)) for place, request in enumerate(past)],
    )
    job = SignalJob(store, SETTINGS)
    job.run(NOON + 31)
    now = good(1000, NOON, 40)
    write(
        store,
        [replace(request, local=0.5 - 0.1 * (place % 3)) for place, request in enumerate(now)],
    )
    found = [
        finding for minute in range(5, 40, 5) for finding in job.run(NOON + minute * MINUTE + 31)
    ]
    assert {finding.signal for finding in found} == {"groundedness"}


def test_the_share_of_a_local_models_label_is_followed_on_all_traffic(store: Store) -> None:
    """A quarter of the answers is unsupported; what the others have has not moved."""
    write(store, [replace(request, local=0.9) for request in good(0, NOON - 5 * HOUR, 300)])
    job = SignalJob(store, SETTINGS)
    job.run(NOON + 31)
    now = [
        replace(request, local=0.85, local_label="unsupported") if place % 4 == 0 else request
        for place, request in enumerate(good(1000, NOON, 60, local=0.9))
    ]
    write(store, now)
    found = [
        finding for minute in range(5, 65, 5) for finding in job.run(NOON + minute * MINUTE + 31)
    ]
    shares = of(tuple(found), "groundedness:unsupported")
    assert {finding.kind for finding in shares} == {FindingKind.MOVED}
    bad = {request.outcome().trace.trace_id for request in now if request.local_label}
    assert shares[-1].traces
    assert set(shares[-1].traces) <= bad


def test_nothing_stored_is_nothing_found(store: Store) -> None:
    job = SignalJob(store, SETTINGS)
    assert [job.run(NOON + minute * MINUTE) for minute in range(3)] == [(), (), ()]


@pytest.mark.slow
def test_what_was_read_bit_by_bit_is_what_a_new_life_reads_at_once(store: Store) -> None:
    write(store, good(0, NOON - 9 * HOUR, 300))
    job = SignalJob(store, SETTINGS)
    job.run(NOON + 31)
    # Now, a while ago, longer ago than single minutes are kept, and ahead of the clock.
    for first, ago in ((1000, 0), (2000, -HOUR), (3000, -5 * HOUR), (4000, 10 * MINUTE)):
        write(store, good(first, NOON + ago, 3, validity=0.0, error="x"))
        job.run(NOON + first // 1000 * MINUTE + 31)
    end = NOON + 15 * MINUTE
    job.run(end + 31)
    fresh = SignalJob(store, SETTINGS)
    fresh.run(end + 31)
    assert _cells(job) == _cells(fresh)


def _cells(job: SignalJob) -> dict[object, tuple[list[float], list[float]]]:
    """Requests and sums of every series, by the hour and in the last two hours."""
    table = job.table
    hours, last = table.by_hour(NOON + HOUR, 12), table.last(table.end, 120)
    return {
        series: (hours[:, :, place].ravel().tolist(), last[:, place].tolist())
        for place, series in enumerate(table.series)
    }
