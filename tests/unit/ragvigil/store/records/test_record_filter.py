"""Each condition on answers, and counts of what matches: the real embedded engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Dimensions
from ragvigil.model.score import Kind, Layer, Score
from ragvigil.model.span import Trace
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine import kept
from ragvigil.store.engine.kept import Kept
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as issue_rows
from ragvigil.store.issues import topics
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.store.records import feedback, record_counts, records
from ragvigil.store.records.record_filter import RecordFilter, RecordPlace, needles
from tests.flow.test_api import NANOS, NOW, keep, outcome
from tests.issues import AN_ISSUE, failure, membership


def answer(number: int, *, scores: tuple[Score, ...] = (), **fields: Any) -> Outcome:
    """An answer so many seconds before NOW; `fields` replace those of its record."""
    made = outcome(number, NOW - number)
    (scored,) = made.records
    record = replace(scored.record, **fields)
    return replace(made, records=(replace(scored, record=record, scores=scores or scored.scores),))


def with_one_more_span(trace: Trace) -> Trace:
    """The next generation of a trace."""
    (span,) = trace.spans
    return replace(trace, spans=(span, replace(span, span_id="f" * 16)))


def grounded(value: float, label: str = "", kind: Kind = Kind.JUDGE) -> Score:
    return Score(
        rubric="groundedness",
        value=value,
        label=label,
        layer=Layer.GENERATION,
        scorer="judge",
        kind=kind,
    )


def found(store: Store, **asked: Any) -> list[int]:
    filter_ = RecordFilter(**{"since": NOW - 3600, **asked})
    return [int(form["trace_id"], 16) for form in records.find(store, filter_)]


def rate(store: Store, value: float | None, **names: str) -> None:
    event = FeedbackEvent(
        feedback_id=f"{names}{value}",
        time_unix_nano=NOW * NANOS,
        kind="thumbs",
        value=value,
        **names,
    )
    store.write(feedback.batch([event], NOW * NANOS))


def test_records_are_found_by_model_prompt_and_both(store: Store) -> None:
    small, large = Dimensions(llm_model="s", prompt_version="v1"), Dimensions(llm_model="l")
    keep(store, [answer(1, dimensions=small), answer(2, dimensions=large), answer(3)])
    assert found(store, model="s") == [1]
    assert found(store, prompt_version="v1") == [1]
    assert found(store, model="l", prompt_version="v1") == []
    assert found(store, model="' OR 1 = 1 --") == []


def test_one_score_meets_all_conditions_on_scores(store: Store) -> None:
    keep(
        store,
        [
            answer(1, scores=(grounded(0.0, "unsupported"),)),
            answer(2, scores=(grounded(1.0), grounded(0.0, "unsupported", Kind.MODEL))),
            answer(3, scores=(grounded(1.0),)),
            outcome(4, NOW - 4, value=0.5),
            answer(5, scores=(replace(grounded(0.0), value=None),)),
        ],
    )
    assert found(store, kind="judge", label="unsupported") == [1]
    assert found(store, label="unsupported") == [1, 2]
    assert found(store, layer="cross_cutting") == [4]
    assert found(store, failed=True) == [4]
    assert found(store, failed=False) == [1, 2, 3]
    assert found(store, failed=True, layer="generation") == []
    assert found(store, rubric="groundedness", kind="model") == [2]


def test_records_are_found_by_what_users_said(store: Store) -> None:
    """The worst word counts; what was said of a session is about no single answer."""
    keep(store, [answer(number) for number in range(1, 7)])
    rate(store, 0.0, trace_id=f"{1:032x}")
    rate(store, 1.0, span_id=f"{2:016x}")
    rate(store, 1.0, response_id="resp-3")
    rate(store, 0.0, span_id=f"{3:016x}")
    rate(store, 0.0, session_id="session-1")
    rate(store, None, trace_id=f"{4:032x}")
    assert found(store, said="down") == [1, 3]
    assert found(store, said="up") == [2]
    ratings = {form["record_id"]: form["rating"] for form in records.find(store, RecordFilter())}
    assert [ratings[f"{number:016x}"] for number in range(1, 7)] == [
        0.0,
        1.0,
        0.0,
        None,
        None,
        None,
    ]


def test_records_are_found_by_issue_and_by_those_merged_into_it(store: Store) -> None:
    keep(store, [answer(number) for number in (1, 2, 3)])
    members = []
    for number, issue_id in ((1, "i1"), (2, "i2")):
        failed = replace(failure(number), time_unix_nano=(NOW - number) * NANOS)
        kept = KeptFailure(failure=failed, masked="", received=NOW, digest=1)
        members.append((kept, membership(failed, issue_id)))
    store.write(
        issue_rows.batch(
            NOW * NANOS, failures=[kept for kept, _ in members], members=members, issues=[AN_ISSUE]
        )
    )
    assert found(store, issue_ids=("i1",)) == [1]
    assert found(store, issue_ids=("i1", "i2")) == [1, 2]
    assert found(store, issue_ids=("i9",)) == []
    assert found(store, issue_ids=("i1",), rubric="citation_validity") == [1]


WORDS = [
    ("Where is my Café gift-card?", "It went to São Paulo."),
    ("How long do refunds take?", "Refunds take 5–7 days [refund-02]."),
    ("STRASSE oder Straße?", "100% of it_em %_ \\ (a|b)* 'x'"),
    ("退款需要多长时间？", "お返金は五日です"),
    ("Сколько ждать возврат ё?", "До пяти дней. ΟΔΟΣ"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cafe", [1]),
        ("CAFÉ gift", [1]),
        ("gift-card", [1]),
        ("gift paris", []),
        ("sao paulo", [1]),
        ("refund", [2]),
        ("efund", []),
        ('"refunds take"', [2]),
        ('"take refunds"', []),
        ('"refund take"', []),
        ('"my café gift card" paulo', [1]),
        ("straße", [3]),
        ("strasse", [3]),
        ("退款", [4]),
        ("需要", [4]),
        ("五日", [4]),
        ("ВОЗВРАТ е", [5]),
        ("οδος", [5]),
        ("%", []),
        ("100%", [3]),
        ("it_em", [3]),
        ("'x' OR 1=1", []),
        (".*", []),
        ("a|b", [3]),
    ],
)
def test_words_are_found_whatever_their_case_and_accents(
    store: Store, text: str, expected: list[int]
) -> None:
    keep(store, [answer(n, query=q, answer=a) for n, (q, a) in enumerate(WORDS, 1)])
    if needles(text):
        assert found(store, text=text) == expected
    else:
        assert expected == []


@pytest.mark.slow
def test_the_store_splits_words_as_we_do(store: Store) -> None:
    """Over letters, marks, digits and signs of many scripts."""
    blocks = [
        range(0x20, 0x2000),
        range(0x2000, 0x3100, 3),
        range(0x4E00, 0x9000, 97),
        range(0xAC00, 0xD000, 89),
    ]
    letters = [chr(code) for block in blocks for code in block if chr(code).isprintable()]
    texts = ["".join(letters[start : start + 80]) for start in range(0, len(letters), 80)]
    keep(store, [answer(n, query=text, answer=None) for n, text in enumerate(texts, 1)])
    missed = []
    for number, text in enumerate(texts, 1):
        phrase = " ".join(needles('"' + text.replace('"', " ") + '"'))
        if phrase and number not in found(store, text='"' + text.replace('"', " ") + '"'):
            missed.append(text)
    assert missed == []


def test_a_question_of_old_rows_is_found_too(store: Store) -> None:
    """Rows that were written before the column was made compute it when they are read."""
    store.change("ALTER TABLE records DROP COLUMN words")
    keep(store, [answer(1, query="Où est mon café?")])
    store.change(_words_column())
    assert found(store, text="ou cafe") == [1]


def _words_column() -> str:
    from ragvigil.store.engine.migrate import migrations

    (migration,) = [each for each in migrations() if each.name == "words"]
    (statement,) = migration.statements()
    return statement


def counted(store: Store, **asked: Any) -> record_counts.RecordCounts:
    return record_counts.counts(store, RecordFilter(**{"since": NOW - 3600, **asked}))


def test_counts_are_of_what_is_found(store: Store) -> None:
    small = Dimensions(llm_model="s", prompt_version="v1")
    made: Iterable[Outcome] = [
        outcome(1, NOW - 1, value=0.5),
        outcome(2, NOW - 2, route="/billing", value=0.0),
        answer(3, dimensions=small),
        answer(4, dimensions=small, scores=(grounded(0.0, "unsupported, invented"),)),
    ]
    keep(store, made)
    every = counted(store)
    assert (every.answers, every.is_more) == (4, False)
    assert every.facets == {
        "routes": {"/refunds": 3, "/billing": 1},
        "models": {"s": 2},
        "prompt_versions": {"v1": 2},
        "failing_rubrics": {"citation_validity": 2},
        "failing_layers": {"cross_cutting": 2},
        "labels": {"answered": 3, "quote_not_found": 2, "invented": 1, "unsupported": 1},
    }
    for asked in ({"failed": True}, {"model": "s", "label": "invented"}, {"text": "refunds"}):
        assert counted(store, **asked).answers == len(found(store, **asked))
    assert counted(store, failed=True).facets["routes"] == {"/billing": 1, "/refunds": 1}


def test_counts_say_that_there_are_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_counts, "MOST_COUNTED", 3)
    routes = ["/a", "/a", "/b", "/c", "/c"]
    keep(store, [answer(number, route=route) for number, route in enumerate(routes, 1)])
    some = counted(store)
    assert (some.answers, some.is_more) == (3, True)
    assert some.facets["routes"] == {"/a": 2, "/b": 1}
    assert not counted(store, route="/c").is_more


def test_older_answers_are_looked_at_where_the_newest_are_too_few(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_counts, "FIRST_LOOKED_AT", 2)
    monkeypatch.setattr(record_counts, "MOST_COUNTED", 3)
    small = Dimensions(llm_model="s")
    keep(store, [answer(90 * number) for number in range(1, 6)])
    keep(store, [answer(90 * number, dimensions=small) for number in (6, 7)])
    every, rare = counted(store), counted(store, model="s")
    assert (every.answers, every.is_more, sum(every.facets["routes"].values())) == (3, True, 3)
    assert (rare.answers, rare.is_more, rare.facets["models"]) == (2, False, {"s": 2})
    assert rare.facets["labels"]["answered"] == 2
    assert found(store, model="s") == [540, 630]
    assert found(store, limit=1) == [90]
    assert found(store) == [90 * number for number in range(1, 8)]


def test_counts_of_a_search_are_kept_though_the_part_that_it_looks_at_moves_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "kept", Kept(60.0))
    monkeypatch.setattr(kept, "COST_TIMES", 10_000)
    keep(store, [answer(1), answer(2)])
    asked = RecordFilter(since=NOW - 3600)
    first = record_counts.counts(store, asked, asked.since)
    keep(store, [answer(3)])
    part = replace(asked, since=asked.since + 600)
    assert record_counts.counts(store, part, asked.since) is first
    assert record_counts.counts(store, part).answers == first.answers + 1


def test_pages_by_score_are_parts_of_the_whole_list(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = dict(enumerate([0.0, 0.5, 0.0, 0.25, 0.5, 0.0, 1.0, 0.25], start=1))
    keep(store, [outcome(each, NOW - 50 * each, value=value) for each, value in values.items()])
    changed = {1: 1.0, 3: 0.25}
    later = [outcome(each, NOW - 50 * each, value=value) for each, value in changed.items()]
    keep(store, [replace(each, trace=with_one_more_span(each.trace)) for each in later])
    values |= changed
    monkeypatch.setattr(records, "CANDIDATES", 2)
    filter_ = RecordFilter(since=NOW - 3600, rubric="citation_validity", limit=3)
    pages: list[list[int]] = []
    end: RecordPlace | None = None
    while not pages or end:
        forms, end = records.find_page(store, replace(filter_, after=end))
        pages.append([int(form["trace_id"], 16) for form in forms])
    assert [len(page) for page in pages] == [3, 3, 2]
    listed = [number for page in pages for number in page]
    assert listed == sorted(values, key=lambda each: (values[each], each))


def test_a_search_looks_at_the_newest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_counts, "MOST_SEARCHED", 2)
    keep(store, [outcome(number, NOW - 60 * number) for number in range(1, 6)])
    filter_ = RecordFilter(since=NOW - 3600, text="refunds")
    since = record_counts.searched_since(store, filter_)
    assert found(store, since=since, text="refunds") == [1, 2]
    monkeypatch.setattr(record_counts, "MOST_SEARCHED", 5)
    assert record_counts.searched_since(store, filter_) == filter_.since


def test_records_are_found_by_the_topic_that_is_nearest(store: Store) -> None:
    """Of the newest map that has the topic; questions without a vector are in none."""
    keep(store, [answer(number) for number in range(1, 6)])
    vectors = {1: (1.0, 0.0), 2: (0.8, 0.6), 3: (0.0, 1.0), 4: (-1.0, 0.0)}
    asked = [
        topics.Question(
            minute=NOW - number - (NOW - number) % 60,
            trace_id=f"{number:032x}",
            record_id=f"{number:016x}",
            service="desk",
            environment="prod",
            question="?",
            is_sampled=True,
        )
        for number in vectors
    ]
    store.write(topics.question_batch(asked, list(vectors.values()), "m1", NOW * NANOS))
    empty = Topic(topic_id="", name="", questions=1, failing=0, rated=0, down=0)
    drawn = [
        replace(empty, topic_id="a", centroid=(1.0, 0.0)),
        replace(empty, topic_id="b", centroid=(0.0, 1.0)),
    ]
    store.write(
        topics.map_batch(
            TopicMap(
                service="desk",
                environment="prod",
                built_unix_nano=NOW * NANOS,
                since_unix_nano=0,
                vector_model="m1",
                topics=tuple(drawn),
                rest=empty,
            ),
            NOW * NANOS,
        )
    )
    assert found(store, topic="a") == [1, 2]
    assert found(store, topic="b") == [3]
    assert found(store, topic="c") == []
    assert found(store, topic="a", rubric="citation_validity") == [1, 2]
    assert counted(store, topic="a").answers == 2
