"""The Prometheus metrics of the watch."""

from __future__ import annotations

import subprocess
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from alerts.incidents.message import Message
from alerts.settings import MetricsSettings
from alerts.signals.gauges import SignalReading
from alerts.watch.families import FAMILIES, MAX_INCIDENTS
from alerts.watch.metrics import MAX_CHARACTERS, STALE_SECONDS, WatchMetrics
from ragvigil.model.audit import Audit, AuditState
from ragvigil.model.delta import Series
from ragvigil.model.incident import (
    RERANKER,
    Incident,
    IncidentState,
    LayerVerdict,
    LikelyLayer,
    Severity,
)
from ragvigil.model.notice import Cause, ChangeKind, Notice
from tests.monitoring import tool

START = 1_767_225_600
NANO = 10**9


TEXT = Message(
    worse="groundedness fell by 10 points [5, 15] to 0.72, n 200",
    since="Sat 21 Nov 09:40 UTC",
    routes="/refunds (desk prod)",
    changed="re-chunked on /refunds; coincides, 2 min before",
    cause="retrieval; look at chunker, embedder",
    traces="ab" * 16,
    link="https://watch.example/incidents/i1",
)


class Watch:
    """The collector with a clock that the test sets."""

    def __init__(self, **settings: int) -> None:
        self.now = float(START)
        self.metrics = WatchMetrics(MetricsSettings(**settings), lambda: self.now)

    def text(self) -> str:
        registry = CollectorRegistry()
        registry.register(self.metrics)
        return generate_latest(registry).decode()

    def samples(self, name: str) -> list[Sample]:
        return [
            sample
            for family in text_string_to_metric_families(self.text())
            for sample in family.samples
            if sample.name == name
        ]

    def value(self, name: str, **labels: str) -> float | None:
        found = [
            sample.value for sample in self.samples(name) if labels.items() <= sample.labels.items()
        ]
        assert len(found) <= 1
        return found[0] if found else None


def incident(name: str = "i1", **fields: object) -> Incident:
    given: dict[str, object] = {
        "incident_id": name,
        "service": "desk",
        "environment": "prod",
        "state": IncidentState.OPEN,
        "severity": Severity.PAGE,
        "opened_unix_nano": (START + 60) * NANO,
        "since_unix_nano": START * NANO,
        "findings": (),
    }
    return Incident(**(given | fields))  # type: ignore[arg-type]


def notice(route: str = "/refunds", kind: ChangeKind = ChangeKind.PROMPT) -> Notice:
    return Notice(
        notice_id=f"{route}{kind}", kind=kind, service="desk", environment="prod", route=route,
        since_unix_nano=START, noticed_unix_nano=START, requests=9,
    )  # fmt: skip


def reading(signal: str = "refusal:refused", **fields: object) -> SignalReading:
    given: dict[str, object] = {
        "service": "desk", "environment": "prod", "route": "/refunds", "signal": signal,
        "value": 0.25,
    }  # fmt: skip
    return SignalReading(**(given | fields))  # type: ignore[arg-type]


def test_an_open_incident_is_one_series_with_its_message_beside_it() -> None:
    watch = Watch()
    watch.metrics.show_incidents([incident(cause=Cause.RETRIEVAL)], {"i1": TEXT})
    (opened,) = watch.samples("ragvigil_incident_open")
    assert opened.value == 1
    assert opened.labels == {
        "incident": "i1", "service": "desk", "environment": "prod", "severity": "page",
        "layer": "retrieval",
    }  # fmt: skip
    (message,) = watch.samples("ragvigil_incident_message")
    assert message.labels == {"incident": "i1", **asdict(TEXT)}


def test_a_cause_that_is_not_known_is_undetermined() -> None:
    watch = Watch()
    watch.metrics.show_incidents([incident()], {})
    assert watch.value("ragvigil_incident_open", layer="undetermined") == 1
    assert not watch.samples("ragvigil_incident_message")


def test_likely_layers_are_series_with_their_shares_and_a_blind_incident_has_none() -> None:
    watch = Watch()
    likely = (
        LikelyLayer(cause=Cause.RETRIEVAL, share=0.6, part=RERANKER),
        LikelyLayer(cause=Cause.GENERATION, share=0.4),
    )
    watch.metrics.show_incidents(
        [
            incident(verdict=LayerVerdict(likely=likely)),
            incident("i2", verdict=LayerVerdict(is_blind=True)),
        ],
        {},
    )
    assert watch.value("ragvigil_incident_layer", incident="i1", part=RERANKER) == 0.6
    assert watch.value("ragvigil_incident_layer", incident="i1", layer="generation") == 0.4
    assert watch.value("ragvigil_incident_layer", incident="i2") is None
    assert watch.value("ragvigil_incident_open", incident="i2", layer="blind") == 1


