"""The direction in which a number moved, and whether that is worse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import follows, is_alike, is_fix, is_good, is_one_change
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import ChangeKind
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import at, finding, notice


def moved(signal: str, reference: float, value: float, kind: FindingKind) -> Finding:
    return Finding(
        finding_id="1",
        kind=kind,
        service="desk",
        environment="",
        routes=("/ask",),
        signal=signal,
        layer=Layer.GENERATION,
        value=value,
        reference=reference,
    )


@pytest.mark.parametrize(
    ("signal", "reference", "value", "expected"),
    [
        ("seconds_total", 2.0, 0.5, True),
        ("seconds_total", 0.5, 2.0, False),
        ("cost_usd", 0.02, 0.01, True),
        ("chunk_utilization", 0.4, 0.6, True),
        ("chunk_utilization", 0.6, 0.4, False),
        ("citations", 2.0, 3.0, True),
        ("answer_words", 40.0, 20.0, False),
        ("answer_words", 20.0, 40.0, False),
        ("groundedness:unsupported", 0.3, 0.05, True),
        ("groundedness:unsupported", 0.05, 0.3, False),
    ],
)
def test_a_move_is_good_only_towards_the_better_side(
    signal: str, reference: float, value: float, *, expected: bool
) -> None:
    assert is_good(moved(signal, reference, value, FindingKind.MOVED)) is expected


def test_what_is_broken_is_never_good() -> None:
    assert not is_good(moved("refusal:refused", 0.4, 0.1, FindingKind.BROKEN))


@pytest.mark.parametrize(
    ("kind", "first", "second", "expected"),
    [
        (ChangeKind.RECHUNKED, "chunks of 498 characters", "chunks of 500 characters", True),
        (ChangeKind.RECHUNKED, "chunks of 498 characters", "chunks of 120 characters", False),
        (ChangeKind.REEMBEDDED, "mean score -0.51", "mean score -0.52", True),
        (ChangeKind.REEMBEDDED, "mean score -0.51", "mean score 0.51", False),
        (ChangeKind.REEMBEDDED, "mean score 1.2e-05", "mean score 1.21e-05", True),
        (ChangeKind.REEMBEDDED, "mean score nan", "mean score 0.5", False),
        (ChangeKind.RELEASE, "2.4.1", "2.4.2", False),
        (ChangeKind.PROMPT, "2.4", "2.5", False),
        (ChangeKind.PROMPT, "2026-05-30", "2026-05-31", False),
        (ChangeKind.PROMPT, "#", "3", False),
        (ChangeKind.RECHUNKED, "# of 5", "5 of #", False),
        (ChangeKind.RECHUNKED, "chunks of ٣", "chunks of ²", False),
        (ChangeKind.RECHUNKED, "built 2026-05-30", "built 2026-05-31", False),
        (ChangeKind.MAX_TOKENS, "500", "512", False),
        (ChangeKind.LLM_MODEL, "", "", False),
    ],
)
def test_only_measured_numbers_are_alike_to_a_tenth(
    kind: ChangeKind, first: str, second: str, *, expected: bool
) -> None:
    assert is_alike(kind, first, second) is expected
    assert is_alike(kind, second, first) is expected
    assert is_alike(kind, first, first) is bool(first)


@given(kind=st.sampled_from(list(ChangeKind)), first=st.text(), second=st.text())
def test_whatever_a_service_states_can_be_compared(
    kind: ChangeKind, first: str, second: str
) -> None:
    assert is_alike(kind, first, second) is is_alike(kind, second, first)


def test_the_next_release_puts_none_back() -> None:
    first = notice("1", 0, ChangeKind.RELEASE, before="2.4", after="2.5")
    second = notice("2", 60, ChangeKind.RELEASE, before="2.5", after="2.6")
    assert not is_fix(second, (first, second))
    back = notice("3", 60, ChangeKind.RELEASE, before="2.5", after="2.4")
    assert is_fix(back, (first, back))


def test_what_is_put_back_in_staging_puts_nothing_back_in_production() -> None:
    first = notice("1", 0, ChangeKind.PROMPT, before="p14", after="p15")
    back = notice("2", 60, ChangeKind.PROMPT, before="p15", after="p14", environment="staging")
    assert not is_fix(back, (first, back))
    assert is_fix(replace(back, environment=first.environment), (first, back))


def test_changes_of_two_environments_are_two_even_at_the_same_time() -> None:
    here = notice("1", 0, ChangeKind.PROMPT, before="p14", after="p15")
    there = replace(here, notice_id="2", environment="staging")
    unnamed = replace(here, notice_id="3", environment="", route="")
    assert not is_one_change(here, there, IncidentSettings())
    assert is_one_change(here, unnamed, IncidentSettings())


def test_edited_documents_that_are_as_before_are_a_fix() -> None:
    evidence = {"new_documents": [], "gone_documents": [], "edited_documents": ["a", "b"]}
    edited = notice("1", 0, ChangeKind.DOCUMENTS, after="2 edited: a, b", evidence=evidence)
    ended = notice(
        "2", 90, ChangeKind.DOCUMENTS, before="2 edited: a, b", after="as usual", evidence=evidence
    )
    assert is_fix(ended, (edited, ended))
    others = notice("3", 90, ChangeKind.DOCUMENTS, after="1 edited: c", evidence=evidence)
    assert not is_fix(others, (edited, others))


def test_counted_chunks_that_are_as_few_as_before_are_the_fix_of_a_stated_top_k() -> None:
    stated = {"retrieved": [8.0, 16.0], "in_prompt": [5.0, 10.0]}
    doubled = notice("1", 0, ChangeKind.TOP_K, before="8", after="16", evidence=stated)
    words = {"before": "16 chunks retrieved", "after": "8 chunks retrieved"}
    back = {"retrieved": [16.0, 8.0], "mean_score": [0.4, 0.5]}
    counted = notice("2", 90, ChangeKind.CHUNK_COUNT, evidence=back, **words)
    assert is_fix(counted, (doubled, counted))
    assert not is_fix(doubled, (doubled, counted))
    again = notice("3", 120, ChangeKind.TOP_K, before="8", after="16", evidence=stated)
    assert not is_fix(again, (doubled, counted, again))


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"retrieved": [16.0, 12.0]},
        {"retrieved": [16.0, 8.0], "in_prompt": [10.0, 2.0]},
        {"mean_score": [0.4, 0.5]},
        {"retrieved": "16 -> 8"},
        {"retrieved": [None, 8.0]},
    ],
    ids=["nothing", "half the way", "fewer than before", "no counts", "words", "no past"],
)
def test_other_counts_are_no_fix_of_a_stated_top_k(evidence: dict[str, object]) -> None:
    stated = {"retrieved": [8.0, 16.0], "in_prompt": [5.0, 10.0]}
    doubled = notice("1", 0, ChangeKind.TOP_K, before="8", after="16", evidence=stated)
    counted = notice("2", 90, ChangeKind.CHUNK_COUNT, evidence=evidence)
    assert not is_fix(counted, (doubled, counted))
    other = notice("4", 90, ChangeKind.PROMPT, evidence={"retrieved": [16.0, 8.0]})
    assert not is_fix(other, (doubled, other))


@pytest.mark.parametrize("onset", [-40, 40])
@pytest.mark.parametrize(("off", "expected"), [(20, True), (5, False)])
def test_an_onset_is_as_near_to_a_change_as_its_interval(
    onset: int, off: int, *, expected: bool
) -> None:
    settings = IncidentSettings(follows_minutes=10)
    began = finding(
        "f", onset, earliest_unix_nano=at(onset - off), latest_unix_nano=at(onset + off)
    )
    assert follows(began, notice("n", 0), settings) is expected
