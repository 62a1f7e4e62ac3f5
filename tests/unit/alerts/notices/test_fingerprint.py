"""What a fingerprint takes from a record; what is unknown stays unknown."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings

from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import NO_RERANKER, NUMBERS, VALUES, Fingerprint, fingerprint_of
from alerts.notices.settings import NoticeSettings
from ragvigil.model.notice import ChangeKind
from ragvigil.model.record import Absent, ContextSource, Dimensions, Document, RagRecord
from ragvigil.store.records.texts import text_hash
from tests.contract.test_scorers import records

TEXT = "Card refunds take five days."
FOUND = Document(
    chunk_id="refund-02", content=TEXT, document_id="refund", text_hash=text_hash(TEXT), score=0.5
)
RECORD = RagRecord(
    record_id="1",
    trace_id="1",
    service="helpdesk",
    environment="prod",
    route="/ask",
    query="How  long?",
    retrieved=(FOUND, replace(FOUND, chunk_id="b", content="Other", text_hash="", score=None)),
    reranked=(FOUND,),
    context=(FOUND,),
    dimensions=Dimensions(llm_model="m-1", temperature=0.0, max_tokens=100, prompt_version="v3"),
)


def print_of(**changes: object) -> Fingerprint:
    return fingerprint_of(replace(RECORD, **changes), 1)  # type: ignore[arg-type]


def value(fingerprint: Fingerprint, kind: ChangeKind) -> str:
    return fingerprint.values[VALUES.index(kind)]


def test_a_fingerprint_has_the_place_the_chunks_and_the_dimensions_of_its_record() -> None:
    fingerprint = print_of()
    assert fingerprint.place == ("helpdesk", "prod", "/ask")
    assert [(chunk.document, chunk.length, chunk.score) for chunk in fingerprint.chunks or ()] == [
        ("refund", len(TEXT), 0.5),
        ("refund", 5, None),
    ]
    assert value(fingerprint, ChangeKind.LLM_MODEL) == "m-1"
    assert (
        value(fingerprint, ChangeKind.TEMPERATURE),
        value(fingerprint, ChangeKind.MAX_TOKENS),
    ) == ("0", "100")
    assert value(fingerprint, ChangeKind.EMBEDDING_MODEL) == ""
    expected = (2.0, 1.0, (len(TEXT) + 5) / 2, 0.5, 0.5)
    assert dict(zip(NUMBERS, fingerprint.numbers, strict=True)) == dict(
        zip(NUMBERS, expected, strict=True)
    )


def test_a_text_is_the_same_whether_its_hash_or_its_words_are_at_hand() -> None:
    bare = replace(FOUND, content=None)
    stored = fingerprint_of(
        replace(RECORD, retrieved=(bare,)), 1, lengths={text_hash(TEXT): len(TEXT)}
    )
    assert stored.chunks == print_of(retrieved=(FOUND,)).chunks
    assert stored.chunks == print_of(retrieved=(replace(FOUND, text_hash=""),)).chunks


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "unnamed"),
        ({"dimensions": Dimensions(reranker_model="r-1")}, "r-1"),
        ({"context_source": ContextSource.INFERRED}, ""),
        ({"reranked": (), "absent": {"reranked": Absent.NOT_RUN}}, NO_RERANKER),
        ({"reranked": (), "absent": {"reranked": Absent.HIDDEN}}, ""),
        ({"reranked": (), "absent": {"reranked": Absent.NOT_RUN}, "error": "timeout"}, ""),
        ({"reranked": (), "absent": {"reranked": Absent.NOT_RUN}, "retrieved": ()}, ""),
    ],
)
def test_a_reranker_is_gone_only_where_it_is_known_not_to_have_run(
    changes: dict[str, object], said: str
) -> None:
    assert value(print_of(**changes), ChangeKind.RERANKER) == said


def test_unknown_chunks_are_not_the_same_as_none() -> None:
    assert print_of(retrieved=()).chunks == ()
    assert print_of(retrieved=(), error="down", reranked=(), context=()).chunks is None
    hidden = print_of(retrieved=(), reranked=(), context=(), absent={"retrieved": Absent.HIDDEN})
    assert hidden.chunks is None
    assert hidden.numbers == (None,) * len(NUMBERS)


def test_a_question_is_the_same_in_other_letters_and_another_for_another_tenant() -> None:
    assert print_of(query="how long?").question == print_of().question != 0
    other = replace(RECORD.dimensions, tenant="acme")
    assert print_of(dimensions=other).question != print_of().question
    assert print_of(query=None).question == 0


@given(records)
@settings(max_examples=150, deadline=None)
def test_every_record_has_a_fingerprint_that_can_be_stepped(record: RagRecord) -> None:
    fingerprint = fingerprint_of(record, 1)
    assert fingerprint_of(record, 1) == fingerprint
    assert all(score is None or math.isfinite(score)
               for score in (chunk.score for chunk in fingerprint.chunks or ()))  # fmt: skip
    assert RouteNotices(fingerprint.place, NoticeSettings()).step(fingerprint) == ()
