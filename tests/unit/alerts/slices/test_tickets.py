"""A slice that got worse opens one ticket, which pages nobody and ends with its drop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.deltas.settings import DeltaSettings
from alerts.incidents.fold import fold
from alerts.incidents.settings import IncidentSettings
from alerts.signals.catalogue import accepted_key
from alerts.slices.compare import SliceDelta
from alerts.slices.settings import SliceSettings
from alerts.slices.tickets import SliceTickets
from ragvigil.model.finding import Finding
from ragvigil.model.incident import Severity
from ragvigil.store.engine.store import Store
from ragvigil.store.scores.slice_sums import OTHER

NOW = 1_700_000_000.0
GERMAN = SliceDelta(
    service="desk", environment="prod", dimension="language", value="de", rubric="groundedness",
    layer="generation", window="24h", tick=int(NOW) - 900, share=0.1, n=400, mean=0.8,
    baseline=0.92, delta=-0.12, low=-0.18, high=-0.06, rest_delta=0.0, is_worse=True,
)  # fmt: skip
SAME_DROP = (
    GERMAN,
    replace(GERMAN, rubric="completeness", delta=-0.11, high=-0.05),
    replace(GERMAN, dimension="tier", value="gold", delta=-0.1, high=-0.04),
    replace(GERMAN, window="6h", delta=-0.13, high=-0.03),
)


def made(store: Store, *findings: Finding) -> SliceTickets:
    return SliceTickets(store, DeltaSettings(), SliceSettings(), findings)


@pytest.fixture
def tickets(store: Store) -> SliceTickets:
    return made(store)


def test_one_drop_seen_in_many_ways_is_one_ticket_that_names_its_slice(
    tickets: SliceTickets,
) -> None:
    tickets.see(SAME_DROP)
    found = tickets.run(NOW)
    incidents, _ = fold((), found, (), NOW, IncidentSettings())
    (incident,) = incidents
    assert incident.severity is Severity.TICKET
    (finding,) = incident.findings
    assert "groundedness of language de, 10 % of the answers, fell by 12 points" in finding.words
    assert (finding.signal, finding.layer.value) == ("groundedness", "generation")


def test_a_ticket_keeps_its_id_while_the_slice_is_worse_in_anything_and_ends_then(
    tickets: SliceTickets,
) -> None:
    tickets.see(SAME_DROP)
    (first,) = tickets.run(NOW)
    tickets.see([replace(SAME_DROP[2], high=-0.2), SAME_DROP[1]])
    (later,) = tickets.run(NOW + 3600)
    assert (later.finding_id, later.since_unix_nano) == (first.finding_id, first.since_unix_nano)
    assert later.signal == "completeness"
    tickets.see([])
    (ended,) = tickets.run(NOW + 7200)
    assert (ended.finding_id, ended.is_open) == (first.finding_id, False)
    assert tickets.run(NOW + 7210) == ()


def test_a_topic_keeps_its_ticket_when_it_gets_another_name(tickets: SliceTickets) -> None:
    topic = replace(GERMAN, dimension="topic", value="t1", name="refunds")
    tickets.see([topic])
    (first,) = tickets.run(NOW)
    assert "groundedness of topic refunds, 10 % of the answers" in first.words
    tickets.see([replace(topic, name="money back")])
    (later,) = tickets.run(NOW + 3600)
    assert (later.finding_id, later.is_open) == (first.finding_id, True)
    assert "groundedness of topic money back" in later.words


def test_rare_values_together_are_named_in_words(tickets: SliceTickets) -> None:
    tickets.see([replace(GERMAN, value=OTHER)])
    (finding,) = tickets.run(NOW)
    assert "groundedness of all rarer language values, 10 % of the answers" in finding.words


def test_every_service_has_a_ticket_of_its_own(tickets: SliceTickets) -> None:
    tickets.see([*SAME_DROP, replace(GERMAN, service="shop")])
    assert sorted(each.service for each in tickets.run(NOW)) == ["desk", "shop"]


def test_a_new_process_goes_on_with_the_ticket_and_ends_it(store: Store) -> None:
    before = made(store)
    before.see(SAME_DROP)
    (known,) = before.run(NOW)
    after = made(store, known)
    (again,) = after.run(NOW + 60)
    assert (again.finding_id, again.is_open) == (known.finding_id, True)
    after.see([])
    (ended,) = after.run(NOW + 120)
    assert ended.cleared_unix_nano


def test_what_somebody_called_expected_opens_no_ticket(tickets: SliceTickets) -> None:
    tickets.see(SAME_DROP)
    (finding,) = tickets.run(NOW)
    (ended,) = tickets.run(NOW + 60, {accepted_key(finding): 0.8})
    assert not ended.is_open
    assert tickets.run(NOW + 120, {accepted_key(finding): 0.8}) == ()


def test_what_was_expected_of_one_slice_hides_no_other_and_no_deeper_drop(
    tickets: SliceTickets,
) -> None:
    tickets.see([GERMAN])
    (finding,) = tickets.run(NOW)
    accepted = {accepted_key(finding): 0.8}
    deeper = replace(GERMAN, mean=0.6, delta=-0.32, low=-0.37, high=-0.27)
    for other in (replace(GERMAN, dimension="tier", value="gold"), deeper):
        tickets.see([other])
        tickets.run(NOW + 60, accepted)  # ends what was expected
        assert [each.is_open for each in tickets.run(NOW + 120, accepted)] == [True]
        tickets.see([])
        tickets.run(NOW + 180, accepted)


def test_without_dimensions_what_was_open_ends(store: Store) -> None:
    before = made(store)
    before.see(SAME_DROP)
    (known,) = before.run(NOW)
    after = SliceTickets(store, DeltaSettings(), SliceSettings(by=()), [known])
    assert [each.is_open for each in after.run(NOW + 60)] == [False]


def test_without_a_drop_there_is_no_ticket(store: Store) -> None:
    tickets = made(store)
    assert tickets.run(NOW) == ()
    tickets.look(NOW)
    assert tickets.run(NOW) == ()
