"""What became of the chunks: gone, edited, ranked otherwise, or only other things were asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from alerts.incidents.suspects import undoes
from alerts.notices.fingerprint import Chunk, Fingerprint
from ragvigil.model.notice import AS_BEFORE, CAUSES, Cause, ChangeKind, Notice
from tests.unit.alerts.fingerprints import (
    QUESTIONS,
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


def ranked(question: int) -> list[Chunk]:
    """Ten chunks, the best first; the healthy service finds the first five of them."""
    return [
        Chunk(text=n, document=f"d{n // 2}", length=400 + n, score=0.9 - 0.05 * place)
        for place, n in enumerate(range(question, question + 10))
    ]


def of_another_question(question: int) -> list[Chunk]:
    return healthy_chunks((question + 13) % QUESTIONS)


def never_seen(question: int) -> list[Chunk]:
    return [
        chunk._replace(text=chunk.text + 9_000 * question, document=f"x{chunk.text * question}")
        for chunk in of_another_question(question + 1)
    ]


def without_every_other_document(question: int) -> list[Chunk]:
    return [chunk for chunk in ranked(question) if int(chunk.document[1:]) % 2][:5]


def three_for_all(_: int) -> list[Chunk]:
    return [Chunk(text=7_000 + n, document="junk", length=80, score=0.5) for n in range(3)]


def turned(question: int) -> list[Chunk]:
    return healthy_chunks(question)[::-1]


def without_documents(found: Found) -> Found:
    return lambda question: [chunk._replace(document="") for chunk in found(question)]


def kinds(found: Iterable[tuple[int, Notice]]) -> list[ChangeKind]:
    return [notice.kind for _, notice in found]


@pytest.mark.parametrize("wrong", [of_another_question, never_seen])
@pytest.mark.parametrize("has_ids", [True, False])
def test_wrong_chunks_for_a_share_of_requests_are_no_change_of_the_corpus(
    wrong: Found, has_ids: bool
) -> None:
    usual = USUAL if has_ids else Setup(chunks=without_documents(healthy_chunks))
    broken = Setup(chunks=wrong if has_ids else without_documents(wrong))
    for seed in range(5):
        mixed = [usual] * 7 + [broken] * 3
        found = noticed(traffic((300, usual), (150, mixed), seed=seed))
        assert kinds(found) == [ChangeKind.OTHER_CHUNKS]
        notice = found[0][1]
        assert (notice.before, CAUSES[notice.kind]) == ("as usual", (Cause.RETRIEVAL,))
        assert notice.after.startswith("other chunks for the same questions on ")
        assert notice.after.endswith(" % of requests")


@pytest.mark.parametrize("has_ids", [True, False])
def test_documents_are_gone_if_they_are_expected_again_and_never_come(has_ids: bool) -> None:
    usual = USUAL if has_ids else Setup(chunks=without_documents(healthy_chunks))
    gone = without_every_other_document
    after = Setup(chunks=gone if has_ids else without_documents(gone))
    for seed in range(5):
        ((number, notice),) = noticed(traffic((300, usual), (60, after), seed=seed))
        assert number < 330
        assert notice.kind is ChangeKind.DOCUMENTS
        assert " gone" in notice.after
        assert "new" not in notice.after
        for document in notice.evidence["gone_documents"]:  # type: ignore[attr-defined]
            assert int(document[1:]) % 2 == 0


def spread(*, weight: float, edited: range = range(0)) -> Found:
    """Eight of fourteen chunks, each chosen for its score and for being unlike those before it.

    Edited ones have another text, which is like no other.
    """

    def found(question: int) -> list[Chunk]:
        rest = [
            Chunk(
                text=n + 5_000 * (n in edited), document=f"d{n // 2}", length=400,
                score=0.9 - 0.04 * place + 0.03 * (n in edited),
            )
            for place, n in enumerate(range(question, question + 14))
        ]  # fmt: skip
        chosen: list[Chunk] = []
        while len(chosen) < 8:
            best = max(rest, key=lambda chunk: _gain(chunk, chosen, weight))
            rest.remove(best)
            chosen.append(best)
        return chosen

    return found


def _gain(chunk: Chunk, chosen: Sequence[Chunk], weight: float) -> float:
    likeness = max((1 / (1 + abs(chunk.text - other.text)) for other in chosen), default=0.0)
    return (chunk.score or 0.0) - weight * likeness


def test_edits_are_told_where_the_retriever_spreads_its_choice() -> None:
    usual = Setup(chunks=spread(weight=0.3))
    edited = Setup(chunks=spread(weight=0.3, edited=range(6, 40, 6)))
    for seed in range(10):
        found = noticed(traffic((300, usual), (60, edited), seed=seed))
        assert kinds(found) == [ChangeKind.DOCUMENTS]


def test_a_retriever_that_spreads_its_choice_otherwise_is_no_change_of_the_corpus() -> None:
    usual, other = (Setup(chunks=spread(weight=weight)) for weight in (0.05, 0.6))
    for seed in range(10):
        found = noticed(traffic((300, usual), (60, other), seed=seed))
        assert kinds(found) == [ChangeKind.OTHER_CHUNKS]


def test_the_same_chunks_for_every_question_are_said_so() -> None:
    ((_, notice),) = noticed(traffic((300, USUAL), (60, Setup(chunks=three_for_all))))
    assert notice.kind is ChangeKind.OTHER_CHUNKS
    assert notice.after == "the same 3 chunks for every question"


def shown(requests: Sequence[Fingerprint], first: int, last: int) -> list[Fingerprint]:
    """With the chunks of these places in the prompt."""
    return [
        replace(each, shown=tuple(chunk.text for chunk in (each.chunks or ())[first:last]))
        for each in requests
    ]


def test_another_order_of_the_same_chunks_is_said_so_and_names_no_document() -> None:
    ((number, notice),) = noticed(traffic((300, USUAL), (40, Setup(chunks=turned))))
    assert (number, notice.kind) == (311, ChangeKind.OTHER_ORDER)
    assert notice.after == "the same chunks in another order on 100 % of requests"
    requests = traffic((340, USUAL))
    reversed_prompts = [
        replace(each, shown=(each.shown or ())[::-1]) for each in shown(requests[300:], 0, 3)
    ]
    assert kinds(noticed([*shown(requests[:300], 0, 3), *reversed_prompts])) == [
        ChangeKind.OTHER_ORDER
    ]


def test_a_reranker_that_keeps_others_of_the_same_chunks_is_no_change_of_the_index() -> None:
    requests = traffic((340, USUAL))
    ((_, notice),) = noticed([*shown(requests[:300], 0, 3), *shown(requests[300:], 2, 5)])
    assert notice.kind is ChangeKind.RERANKED
    assert CAUSES[notice.kind] == (Cause.RETRIEVAL,)


def with_edits(edited: int) -> Found:
    """So many of 15 questions find another text; no two find the same chunk."""

    def found(question: int) -> list[Chunk]:
        first, *rest = healthy_chunks(10 * question)
        return [first._replace(text=first.text + 5_000 * (question % 15 < edited)), *rest]

    return found


def edited_and_reranked(edited: int, *, has_ids: bool = True) -> list[Fingerprint]:
    """From the 300th request on so many of 15 questions find another text.

    For the others, other chunks than before reach the prompt, of those that they found before.
    """
    requests: list[Fingerprint] = []
    for number in range(340):
        question, is_since = number * 7 % QUESTIONS, number >= 300
        found = with_edits(edited if is_since else 0)
        setup = Setup(chunks=found if has_ids else without_documents(found))
        place = 2 if is_since and question % 15 >= edited else 0
        requests += shown([request(number, question, setup)], place, place + 3)
    return requests


@pytest.mark.parametrize(
    ("has_ids", "kind"), [(True, ChangeKind.DOCUMENTS), (False, ChangeKind.REINDEXED)]
)
def test_new_texts_are_not_brought_by_a_reranker_that_keeps_others_beside_them(
    has_ids: bool, kind: ChangeKind
) -> None:
    found = noticed(edited_and_reranked(6, has_ids=has_ids))
    assert kinds(found) == [kind]


def test_a_reranker_is_told_though_a_few_documents_are_edited_meanwhile() -> None:
    assert kinds(noticed(edited_and_reranked(1))) == [ChangeKind.RERANKED]


@pytest.mark.parametrize("has_ids", [True, False])
def test_other_topics_are_no_change(has_ids: bool) -> None:
    """From the 300th request on half of the questions are of a topic that nobody asked for."""

    def found(question: int) -> list[Chunk]:
        chunks = healthy_chunks(question)
        if question >= 1_000:
            chunks = [chunk._replace(length=90, score=0.4) for chunk in chunks]
        return chunks if has_ids else [chunk._replace(document="") for chunk in chunks]

    setup = Setup(chunks=found)
    usual = [request(number, number * 7 % QUESTIONS, setup) for number in range(300)]
    wandering = [
        request(number, number * 7 % QUESTIONS if number % 2 else 1_000 + number * 13 % 400, setup)
        for number in range(300, 1500)
    ]
    assert noticed([*usual, *wandering]) == []


def test_numbers_that_read_the_same_are_not_shown_as_a_change() -> None:
    def jittered(question: int) -> list[Chunk]:
        # Up and down by a tenth, so that no mean moves.
        return [
            chunk._replace(score=(chunk.score or 0) + (0.09 if place % 2 else -0.09))
            for place, chunk in enumerate(healthy_chunks(question)[:4])
        ]

    def four(question: int) -> list[Chunk]:
        return healthy_chunks(question)[:4]

    for _, notice in noticed(traffic((300, Setup(chunks=four)), (60, Setup(chunks=jittered)))):
        assert notice.before != notice.after
        assert notice.after == "other scores for the same chunks on 100 % of requests"
        assert all(
            not isinstance(pair, list) or len(pair) != 2 or pair[0] != pair[1]
            for pair in notice.evidence.values()
        )
        break
    else:
        pytest.fail("nothing was noticed")


@pytest.mark.parametrize(
    ("broken", "share"),
    [(of_another_question, 0.3), (turned, 1.0), (three_for_all, 1.0)],
)
def test_what_is_put_back_undoes_the_change_in_its_own_words(broken: Found, share: float) -> None:
    mixed = [Setup(chunks=broken)] * round(10 * share) + [USUAL] * round(10 - 10 * share)
    found = noticed(traffic((300, USUAL), (200, mixed), (150, USUAL)))
    (_, there), *rest = found
    assert all(undoes(back, there) for _, back in rest), rest
    assert len(rest) == 1
    assert abs(rest[0][1].since_unix_nano - (START + 5000 * SECOND)) <= 300 * SECOND


def best_five(question: int) -> list[Chunk]:
    return ranked(question)[:5]


def best_five_of_another(question: int) -> list[Chunk]:
    return best_five((question + 13) % QUESTIONS)


@pytest.mark.parametrize(
    ("first", "kind", "apart"),
    [
        (three_for_all, ChangeKind.OTHER_CHUNKS, 15),
        (three_for_all, ChangeKind.OTHER_CHUNKS, 60),
        (without_every_other_document, ChangeKind.DOCUMENTS, 20),
        (without_every_other_document, ChangeKind.DOCUMENTS, 60),
    ],
)
def test_a_second_change_is_noticed_before_the_first_one_has_a_past(
    first: Found, kind: ChangeKind, apart: int
) -> None:
    """What the first one tells of every question, or of what it left, the second contradicts."""
    usual, changed = Setup(chunks=best_five), Setup(chunks=first)
    mixed = [changed] * 7 + [Setup(chunks=best_five_of_another)] * 3
    for seed in range(5):
        found = noticed(traffic((300, usual), (apart, changed), (150, mixed), seed=seed))
        assert kinds(found) == [kind, ChangeKind.OTHER_CHUNKS]
        _, (number, second) = found
        assert number < 300 + apart + 40
        assert second.since_unix_nano >= START + (300 + apart) * 10 * SECOND


@pytest.mark.parametrize("first", [three_for_all, without_every_other_document])
@pytest.mark.parametrize(("then", "is_return"), [(best_five, True), (best_five_of_another, False)])
def test_a_change_that_is_put_back_for_a_share_of_requests_is_told_from_another_one(
    first: Found, then: Found, is_return: bool
) -> None:
    changed = Setup(chunks=first)
    mixed = [changed] * 6 + [Setup(chunks=then)] * 4
    for seed in range(3):
        found = noticed(
            traffic((300, Setup(chunks=best_five)), (60, changed), (100, mixed), seed=seed)
        )
        assert [notice.evidence[AS_BEFORE] for _, notice in found[:2]] == [False, is_return]


def test_a_loss_is_named_though_some_requests_show_another_trouble_by_then() -> None:
    usual, gone = Setup(chunks=best_five), Setup(chunks=without_every_other_document)
    mixed = [gone] * 7 + [Setup(chunks=best_five_of_another)] * 3
    for seed in range(5):
        found = noticed(traffic((300, usual), (8, gone), (150, mixed), seed=seed))
        assert kinds(found) == [ChangeKind.DOCUMENTS, ChangeKind.OTHER_CHUNKS]


@pytest.mark.parametrize("first", [three_for_all, without_every_other_document])
def test_a_change_that_goes_on_is_noticed_once(first: Found) -> None:
    for seed in range(5):
        found = noticed(
            traffic((300, Setup(chunks=best_five)), (600, Setup(chunks=first)), seed=seed)
        )
        assert len(found) == 1


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_change_for_a_share_of_requests_that_goes_on_is_not_over(share: float) -> None:
    mixed = [Setup(chunks=of_another_question)] * round(10 * share)
    mixed += [USUAL] * (10 - len(mixed))
    found = noticed(traffic((300, USUAL), (2000, mixed)))
    assert not any(undoes(back, found[0][1]) for _, back in found[1:])


@pytest.mark.parametrize(("lost", "changes"), [(3, []), (40, [ChangeKind.CHUNK_COUNT])])
def test_a_retrieval_that_finds_nothing_now_and_then_is_no_change(
    lost: int, changes: list[ChangeKind]
) -> None:
    """Three of a few thousand answers without a chunk may well come in a row."""
    nothing = Setup(chunks=lambda _: [])
    found = noticed(traffic((400, USUAL), (lost, nothing), (150, USUAL)))
    assert kinds(found)[:1] == changes
