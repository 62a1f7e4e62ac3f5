"""The desk with LangChain: two plain calls, a chain, or a compressing retriever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import journal
import prompts
import search
from corpus import Chunk, Ticket
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_openai import ChatOpenAI

ROUTES = ("plain", "chain", "compressed")


class ArticleSearch(BaseRetriever):
    """The service's search as LangChain's retriever."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [
            Document(page_content=chunk.text, metadata={"id": chunk.id})
            for chunk, _ in search.search(query)
        ]


class Reranking(BaseDocumentCompressor):
    """The service's reranking as LangChain's compressor, which says its score as Cohere's does."""

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Any = None,  # noqa: ARG002
    ) -> list[Document]:
        kept = search.rerank(query, [search.CHUNKS[found.metadata["id"]] for found in documents])
        return [
            Document(page_content=chunk.text, metadata={"id": chunk.id, "relevance_score": score})
            for chunk, score in kept
        ]


def desk(model_url: str) -> dict[str, Callable[[Ticket], str]]:
    """The answering function of each route."""
    model = ChatOpenAI(
        model="stub-large", base_url=model_url, api_key="none", max_retries=0, stream_usage=True
    )
    retriever = ArticleSearch()
    compressed = ContextualCompressionRetriever(
        base_compressor=Reranking(), base_retriever=retriever
    )

    def plain(ticket: Ticket) -> str:
        kept = _rerank(ticket.question, retriever.invoke(ticket.question))
        return _generate(model, ticket, _messages(ticket, kept))

    def with_compression(ticket: Ticket) -> str:
        kept = [search.CHUNKS[found.metadata["id"]] for found in compressed.invoke(ticket.question)]
        return _generate(model, ticket, _messages(ticket, [(chunk, 1.0) for chunk in kept]))

    def chain(ticket: Ticket) -> str:
        asked = {"question": ticket.question}
        return str(_chain(retriever, model, ticket).invoke(asked)["answer"])

    return {"plain": plain, "chain": chain, "compressed": with_compression}


def _chain(retriever: BaseRetriever, model: ChatOpenAI, ticket: Ticket) -> Runnable[Any, Any]:
    return (
        RunnablePassthrough.assign(documents=itemgetter("question") | retriever)
        | RunnablePassthrough.assign(
            messages=lambda state: _messages(ticket, _rerank(state["question"], state["documents"]))
        )
        | RunnablePassthrough.assign(answer=itemgetter("messages") | model | StrOutputParser())
    )


def _rerank(question: str, found: Sequence[Document]) -> list[tuple[Chunk, float]]:
    return search.rerank(question, [search.CHUNKS[one.metadata["id"]] for one in found])


def _messages(ticket: Ticket, kept: Sequence[tuple[Chunk, float]]) -> list[tuple[str, str]]:
    shown = search.fitting(kept, is_tight=ticket.is_tight)
    journal.note(shown=[chunk.id for chunk in shown])
    user = prompts.user_message(ticket.style, ticket.question, shown)
    return [("system", prompts.SYSTEM), ("user", user)]


def _generate(model: ChatOpenAI, ticket: Ticket, messages: list[tuple[str, str]]) -> str:
    if ticket.is_streamed:
        return "".join(str(piece.content) for piece in model.stream(messages))
    return str(model.invoke(messages).content)