@pytest.mark.parametrize(
    ("state", "is_exposed"),
    [
        (IncidentState.OPEN, True),
        (IncidentState.ACKNOWLEDGED, True),
        (IncidentState.SNOOZED, False),
        (IncidentState.RESOLVED, False),
    ],
)
def test_what_is_snoozed_or_resolved_is_not_open(state: IncidentState, is_exposed: bool) -> None:
    watch = Watch()
    until = (START + 3600) * NANO
    shown = incident(state=state, snoozed_until_unix_nano=until)
    watch.metrics.show_incidents([shown], {"i1": TEXT})
    assert bool(watch.samples("ragvigil_incident_open")) is is_exposed
    assert bool(watch.samples("ragvigil_incident_message")) is is_exposed


def test_a_snooze_ends_at_its_time_without_being_told() -> None:
    watch = Watch()
    shown = incident(state=IncidentState.SNOOZED, snoozed_until_unix_nano=(START + 3600) * NANO)
    watch.metrics.show_incidents([shown], {})
    watch.now = START + 3599
    assert watch.value("ragvigil_incident_open") is None
    watch.now = START + 3600
    assert watch.value("ragvigil_incident_open") == 1


def test_an_incident_that_is_not_shown_again_vanishes() -> None:
    watch = Watch()
    watch.metrics.show_incidents([incident()], {"i1": TEXT})
    watch.metrics.show_incidents([], {})
    assert watch.value("ragvigil_incident_open") is None
    assert not watch.samples("ragvigil_incident_message")


def test_incidents_beyond_the_bound_are_counted_and_pages_come_first() -> None:
    watch = Watch()
    tickets = [incident(f"t{n}", severity=Severity.TICKET, opened_unix_nano=n) for n in range(60)]
    watch.metrics.show_incidents([*tickets, incident("page")], {"page": TEXT, "t59": TEXT})
    assert len(watch.samples("ragvigil_incident_open")) == MAX_INCIDENTS
    assert watch.value("ragvigil_incident_open", incident="page") == 1
    assert [sample.labels["incident"] for sample in watch.samples("ragvigil_incident_message")] == [
        "page"
    ]
    assert watch.value("ragvigil_incidents_hidden") == 61 - MAX_INCIDENTS


def test_an_incident_is_counted_once_by_each_severity_that_it_reached() -> None:
    watch = Watch()
    ticket = incident(severity=Severity.TICKET)
    for shown in (ticket, ticket, incident(), incident()):
        watch.metrics.show_incidents([shown], {})
    assert watch.value("ragvigil_incidents_total", severity="ticket") == 1
    assert watch.value("ragvigil_incidents_total", severity="page") == 1


def test_what_was_open_before_the_process_began_is_not_counted() -> None:
    watch = Watch()
    earlier = incident("old", opened_unix_nano=(START - 3600) * NANO)
    watch.metrics.show_incidents([earlier, incident()], {})
    watch.metrics.show_incidents([earlier, incident()], {})
    assert watch.value("ragvigil_incidents_total", severity="page") == 1
    later = incident("late", opened_unix_nano=(START - 60) * NANO)
    watch.metrics.show_incidents([later], {})
    assert watch.value("ragvigil_incidents_total", severity="page") == 2


def test_a_false_page_is_counted_once_whoever_tells_of_it() -> None:
    watch = Watch()
    watch.metrics.show_incidents([], {})
    watch.metrics.add_false_page("i1")
    watch.metrics.add_false_page("i1")
    resolved = incident(state=IncidentState.RESOLVED, is_false_page=True)
    watch.metrics.show_incidents([resolved], {})
    assert watch.value("ragvigil_false_pages_total") == 1


def test_notices_are_counted_by_kind_and_routes_are_capped() -> None:
    watch = Watch(max_routes=1)
    watch.metrics.add_notices([notice(), notice(), notice(kind=ChangeKind.RECHUNKED)])
    watch.metrics.add_notices([notice(route=f"/{n}") for n in range(5)])
    total = "ragvigil_notices_total"
    assert watch.value(total, route="/refunds", kind="prompt") == 2
    assert watch.value(total, route="/refunds", kind="re-chunked") == 1
    assert watch.value(total, route="__other__") == 5


def test_a_signal_has_its_value_and_its_ceiling() -> None:
    watch = Watch()
    watch.metrics.show_signals(
        [reading(), reading("answer_words", value=80.0)], {"refusal:refused": 0.2}
    )
    assert watch.value("ragvigil_signal", signal="refusal:refused", route="/refunds") == 0.25
    assert watch.value("ragvigil_signal_ceiling", signal="refusal:refused") == 0.2
    assert watch.value("ragvigil_signal_ceiling", signal="answer_words") is None


def test_of_versions_and_routes_that_share_a_label_the_one_that_sees_least_speaks() -> None:
    watch = Watch()
    series = Series(service="desk", environment="prod", route="/refunds", rubric="groundedness")
    watch.metrics.show_visible_drops({series: 0.04, replace(series, segment="r2"): 0.07})
    name = "ragvigil_drift_visible_drop"
    assert watch.value(name, route="/refunds", rubric="groundedness") == 0.07
    watch.metrics.show_visible_drops({})
    assert watch.value(name, route="/refunds", rubric="groundedness") is None


