"""A change is noticed within 15 requests and named rightly; usual variation is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents.suspects import is_fix
from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import NO_RERANKER, Chunk
from alerts.notices.known import Known
from alerts.notices.settings import NoticeSettings
from ragvigil.model.notice import ChangeKind
from tests.unit.alerts.fingerprints import (
    HEALTHY,
    PLACE,
    SECOND,
    START,
    Found,
    Setup,
    healthy_chunks,
    noticed,
    request,
    traffic,
)

USUAL = Setup()


def rechunked(question: int) -> list[Chunk]:
    return [
        chunk._replace(text=chunk.text + 1000 * part, length=130)
        for chunk in healthy_chunks(question)
        for part in (1, 2)
    ]


def rescored(question: int) -> list[Chunk]:
    return [
        chunk._replace(score=0.4 - 0.01 * n) for n, chunk in enumerate(healthy_chunks(question))
    ]


def edited(question: int) -> list[Chunk]:
    """A third of the documents says something else now."""
    return [
        chunk._replace(text=chunk.text + 5000) if int(chunk.document[1:]) % 3 == 0 else chunk
        for chunk in healthy_chunks(question)
    ]


def with_a_new_document(question: int) -> list[Chunk]:
    new = Chunk(text=9000, document="community", length=300, score=0.99)
    return [new, *healthy_chunks(question)[:4]] if question % 2 else healthy_chunks(question)


def test_a_stated_top_k_has_the_counts_by_which_its_end_is_known() -> None:
    few, many = USUAL.but(ChangeKind.TOP_K, "5"), Setup(chunks=more).but(ChangeKind.TOP_K, "10")
    unstated = few.but(ChangeKind.TOP_K, "")
    found = [one for _, one in noticed(traffic((300, few), (250, many), (60, unstated)))]
    doubled, *rest = found
    assert doubled.kind is ChangeKind.TOP_K
    assert doubled.evidence["retrieved"] == [5.0, 10.0]
    (back,) = rest
    assert is_fix(back, found)


def test_one_request_that_comes_late_after_a_change_hides_no_return() -> None:
    few, many = USUAL.but(ChangeKind.TOP_K, "5"), Setup(chunks=more).but(ChangeKind.TOP_K, "10")
    late = traffic((300, few), (15, many), (1, few), (120, many), (40, few))
    changed, back = (notice for _, notice in noticed(late))
    assert (changed.kind, changed.before, changed.after) == (ChangeKind.TOP_K, "5", "10")
    assert (back.kind, back.before, back.after) == (ChangeKind.TOP_K, "10", "5")
    assert is_fix(back, (changed, back))


def without_documents(found: Found) -> Found:
    return lambda question: [chunk._replace(document="") for chunk in found(question)]


def more(question: int) -> list[Chunk]:
    return [*healthy_chunks(question), *healthy_chunks(question + 5)]


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        (rechunked, ChangeKind.RECHUNKED),
        (rescored, ChangeKind.REEMBEDDED),
        (edited, ChangeKind.DOCUMENTS),
        (with_a_new_document, ChangeKind.DOCUMENTS),
        (more, ChangeKind.CHUNK_COUNT),
    ],
)
def test_what_is_retrieved_tells_what_became_of_the_index(chunks: Found, kind: ChangeKind) -> None:
    for seed in range(5):
        found = noticed(traffic((300, USUAL), (60, Setup(chunks=chunks)), seed=seed))
        assert [(notice.kind, number < 315) for number, notice in found] == [(kind, True)]


def test_new_chunks_without_document_ids_are_a_new_index_of_unknown_cause() -> None:
    before = Setup(chunks=without_documents(healthy_chunks))
    after = Setup(chunks=without_documents(rechunked))
    ((_, notice),) = noticed(traffic((300, before), (40, after)))
    assert notice.kind is ChangeKind.REINDEXED


@pytest.mark.parametrize("kind", list(HEALTHY))
def test_a_dimension_with_another_value_is_named_with_both(kind: ChangeKind) -> None:
    ((number, notice),) = noticed(traffic((250, USUAL), (40, USUAL.but(kind, "other"))))
    assert (notice.kind, notice.before, notice.after) == (kind, HEALTHY[kind], "other")
    assert (number, notice.requests, notice.share) == (261, 12, 1.0)
    assert notice.since_unix_nano == traffic((251, USUAL))[-1].time_unix_nano


def test_a_reranker_that_does_not_run_any_more_is_gone() -> None:
    ((_, notice),) = noticed(traffic((250, USUAL), (40, USUAL.but(ChangeKind.RERANKER, "none"))))
    assert (notice.kind, notice.after) == (ChangeKind.RERANKER, NO_RERANKER)


def test_a_value_that_is_not_sent_is_no_change() -> None:
    silent = Setup(values={})
    assert noticed(traffic((250, USUAL), (100, silent), (100, USUAL))) == []


@pytest.mark.parametrize(
    ("first", "others", "chunks"),
    [
        (ChangeKind.EMBEDDING_MODEL, ["index_epoch"], rescored),
        (ChangeKind.LLM_MODEL, ["temperature", "max_tokens"], healthy_chunks),
        (ChangeKind.PROMPT, ["release"], healthy_chunks),
    ],
)
def test_what_changes_for_one_reason_is_one_notice(
    first: ChangeKind, others: list[str], chunks: Found
) -> None:
    kinds = [first, *map(ChangeKind, others)]
    before = Setup(values=dict.fromkeys(kinds, "1"))
    after = Setup(values=dict.fromkeys(kinds, "2"), chunks=chunks)
    ((_, notice),) = noticed(traffic((250, before), (60, after)))
    assert notice.kind is first
    assert [notice.evidence[other] for other in others] == [["1", "2"]] * len(others)


def test_a_new_chunking_explains_a_new_index_version_and_how_many_chunks_there_are() -> None:
    after = Setup(chunks=rechunked).but(ChangeKind.INDEX, "2").but(ChangeKind.TOP_K, "10")
    before = USUAL.but(ChangeKind.INDEX, "1").but(ChangeKind.TOP_K, "5")
    ((_, notice),) = noticed(traffic((250, before), (60, after)))
    assert notice.kind is ChangeKind.RECHUNKED


def test_two_reasons_at_once_are_two_notices() -> None:
    after = Setup(chunks=rechunked).but(ChangeKind.PROMPT, "v2")
    found = noticed(traffic((250, USUAL), (60, after)))
    assert {notice.kind for _, notice in found} == {ChangeKind.RECHUNKED, ChangeKind.PROMPT}
    assert len({notice.since_unix_nano for _, notice in found}) == 1


def test_going_back_is_a_notice_with_before_and_after_swapped() -> None:
    other = USUAL.but(ChangeKind.PROMPT, "v2")
    found = noticed(traffic((250, USUAL), (100, other), (40, USUAL)))
    said = [(notice.kind, notice.before, notice.after) for _, notice in found]
    assert said == [(ChangeKind.PROMPT, "v1", "v2"), (ChangeKind.PROMPT, "v2", "v1")]
    assert len({notice.notice_id for _, notice in found}) == 2
    back = noticed(traffic((250, USUAL), (100, Setup(chunks=rechunked)), (60, USUAL)))
    assert [notice.kind for _, notice in back] == [ChangeKind.RECHUNKED] * 2


def test_a_rolling_change_shows_its_share_and_is_noticed_once() -> None:
    mixed = [USUAL] * 7 + [USUAL.but(ChangeKind.LLM_MODEL, "m-2")] * 3
    ((number, notice),) = noticed(traffic((250, USUAL), (300, mixed)))
    assert number < 300
    assert 0.15 < notice.share < 0.6


def test_the_first_request_of_a_canary_is_found_however_small_its_share() -> None:
    canary = USUAL.but(ChangeKind.LLM_MODEL, "m-2")
    requests = traffic((250, USUAL), *((1, canary), (9, USUAL)) * 6)
    ((_, notice),) = noticed(requests)
    assert notice.since_unix_nano == requests[250].time_unix_nano


def test_a_canary_that_becomes_the_rule_is_noticed_again_as_the_same_change() -> None:
    canary = USUAL.but(ChangeKind.PROMPT, "v2").but(ChangeKind.RELEASE, "2")
    requests = traffic((250, USUAL), (300, [USUAL] * 9 + [canary]), (300, canary))
    (_, first), (number, second) = noticed(requests)
    assert number < 570
    assert second.since_unix_nano == requests[550].time_unix_nano
    for notice in (first, second):
        assert (notice.kind, notice.before, notice.after) == (ChangeKind.PROMPT, "v1", "v2")
    assert (first.share < 0.3, second.share) == (True, 1.0)


@pytest.mark.parametrize(("after", "then"), [(20, "3"), (90, "3"), (90, "1.0")])
@pytest.mark.parametrize("seed", range(3))
def test_what_comes_after_a_roll_out_of_some_minutes_is_noticed(
    after: int, then: str, seed: int
) -> None:
    """Instances are replaced one after the other; no second notice says that all are."""
    release = {version: USUAL.but(ChangeKind.RELEASE, version) for version in ("1.0", "2", then)}
    both = [USUAL, release["2"]]
    requests = traffic(
        (250, USUAL), (20, both), (after, release["2"]), (20, release[then]), seed=seed
    )
    (_, first), (number, second) = noticed(requests)
    assert (first.before, first.after, first.share < 1) == ("1.0", "2", True)
    assert (second.after, second.share) == (then, 1.0)
    assert number < 270 + after + 15


def test_after_a_restart_a_canary_is_known_with_all_that_came_with_it() -> None:
    canary = USUAL.but(ChangeKind.PROMPT, "v2").but(ChangeKind.RELEASE, "2")
    mixed = [USUAL] * 9 + [canary]
    requests = traffic((250, USUAL), (1, canary), (1, USUAL), (300, mixed), (60, canary))
    (_, first), _ = noticed(requests)
    again = RouteNotices(PLACE, NoticeSettings())
    for number, earlier in enumerate(requests[:552], start=1):
        again.learn(earlier)
        if number == 252:  # too few for both to be certain by themselves
            again.accept(replace(first, requests=2))
    (second,) = (notice for later in requests[552:] for notice in again.step(later))
    assert (second.kind, second.evidence.get("release")) == (ChangeKind.PROMPT, ["1.0", "2"])


def test_a_prompt_that_is_put_back_soon_after_its_release_is_noticed_as_a_prompt() -> None:
    other = USUAL.but(ChangeKind.PROMPT, "v2").but(ChangeKind.RELEASE, "2")
    found = noticed(traffic((250, USUAL), (30, other), (40, USUAL)))
    assert [(notice.kind, notice.after) for _, notice in found] == [
        (ChangeKind.PROMPT, "v2"), (ChangeKind.PROMPT, "v1"),
    ]  # fmt: skip


def test_values_that_vary_by_themselves_are_no_news() -> None:
    models = [USUAL, USUAL.but(ChangeKind.LLM_MODEL, "m-2")]
    assert noticed(traffic((600, models))) == []
    own = [USUAL.but(ChangeKind.PROMPT, f"sha:{n}") for n in range(10_000)]
    assert noticed(traffic((600, own))) == []
    found = noticed(
        traffic((300, own), (60, [value.but(ChangeKind.LLM_MODEL, "x") for value in own]))
    )
    assert [notice.kind for _, notice in found] == [ChangeKind.LLM_MODEL]


def test_questions_never_asked_before_find_new_chunks_and_that_is_no_news() -> None:
    requests = [
        request(number, 7 * number if number % 3 else number % 20, USUAL) for number in range(1500)
    ]
    assert noticed(requests) == []


def test_one_odd_request_is_no_change() -> None:
    odd = Setup(chunks=rechunked).but(ChangeKind.LLM_MODEL, "fallback")
    for count in (1, 2):
        assert noticed(traffic((250, USUAL), (count, odd), (200, USUAL))) == []


def test_nothing_is_noticed_before_the_warm_up_is_over() -> None:
    other = USUAL.but(ChangeKind.PROMPT, "v2")
    assert noticed(traffic((150, USUAL), (49, other))) == []


def test_a_change_that_outlasts_the_warm_up_began_when_it_did() -> None:
    requests = traffic((170, USUAL), (60, USUAL.but(ChangeKind.PROMPT, "v2")))
    ((number, notice),) = noticed(requests)
    assert (number, notice.since_unix_nano) == (201, requests[170].time_unix_nano)


@pytest.mark.parametrize(
    ("known", "kinds"),
    [({}, []), ({"prompt": {"v1": START}}, [ChangeKind.PROMPT])],
    ids=["new", "known"],
)
def test_a_route_known_for_days_has_no_new_warm_up_after_a_restart(
    known: Known, kinds: list[ChangeKind]
) -> None:
    """At two requests an hour the days that a start reads hold fewer than a warm-up takes."""
    detector = RouteNotices(PLACE, NoticeSettings(), known)
    *past, first = traffic((140, USUAL), (1, USUAL.but(ChangeKind.PROMPT, "v2")))
    for earlier in past:
        detector.learn(earlier)
    found = [notice for _ in range(12) for notice in detector.step(first)]
    assert [notice.kind for notice in found] == kinds


def test_requests_of_ten_minutes_before_the_newest_are_left_out_and_counted() -> None:
    detector = RouteNotices(PLACE, NoticeSettings())
    requests = traffic((250, USUAL))
    for fingerprint in requests:
        detector.step(fingerprint)
    old = [replace(fingerprint, time_unix_nano=fingerprint.time_unix_nano - 3600 * SECOND)
           for fingerprint in traffic((250, USUAL.but(ChangeKind.PROMPT, "v0")))]  # fmt: skip
    assert [notice for fingerprint in old for notice in detector.step(fingerprint)] == []
    assert detector.late == len(old)


def test_what_is_changing_can_be_named_when_no_more_requests_come() -> None:
    detector = RouteNotices(PLACE, NoticeSettings())
    for fingerprint in traffic((250, USUAL), (6, USUAL.but(ChangeKind.PROMPT, "v2"))):
        assert detector.step(fingerprint) == ()
    assert detector.is_changing
    assert [notice.kind for notice in detector.settle()] == [ChangeKind.PROMPT]
    assert not detector.is_changing


def test_one_that_learned_the_past_and_its_notices_goes_on_as_if_it_had_never_stopped() -> None:
    other = USUAL.but(ChangeKind.PROMPT, "v2")
    requests = traffic((300, USUAL), (60, other), (60, USUAL))
    ((_, first), (_, second)) = noticed(requests)
    again = RouteNotices(PLACE, NoticeSettings())
    for fingerprint in requests[:355]:
        if fingerprint.time_unix_nano == first.noticed_unix_nano + 10 * SECOND:
            again.accept(first)
        again.learn(fingerprint)
    assert [notice for fingerprint in requests[355:] for notice in again.step(fingerprint)] == [
        second
    ]


fingerprints = st.builds(
    lambda number, question, texts, value: replace(
        request(number, question, Setup(values=dict.fromkeys(HEALTHY, str(value)))),
        chunks=None if texts is None else tuple(Chunk(text=text) for text in texts),
        numbers=(None, 1.0, None, -5.0, 1e300),
    ),
    st.integers(0, 500),
    st.integers(-1, 3),
    st.none() | st.lists(st.integers(0, 5), max_size=4),
    st.sampled_from(["", "a", "b"]),
)


@given(st.lists(fingerprints, max_size=60))
@settings(max_examples=60, deadline=None)
def test_whatever_comes_is_taken_and_the_same_gives_the_same(requests: list) -> None:  # type: ignore[type-arg]
    few = NoticeSettings(warm_up_requests=100)
    requests = requests * 5
    runs = [RouteNotices(PLACE, few), RouteNotices(PLACE, few)]
    made = [
        [notice for fingerprint in requests for notice in run.step(fingerprint)] for run in runs
    ]
    assert made[0] == made[1]
    for notice in made[0]:
        assert 0 < notice.share <= 1
        assert notice.since_unix_nano <= notice.noticed_unix_nano
        assert notice.requests >= 1
