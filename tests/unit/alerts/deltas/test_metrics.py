"""The Prometheus metrics of scores."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from alerts.deltas.metrics import FAMILIES, OTHER, STALE_SECONDS, ScoreMetrics
from alerts.deltas.score_counts import ScoreCounts
from alerts.settings import MetricsSettings
from ragvigil.model.delta import Delta, Moved, Series
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.model.span import Closed, Trace
from tests.monitoring import tool

NOW = 1_767_225_600


def metrics(now: int = NOW, **settings: int) -> ScoreMetrics:
    fails_below = {"citation_validity": 1.0}
    return ScoreMetrics(MetricsSettings(**settings), fails_below, clock=lambda: now)


def outcome(*scores: Score, route: str = "/refunds", record_id: str = "aa") -> Outcome:
    trace = Trace(trace_id="f" * 32, spans=(), closed=Closed.ROOT_ENDED, received_unix_nano=0)
    record = RagRecord(
        record_id=record_id,
        trace_id=trace.trace_id,
        service="desk",
        environment="prod",
        route=route,
        user_id="somebody",
    )
    return Outcome(
        trace=trace,
        outcome=TraceOutcome.SCORED,
        time_unix_nano=0,
        records=(ScoredRecord(record=record, scores=scores),),
    )


def validity(value: float | None, label: str = "", absent: str = "") -> Score:
    return Score(rubric="citation_validity", value=value, label=label, absent=absent)


def delta(**fields: object) -> Delta:
    series = Series(
        service="desk",
        environment="prod",
        route=str(fields.pop("route", "/refunds")),
        rubric="citation_validity",
        layer=Layer.CROSS_CUTTING,
        segment=str(fields.pop("segment", "1")),
    )
    defaults = {"series": series, "tick": NOW, "window": "6h", "n": 40, "mean": 0.61}
    return Delta(**(defaults | fields))  # type: ignore[arg-type]


def count(of: ScoreMetrics, outcome: Outcome, known: tuple[str, ...] = ()) -> None:
    """Counts an outcome as the sink does."""
    counts = ScoreCounts(of.fails_below)
    counts.add_outcome(outcome, known)
    of.add(counts)


def exposition(of: ScoreMetrics) -> str:
    registry = CollectorRegistry()
    registry.register(of)
    return generate_latest(registry).decode()


def samples(of: ScoreMetrics) -> dict[tuple[str, str], float]:
    """Value by name and route, label or window."""
    found = {}
    for family in text_string_to_metric_families(exposition(of)):
        for sample in family.samples:
            label = sample.labels.get("label") or sample.labels.get("route", "")
            found[sample.name, label] = sample.value
    return found


def test_counters_hold_sum_count_failed_absent_and_labels() -> None:
    of = metrics()
    count(of, outcome(validity(0.5, "quote_not_found, marker_mismatch")))
    count(of, outcome(validity(1.0)))
    count(of, outcome(validity(None, absent="document_texts")))
    count(of, outcome(validity(None)))  # does not apply: no citations
    found = samples(of)
    assert found["ragvigil_score_sum_total", "/refunds"] == 1.5
    assert found["ragvigil_score_count_total", "/refunds"] == 2
    assert found["ragvigil_score_failed_total", "/refunds"] == 1
    assert found["ragvigil_score_absent_total", "/refunds"] == 1
    assert found["ragvigil_score_labels_total", "quote_not_found"] == 1
    assert found["ragvigil_score_labels_total", "marker_mismatch"] == 1


def test_what_a_judge_and_a_local_model_say_of_a_rubric_are_two_samples() -> None:
    of = metrics()
    judged = Score(rubric="groundedness", value=0.25, kind=Kind.JUDGE)
    local = replace(judged, value=0.75, kind=Kind.MODEL, stream=Stream.PROXY)
    count(of, outcome(judged, local, replace(judged, stream=Stream.SUSPICIOUS)))
    row = delta(mean=0.25, n=10)
    own = replace(row.series, kind=Kind.JUDGE)
    other = replace(row.series, kind=Kind.MODEL, segment="2")
    of.show([replace(row, series=own), replace(row, series=other, mean=0.75, n=400)])
    found = {
        (sample.name, sample.labels.get("kind")): sample.value
        for family in text_string_to_metric_families(exposition(of))
        for sample in family.samples
    }
    for name in ("ragvigil_score_sum_total", "ragvigil_score_mean"):
        assert (found[name, "judge"], found[name, "model"]) == (0.25, 0.75)
    assert found["ragvigil_score_count_total", "judge"] == 1


def test_a_later_generation_of_a_record_is_not_counted_again() -> None:
    of = metrics()
    count(of, outcome(validity(1.0)))
    count(of, outcome(validity(0.0)), known=("aa",))
    assert samples(of)["ragvigil_score_count_total", "/refunds"] == 1


def test_routes_beyond_the_cap_share_one_label() -> None:
    of = metrics(max_routes=2)
    for number in range(5):
        count(of, outcome(validity(1.0), route=f"/{number}"))
    found = samples(of)
    assert found["ragvigil_score_count_total", OTHER] == 3
    assert found["ragvigil_score_count_total", "/0"] == 1
    assert ("ragvigil_score_count_total", "/2") not in found


def test_labels_beyond_the_cap_share_one_label() -> None:
    of = metrics(max_labels=1)
    for label in ("a", "b", "c"):
        count(of, outcome(validity(0.0, label)))
    assert samples(of)["ragvigil_score_labels_total", OTHER] == 2


def test_what_is_unknown_has_no_series() -> None:
    of = metrics()
    of.show([delta(mean=None, n=0, coverage=0.1)])
    names = {name for name, _ in samples(of)}
    assert "ragvigil_score_mean" not in names
    assert "ragvigil_score_delta" not in names
    assert "ragvigil_score_coverage" in names


@pytest.mark.parametrize(("age", "is_shown"), [(STALE_SECONDS, True), (STALE_SECONDS + 1, False)])
def test_a_row_older_than_two_ticks_vanishes(age: int, is_shown: bool) -> None:
    of = metrics(now=NOW + age)
    of.show([delta()])
    assert (("ragvigil_score_mean", "/refunds") in samples(of)) is is_shown


def test_a_mean_stands_beside_the_plain_mean_and_the_share_that_was_judged() -> None:
    of = metrics()
    of.show([delta(mean=0.61, plain_mean=0.4, judged_share=0.07)], late=2)
    of.show([delta(mean=0.61, plain_mean=0.4, judged_share=0.07)], late=1)
    found = samples(of)
    assert found["ragvigil_score_mean", "/refunds"] == 0.61
    assert found["ragvigil_score_plain_mean", "/refunds"] == 0.4
    assert found["ragvigil_score_judged_share", "/refunds"] == 0.07
    assert found["ragvigil_score_late_total", ""] == 3


def test_a_mean_of_all_answers_has_no_judged_share() -> None:
    of = metrics()
    of.show([delta(mean=0.61, plain_mean=0.61)])
    assert ("ragvigil_score_judged_share", "/refunds") not in samples(of)


def test_rows_that_are_not_shown_again_vanish() -> None:
    of = metrics()
    of.show([delta(), delta(route="/quiet")])
    of.show([delta()])
    assert ("ragvigil_score_mean", "/quiet") not in samples(of)


def test_the_segment_with_most_scores_speaks() -> None:
    of = metrics()
    of.show([delta(segment="old", n=3, mean=0.2), delta(segment="new", n=30, mean=0.9)])
    assert samples(of)["ragvigil_score_mean", "/refunds"] == 0.9


def test_routes_beyond_the_cap_are_pooled_by_their_scores() -> None:
    of = metrics(max_routes=1)
    of.show([delta(), delta(route="/a", n=10, mean=1.0), delta(route="/b", n=30, mean=0.6)])
    assert samples(of)["ragvigil_score_mean", OTHER] == pytest.approx(0.7)


def test_a_movement_has_a_sign() -> None:
    of = metrics()
    of.show([delta(moved=Moved.FELL)])
    assert samples(of)["ragvigil_score_moved", "/refunds"] == -1


def test_no_label_holds_a_trace_or_a_user() -> None:
    of = metrics()
    count(of, outcome(validity(0.0, "quote_not_found")))
    text = exposition(of)
    assert "somebody" not in text
    assert "f" * 32 not in text


def test_labels_are_escaped() -> None:
    of = metrics()
    route = 'a"b\\c\nd'
    count(of, outcome(validity(1.0), route=route))
    assert samples(of)["ragvigil_score_count_total", 'a"b\\c\\nd'] == 1


def test_names_that_differ_by_an_escape_stay_apart() -> None:
    of = metrics()
    for route in ("/a\x1b[2J", "/a\\x1b[2J", "/a\u202e[2J", "/a [2J", "/a\u00a0[2J"):
        count(of, outcome(validity(1.0), route=route))
    assert {char for char in exposition(of) if not char.isprintable()} == {"\n"}
    counted = [key for key in samples(of) if key[0] == "ragvigil_score_count_total"]
    assert len(counted) == 5


def test_every_family_has_help_and_is_listed() -> None:
    text = exposition(metrics())
    for family in FAMILIES:
        assert f"# HELP {family.name} {family.help}" in text
        assert f"# TYPE {family.name} {family.kind}" in text


def test_promtool_finds_nothing_to_complain_of() -> None:
    of = metrics()
    count(of, outcome(validity(0.5, "quote_not_found")))
    of.show([delta(delta=-0.3, low=-0.35, high=-0.27, baseline=0.9, coverage=1.0)])
    done = subprocess.run(
        [tool("promtool"), "check", "metrics"],
        input=exposition(of),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