@pytest.mark.parametrize(("age", "is_shown"), [(STALE_SECONDS, True), (STALE_SECONDS + 1, False)])
def test_old_signals_vanish(age: int, is_shown: bool) -> None:
    watch = Watch()
    watch.metrics.show_signals([reading()], {"refusal:refused": 0.1})
    watch.now = START + age
    assert bool(watch.samples("ragvigil_signal")) is is_shown
    assert bool(watch.samples("ragvigil_signal_ceiling")) is is_shown


def test_of_routes_that_share_a_label_the_highest_value_speaks() -> None:
    watch = Watch(max_routes=1)
    watch.metrics.show_signals(
        [reading(), reading(route="/a", value=0.9), reading(route="/b", value=0.1)]
    )
    assert watch.value("ragvigil_signal", route="__other__") == 0.9


def audit(name: str, state: AuditState, ended: int = 0) -> Audit:
    return Audit(
        audit_id=name, service="desk", environment="prod", anchor_unix_nano=1,
        started_unix_nano=1, state=state, ended_unix_nano=ended * NANO,
    )  # fmt: skip


def test_an_undecided_audit_is_shown_for_a_day_with_its_change_and_what_it_lacked() -> None:
    watch = Watch()
    ended = replace(
        audit("a", AuditState.UNDECIDED, ended=START + 9),
        routes=("/refunds", "/rates"),
        reason="a new prompt",
        why="it lacked traffic: 40 answers came",
    )
    watch.metrics.show_audits([ended, audit("b", AuditState.RUNNING)])
    labels = {
        "service": "desk", "environment": "prod", "route": "/refunds, /rates",
        "change": "a new prompt", "lacked": "it lacked traffic: 40 answers came",
    }  # fmt: skip
    assert watch.value("ragvigil_audit_undecided", **labels) == 1
    watch.now += 90_000
    assert watch.value("ragvigil_audit_undecided", **labels) is None


def test_audits_are_shown_while_they_run_and_counted_once_when_they_end() -> None:
    watch = Watch()
    before = audit("before", AuditState.DROPPED, ended=START - 1)
    running = AuditState.RUNNING
    assert watch.value("ragvigil_audits_total", result="undecided") == 0
    watch.metrics.show_audits([before, audit("a", running), audit("b", running)])
    assert watch.value("ragvigil_audit_open", service="desk") == 2
    ended = audit("a", AuditState.UNDECIDED, ended=START + 9)
    watch.metrics.show_audits([before, ended, audit("b", running)])
    watch.metrics.show_audits([before, ended])
    assert watch.value("ragvigil_audit_open") is None
    assert watch.value("ragvigil_audits_total", result="undecided") == 1
    assert watch.value("ragvigil_audits_total", result="dropped") == 0


def test_the_test_alert_ends_at_its_time() -> None:
    watch = Watch()
    assert watch.value("ragvigil_alert_test") == 0
    watch.metrics.test_alert(START + 300)
    watch.now = START + 299
    assert watch.value("ragvigil_alert_test") == 1
    watch.now = START + 300
    assert watch.value("ragvigil_alert_test") == 0


def test_no_label_is_named_after_a_trace_and_no_other_series_holds_one() -> None:
    watch = Watch()
    watch.metrics.show_incidents([incident()], {"i1": TEXT})
    holding = [line for line in watch.text().splitlines() if "ab" * 16 in line]
    assert len(holding) == 1
    assert holding[0].startswith("ragvigil_incident_message{")


@given(st.text(max_size=2 * MAX_CHARACTERS))
def test_whatever_a_message_holds_is_one_line_of_bounded_length(text: str) -> None:
    watch = Watch()
    watch.metrics.show_incidents([incident()], {"i1": replace(TEXT, changed=text)})
    (message,) = watch.samples("ragvigil_incident_message")
    changed = message.labels["changed"]
    assert len(changed.splitlines()) <= 1
    assert len(changed) <= MAX_CHARACTERS


def test_every_family_has_help_and_is_listed() -> None:
    text = Watch().text()
    for family in FAMILIES:
        assert f"# HELP {family.name} {family.help}" in text
        assert f"# TYPE {family.name} {family.kind}" in text


def test_promtool_finds_nothing_to_complain_of() -> None:
    watch = Watch()
    watch.metrics.show_incidents([incident()], {"i1": TEXT})
    watch.metrics.add_notices([notice()])
    watch.metrics.show_signals([reading()], {"refusal:refused": 0.2})
    watch.metrics.show_audits([audit("a", AuditState.RUNNING)])
    done = subprocess.run(
        [tool("promtool"), "check", "metrics"],
        input=watch.text(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
