"""Single answers show an incident by values, lengths and chunks that are rarer without it."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pytest

from clustering.issues import incident_evidence
from clustering.issues.incident_evidence import redrawn_answers, share_as_before, value_spikes
from clustering.issues.incident_group import IncidentWindow
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Citation, Document
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.issues.redrawn import RedrawnMinute
from ragvigil.store.issues.spikes import MOST, ValueCounts
from ragvigil.store.watch import incidents
from tests.outcomes import NOW, SECOND, outcome_of
from tests.unit.clustering.issues.test_incident_issues import (
    incident_of,
    open_incident,
    refusing,
)
from tests.unit.clustering.issues.test_job import Works, keep, where

BEFORE = NOW - 3 * 3600 * SECOND
LONG_BEFORE = NOW - 9 * 3600 * SECOND
PAST = [100] * 10
"""Values of before, by tenths."""
WINDOW = IncidentWindow(
    incident_id="i1",
    service="helpdesk",
    environment="prod",
    routes=frozenset({"/ask"}),
    signals=frozenset({"answer_words"}),
    first=1000 * 60,
    last=1030 * 60,
)


@pytest.fixture
def works(store: Store) -> Works:
    return Works(store=store)


def moved(signal: str, value: float, reference: float) -> Finding:
    return Finding(
        finding_id="f1",
        kind=FindingKind.MOVED,
        service="helpdesk",
        environment="prod",
        routes=("/ask",),
        signal=signal,
        layer=Layer.GENERATION,
        value=value,
        reference=reference,
    )


def counts(rubric: str, before: list[int], since: list[int], route: str = "/ask") -> ValueCounts:
    return ValueCounts(route=route, rubric=rubric, before=tuple(before), since=tuple(since))


def drawing_on(number: int, chunk: str, *, given: tuple[str, ...] = (), **more: object) -> Outcome:
    """An answer that cites one chunk of those that it was given."""
    outcome = outcome_of(number, value=1.0, **more)  # type: ignore[arg-type]
    (scored,) = outcome.records
    documents = tuple(Document(chunk_id=name, content=name) for name in (chunk, *given))
    cited = Citation(target="1", chunk_id=chunk, index=0, marker="[1]", start=24)
    record = replace(scored.record, context=documents, retrieved=documents, citations=(cited,))
    return replace(outcome, records=(replace(scored, record=record),))


def with_words(number: int, words: float, **more: object) -> Outcome:
    outcome = outcome_of(number, value=1.0, **more)  # type: ignore[arg-type]
    (scored,) = outcome.records
    return replace(outcome, records=(replace(scored, shape={"answer_words": words}),))


def test_the_examples_hold() -> None:
    assert doctest.testmod(incident_evidence).failed == 0


def test_low_values_of_a_rubric_show_it_where_they_are_more_than_before() -> None:
    low = counts("groundedness", [5, 5, 190], [30, 6, 64])
    steady = counts("chunk_utilization", [5, 5, 190], [3, 3, 94])
    elsewhere = counts("groundedness", [5, 5, 190], [30, 6, 64], route="/chat")
    ((spike, usual),) = value_spikes(WINDOW, [low, steady, elsewhere], [])
    assert (spike.rubric, spike.route, spike.below) == ("groundedness", "/ask", 1.5 / 20)
    assert usual == 10 / 200


def test_where_all_answers_moved_all_show_it() -> None:
    ((spike, _),) = value_spikes(
        WINDOW,
        [counts("answer_words", [0, 0, 60, 80, 60], [30, 40, 30, 0, 0])],
        [moved("answer_words", 10, 20)],
    )
    assert (spike.label, spike.above) == ("short", MOST)
    assert spike.below == pytest.approx(2 ** (4.5 / 6) - 1)


def test_of_longer_answers_the_long_ones_show_it() -> None:
    ((spike, usual),) = value_spikes(
        WINDOW,
        [counts("answer_words", [100, 98, 2], [40, 40, 40])],
        [moved("answer_words", 20, 10)],
    )
    assert (spike.label, spike.below) == ("long", -1.0)
    assert (spike.above, usual) == (pytest.approx(2 ** (1.5 / 6) - 1), 0.01)


@pytest.mark.parametrize(
    "findings",
    [[], [moved("citations", 3, 1)]],
    ids=["no finding names them", "more citations harm nobody"],
)
def test_a_measure_shows_nothing_that_no_finding_says(findings: list[Finding]) -> None:
    own = [counts(name, [0, 100], [100, 0]) for name in ("answer_words", "citations")]
    assert list(value_spikes(WINDOW, own, findings)) == []


def minute(
    start: int, answers: int, hits: int, route: str = "/ask", *, recited: int = 0
) -> RedrawnMinute:
    keys = tuple((f"{route}{start}", str(n)) for n in range(hits + recited))
    return RedrawnMinute(
        route=route,
        start=60 * start,
        answers=answers,
        redrawn=keys[:hits],
        recited=keys[hits:],
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_the_share_is_never_taken_for_smaller_than_it_is(share: float) -> None:
    changed = [1000, *[0] * 9]
    now = [round(share * p + (1 - share) * c) for p, c in zip(PAST, changed, strict=True)]
    assert share - 0.01 <= share_as_before(PAST, now) <= share + 0.13


def test_few_values_of_before_tell_nothing() -> None:
    assert share_as_before([1, 1, 10], [12, 0, 0]) == 1.0


def test_answers_that_draw_on_other_chunks_show_it_where_few_did_before() -> None:
    since = [minute(1000, 50, 20), minute(1000, 50, 20, "/chat")]
    found, usual = redrawn_answers(since, [minute(900, 100, 2)], WINDOW)
    assert (len(found), set(found.values()), usual) == (20, {60_000}, 0.02)
    assert redrawn_answers(since, [minute(900, 100, 30)], WINDOW) == ({}, 0.0)
    assert redrawn_answers(since, [minute(900, 10, 0)], WINDOW) == ({}, 0.0)


def test_the_same_chunks_at_other_sentences_show_it_unless_that_is_usual() -> None:
    since = [minute(1000, 100, 20, recited=10)]
    found, usual = redrawn_answers(since, [minute(900, 100, 1, recited=1)], WINDOW)
    assert (len(found), usual) == (30, 0.02)
    found, usual = redrawn_answers(since, [minute(900, 100, 1, recited=30)], WINDOW)
    assert (len(found), usual) == (20, 0.01)


def test_short_answers_fail_while_an_incident_says_that_answers_are_shorter(works: Works) -> None:
    past = [with_words(100 + n, 40 + n % 20, time_unix_nano=BEFORE) for n in range(120)]
    keep(works.store, *past, *(with_words(n, 12) for n in range(1, 7)), with_words(9, 50))
    incident = incident_of("answer_words")
    open_incident(works.store, replace(incident, findings=(
        replace(incident.findings[0], kind=FindingKind.MOVED, value=15.0, reference=48.0),
    )))  # fmt: skip
    works.turn()
    (issue,) = works.issues()
    assert sorted(where(works.store)) == [1, 2, 3, 4, 5, 6]
    assert (issue.rubric, issue.label, issue.members) == ("answer_words", "short", 6)
    assert issue.name.startswith("Answers are shorter than usual")
    works.turn()
    works.next_life().turn()
    assert [issue.members for issue in works.issues()] == [6]


def test_answers_as_short_as_ever_to_their_question_are_none_of_it(works: Works) -> None:
    def asking(outcome: Outcome, question: str) -> Outcome:
        (scored,) = outcome.records
        record = replace(scored.record, query=question)
        return replace(outcome, records=(replace(scored, record=record),))

    past = [with_words(100 + n, 40 + n % 20, time_unix_nano=BEFORE) for n in range(120)]
    terse = [with_words(300 + n, 11 + n % 3, time_unix_nano=BEFORE) for n in range(4)]
    keep(works.store, *past, *(asking(outcome, "In short?") for outcome in terse))
    keep(works.store, *(with_words(n, 12) for n in range(1, 7)))
    keep(
        works.store,
        asking(with_words(11, 12), "in short? "),
        asking(with_words(12, 5), "In short?"),
    )
    incident = incident_of("answer_words")
    open_incident(works.store, replace(incident, findings=(
        replace(incident.findings[0], kind=FindingKind.MOVED, value=15.0, reference=48.0),
    )))  # fmt: skip
    for _ in range(2):
        works.turn()
        assert sorted(n for n, home in where(works.store).items() if home) == [*range(1, 7), 12]


def test_answers_from_other_chunks_than_before_are_an_incidents_own(works: Works) -> None:
    keep(
        works.store,
        *(drawing_on(100 + n, "a", given=("b",), time_unix_nano=LONG_BEFORE) for n in range(5)),
        *(drawing_on(200 + n, "a", given=("b",), time_unix_nano=BEFORE) for n in range(40)),
        *(drawing_on(n, "c", given=("a",)) for n in range(1, 6)),  # cites a new chunk
        *(drawing_on(n, "b") for n in range(6, 9)),  # lacks the chunk that was cited
        *(drawing_on(n, "a", given=("c",)) for n in range(9, 12)),  # has a new one, uses the old
    )
    open_incident(works.store, incident_of("context_relevance"))
    works.turn()
    assert sorted(where(works.store)) == list(range(1, 9))
    (issue,) = works.issues()
    assert (issue.rubric, issue.incident_id) == ("answer_sources", "i1")
    assert issue.name.startswith("Answers draw on other chunks than before")


def citing(number: int, *chunks: str, **more: object) -> Outcome:
    """An answer that was given two chunks and cites these."""
    outcome = drawing_on(number, "a", given=("b",), **more)
    (scored,) = outcome.records
    (cited,) = scored.record.citations
    cites = tuple(replace(cited, chunk_id=chunk) for chunk in chunks)
    record = replace(scored.record, citations=cites)
    return replace(outcome, records=(replace(scored, record=record),))


def test_answers_that_cite_the_same_chunks_at_other_sentences_are_an_incidents_own(
    works: Works,
) -> None:
    keep(
        works.store,
        *(citing(100 + n, "a", "b", "b", time_unix_nano=LONG_BEFORE) for n in range(5)),
        *(citing(200 + n, "a", "b", "b", time_unix_nano=BEFORE) for n in range(40)),
        *(citing(n, "a", "a", "b") for n in range(1, 6)),
        *(citing(n, "a", "b", "b") for n in range(6, 9)),
        *(citing(n, "a", "b") for n in range(9, 12)),  # a shorter answer
    )
    open_incident(works.store, incident_of("context_relevance"))
    works.turn()
    assert sorted(where(works.store)) == [1, 2, 3, 4, 5]


def test_a_change_that_nothing_measures_has_the_answers_from_other_chunks(works: Works) -> None:
    keep(
        works.store,
        *(drawing_on(100 + n, "a", time_unix_nano=LONG_BEFORE) for n in range(5)),
        *(drawing_on(200 + n, "a", time_unix_nano=BEFORE) for n in range(40)),
        *(drawing_on(n, "c") for n in range(1, 6)),
    )
    incident = incident_of("embedding_model")
    changed = replace(incident.findings[0], kind=FindingKind.CHANGED)
    open_incident(works.store, replace(incident, findings=(changed,)))
    works.turn()
    assert sorted(where(works.store)) == [1, 2, 3, 4, 5]


def test_the_name_says_the_change_that_was_found_later(works: Works) -> None:
    keep(works.store, *(refusing(n) for n in range(1, 30)))
    incident = incident_of("refusal:refused")
    open_incident(works.store, incident)
    works.turn()
    (issue,) = works.issues()
    assert "UTC, with the chunks as before" in issue.name
    prompt = Notice(
        notice_id="n1",
        kind=ChangeKind.PROMPT,
        service="helpdesk",
        environment="prod",
        route="/ask",
        since_unix_nano=NOW,
        noticed_unix_nano=NOW,
        requests=12,
        before="v3",
        after="v6",
    )
    keep(works.store, refusing(40))
    newer = incidents.batch([replace(incident, suspects=(prompt,))], [], [], NOW + 1)
    works.store.write(newer)
    works.turn()
    (issue,) = works.issues()
    assert issue.name == "Answers refuse to answer · since the prompt changed (v3 → v6) · on /ask"
