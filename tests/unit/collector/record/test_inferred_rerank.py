"""A reranker without a span is inferred from the order of the prompt, and only from an odd one."""

from __future__ import annotations

from itertools import permutations

import pytest

from collector.record.build import records
from collector.record.inferred_rerank import is_reranked
from ragvigil.model.record import Absent, ContextSource, Document, RagRecord
from tests.traces import QUESTION, llm, retriever, span, trace

NAMES = ("ship-07", "refund-02", "acct-03", "pay-09", "gift-01", "lost-04")
CHUNKS = tuple((name, f"Chunk {name} of the help centre says what {name} costs.") for name in NAMES)
LONG_CONTEXT_REORDER = [1, 3, 5, 4, 2, 0]  # of langchain_community.document_transformers
LOST_IN_THE_MIDDLE = [0, 2, 4, 5, 3, 1]  # of haystack.components.rankers


def record_with(*order: int, retrievers: int = 1) -> RagRecord:
    prompt = "\n\n".join(CHUNKS[at][1] for at in order) + f"\n\nQuestion: {QUESTION}"
    half = len(CHUNKS) // retrievers
    found = [retriever(f"retrieve-{n}", CHUNKS[n * half : (n + 1) * half], at=(0.1, 0.2 + n / 10))
             for n in range(retrievers)]  # fmt: skip
    root = span("root", {"openinference.span.kind": "CHAIN"})
    (record,) = records(trace(root, *found, llm(prompt=prompt)))
    return record


def test_a_rerankers_order_is_reranked_and_marked_as_inferred() -> None:
    record = record_with(3, 0, 4, 1)
    names = ["pay-09", "ship-07", "gift-01", "refund-02"]
    assert [chunk.chunk_id for chunk in record.context] == names
    assert [(chunk.chunk_id, chunk.rank) for chunk in record.reranked] == list(
        zip(names, range(4), strict=True)
    )
    assert record.context_source is ContextSource.INFERRED
    assert "reranked" not in record.absent
    assert [chunk.chunk_id for chunk in record.retrieved] == list(NAMES)


@pytest.mark.parametrize(
    "order",
    [
        range(6), (0, 1, 2), (1, 3, 5), (), (2,), (4, 1), (5, 4, 3, 2, 1, 0), (4, 2, 1),
        LONG_CONTEXT_REORDER, LONG_CONTEXT_REORDER[::-1], LOST_IN_THE_MIDDLE,
        LOST_IN_THE_MIDDLE[::-1],
    ],
    ids=str,
)  # fmt: skip
def test_a_usual_order_is_no_reranker(order: list[int]) -> None:
    record = record_with(*order)
    assert (record.reranked, record.absent["reranked"]) == ((), Absent.NOT_RUN)
    assert record.context_source is not ContextSource.INFERRED


def test_several_retrievals_have_no_order_between_them() -> None:
    assert record_with(3, 0, 4, 1, retrievers=2).absent["reranked"] is Absent.NOT_RUN


def test_a_seen_reranker_is_not_inferred() -> None:
    reranked = retriever("CrossEncoderReranker", (CHUNKS[3], CHUNKS[0], CHUNKS[4], CHUNKS[1]))
    prompt = "\n\n".join(CHUNKS[at][1] for at in (0, 4, 3, 1))
    root = span("root", {"openinference.span.kind": "CHAIN"})
    (record,) = records(trace(root, retriever(documents=CHUNKS), reranked, llm(prompt=prompt)))
    assert record.context_source is ContextSource.RERANKED
    assert record.reranked[0].chunk_id == "pay-09"


def documents(**metadata: tuple[object, ...]) -> list[Document]:
    return [
        Document(
            chunk_id=name,
            document_id=str(metadata.get("document", [""] * 6)[at]),
            metadata={key: values[at] for key, values in metadata.items()},
        )
        for at, name in enumerate(NAMES)
    ]


def put(chunks: list[Document], *order: int) -> list[Document]:
    return [chunks[at] for at in order]


def test_an_order_by_page_or_date_is_no_reranker() -> None:
    pages = documents(page=(7, 10, 3, 12, 30, 1))
    assert not is_reranked(pages, put(pages, 5, 2, 0, 1, 3, 4))
    assert is_reranked(pages, put(pages, 2, 5, 0, 3, 1, 4))
    days = documents(updated_at=tuple(f"2026-0{n}-01" for n in (3, 1, 5, 2, 6, 4)))
    assert not is_reranked(days, put(days, 4, 2, 5, 0, 3, 1))


def test_an_order_by_id_is_no_reranker() -> None:
    chunks = documents()
    assert not is_reranked(chunks, sorted(chunks, key=lambda chunk: chunk.chunk_id))


def test_chunks_grouped_by_document_are_not_reranked() -> None:
    chunks = documents(document=("a", "b", "a", "c", "b", "a"))
    assert not is_reranked(chunks, put(chunks, 0, 2, 5, 1, 4, 3))
    assert is_reranked(chunks, put(chunks, 1, 4, 0, 2, 5, 3))


def test_of_six_chunks_nearly_every_other_order_is_a_rerankers() -> None:
    chunks = documents()
    inferred = sum(is_reranked(chunks, order) for order in permutations(chunks))
    assert inferred == 720 - 5  # the retriever's, the best at both ends, both reversed, by id
