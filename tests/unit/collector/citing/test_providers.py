"""Structured citations of each provider, as their SDKs serialise them."""

from __future__ import annotations

import json

from collector.record.citations import CitationSource, citations
from ragvigil.model.record import Citation, Document

ANSWER = "Refunds take 30 days. Shipping costs 3.90 EUR."
CHUNKS = (
    Document(chunk_id="a-1", content="Customers can request a refund within 30 days of delivery.",
             metadata={"title": "Refunds", "file_id": "file-1", "url": "https://x.example/a"}),
    Document(chunk_id="b-2", content="Standard shipping costs 3.90 EUR for every order.",
             metadata={"title": "Shipping", "source": "s3://kb/b.md"}),
)  # fmt: skip


def found(raw: object, answer: str = ANSWER) -> tuple[Citation, ...]:
    return citations(CitationSource(answer=answer, raw=json.dumps(raw), context=CHUNKS))


def spans(raw: object, answer: str = ANSWER) -> list[tuple[str | None, str]]:
    return [
        (citation.chunk_id, answer[citation.start : citation.end])
        for citation in found(raw, answer)
    ]


def test_anthropic_cites_by_block() -> None:
    content = [
        {"type": "text", "text": "Refunds take 30 days.", "citations": [
            {"type": "char_location", "cited_text": "within 30 days", "document_index": 0,
             "document_title": "Refunds", "start_char_index": 0, "end_char_index": 9}]},
        {"type": "text", "text": " ", "citations": None},
        {"type": "text", "text": "Shipping costs 3.90 EUR.", "citations": [
            {"type": "search_result_location", "cited_text": "costs 3.90 EUR",
             "source": "s3://kb/b.md", "search_result_index": 1}]},
    ]  # fmt: skip
    raw = {"id": "msg", "content": content}
    assert spans(raw) == [("a-1", "Refunds take 30 days."), ("b-2", "Shipping costs 3.90 EUR.")]
    assert [citation.quote for citation in found(raw)] == ["within 30 days", "costs 3.90 EUR"]


def test_anthropic_without_titles_counts_documents_from_zero() -> None:
    content = [{"type": "text", "text": ANSWER, "citations": [
        {"type": "page_location", "cited_text": "x", "document_index": 1}]}]  # fmt: skip
    assert spans({"content": content}) == [("b-2", ANSWER)]


def test_openai_responses_cite_files() -> None:
    raw = {"output": [{"type": "message", "content": [{"type": "output_text", "text": ANSWER,
           "annotations": [{"type": "file_citation", "file_id": "file-1", "filename": "r.md",
                            "index": 20}]}]}]}  # fmt: skip
    assert [citation.chunk_id for citation in found(raw)] == ["a-1"]


def test_openai_chat_cites_urls_with_offsets() -> None:
    raw = {"choices": [{"message": {"content": ANSWER, "annotations": [
        {"type": "url_citation", "url_citation": {"url": "https://x.example/a", "title": "t",
         "start_index": 0, "end_index": 21}}]}}]}  # fmt: skip
    assert spans(raw) == [("a-1", "Refunds take 30 days.")]


def test_openai_assistants_mark_the_text() -> None:
    answer = "Refunds take 30 days【4:0†source】."
    raw = {"content": [{"text": {"value": answer, "annotations": [
        {"type": "file_citation", "text": "【4:0†source】", "start_index": 20, "end_index": 32,
         "file_citation": {"file_id": "file-1", "quote": "within 30 days"}}]}}]}  # fmt: skip
    (only,) = found(raw, answer)
    assert (only.chunk_id, only.marker, only.quote) == ("a-1", "【4:0†source】", "within 30 days")


def test_cohere_cites_documents_by_id_in_both_versions() -> None:
    first = {
        "text": ANSWER,
        "citations": [
            {
                "start": 0,
                "end": 20,
                "text": "Refunds take 30 days",
                "document_ids": ["a-1", "doc_1"],
            }
        ],
    }
    second = {"message": {"citations": [
        {"start": 22, "end": 45, "text": "Shipping costs 3.90 EUR",
         "sources": [{"type": "document", "id": "x:0", "document": {"id": "b-2"}}]}]}}  # fmt: skip
    assert spans(first) == [("a-1", "Refunds take 30 days"), ("b-2", "Refunds take 30 days")]
    assert spans(second) == [("b-2", "Shipping costs 3.90 EUR")]


def test_bedrock_cites_references_by_chunk_id_uri_or_text() -> None:
    def reference(**more: object) -> dict[str, object]:
        return {"content": {"text": "something else entirely here"}, **more}

    raw = {"citations": [
        {"generatedResponsePart": {"textResponsePart": {"text": "Refunds take 30 days.",
                                                        "span": {"start": 0, "end": 20}}},
         "retrievedReferences": [
             reference(metadata={"x-amz-bedrock-kb-chunk-id": "a-1"}),
             reference(location={"type": "S3", "s3Location": {"uri": "s3://kb/b.md"}}),
             {"content": {"text": CHUNKS[0].content}}]}]}  # fmt: skip
    assert [chunk_id for chunk_id, _ in spans(raw)] == ["a-1", "b-2", "a-1"]
    assert {text for _, text in spans(raw)} == {"Refunds take 30 days."}


def test_gemini_counts_bytes() -> None:
    answer = "Für Rückgaben gelten 30 Tage. Versand kostet 3,90 EUR."
    second = answer.index("Versand")
    start = len(answer[:second].encode())
    raw = {"candidates": [{"groundingMetadata": {
        "groundingChunks": [{"web": {"uri": "https://x.example/a", "title": "Refunds"}},
                            {"retrievedContext": {"uri": "s3://kb/b.md", "title": "Shipping"}}],
        "groundingSupports": [{"segment": {"startIndex": start, "endIndex": len(answer.encode())},
                               "groundingChunkIndices": [1]}]}}]}  # fmt: skip
    assert spans(raw, answer) == [("b-2", "Versand kostet 3,90 EUR.")]


def test_azure_on_your_data_names_its_own_citations() -> None:
    answer = "Refunds take 30 days [doc1]. It costs 3.90 EUR [doc2][doc1]."
    raw = {"choices": [{"message": {"content": answer, "context": {"citations": [
        {"content": "…", "title": "Shipping", "filepath": "b.md", "chunk_id": "0"},
        {"content": "…", "title": "Refunds", "filepath": "a.md", "chunk_id": "0"}]}}}]}  # fmt: skip
    assert [citation.chunk_id for citation in found(raw, answer)] == ["b-2", "a-1", "b-2"]


def test_a_response_without_citations_leaves_the_inline_markers() -> None:
    raw = {"content": [{"type": "text", "text": "In 30 days [1].", "citations": None}]}
    assert [citation.chunk_id for citation in found(raw, "In 30 days [1].")] == ["a-1"]
