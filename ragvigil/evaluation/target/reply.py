"""A target's reply, as JSON, read as a record: the same for URL, function and file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from clustering.golden.json_paths import NotThere, find
from clustering.golden.settings import TargetSettings
from ragvigil.model.record import Absent, ContextSource, Dimensions, Document, RagRecord


class NoAnswer(Exception):
    """The target did not answer, or not in the configured form; `str(error)` says which."""


class NoTrace(NoAnswer):
    """The target answered, and its trace does not say what: to ask again would not help."""


class Asked(Protocol):
    """What a target is told of a case."""

    @property
    def case_id(self) -> str:
        """Its id, which is also that of the record."""

    @property
    def question(self) -> str:
        """What is asked."""

    @property
    def service(self) -> str:
        """Whose route it is, or empty."""

    @property
    def environment(self) -> str:
        """Its environment, or empty."""

    @property
    def route(self) -> str:
        """The route that the question was asked on, or empty."""


def record_of(asked: Asked, reply: object, paths: TargetSettings) -> RagRecord:
    """What a reply shows, as a record. Raises NoAnswer where a configured path leads nowhere.

    Which chunks reached the prompt is known where the reply lists them, or where the answer's text
    cites some: citations may come beside the text, and an answer must not fail for citations that
    the reply does not show.
    """
    from collector.record.citations import CitationSource, citations

    answer = _answer(reply, paths)
    ids, texts = _texts(reply, paths.chunk_ids), _texts(reply, paths.chunk_texts)
    documents = _documents(ids, texts, "chunk")
    shown = _shown(reply, paths)
    cited = citations(CitationSource(answer=answer, context=documents if shown is None else shown))
    hidden = {
        "retrieved": ids is None and texts is None,
        "context": shown is None and not cited,
        "document_ids": ids is None,
        "document_texts": texts is None,
        "usage": True,
    }
    if shown is None:
        shown = documents if cited else ()
    return RagRecord(
        record_id=asked.case_id,
        trace_id="",
        service=asked.service,
        environment=asked.environment,
        route=asked.route,
        query=asked.question,
        retrieved=documents,
        context=shown,
        context_source=ContextSource.DECLARED,
        answer=answer,
        citations=cited,
        absent={name: Absent.NOT_SENT for name, is_hidden in hidden.items() if is_hidden},
        dimensions=Dimensions(llm_model=str(_at(reply, paths.model)) if paths.model else ""),
    )


PLAIN = ("chunk_ids", "chunk_texts", "prompt_ids", "prompt_texts", "model")


def plain_paths(reply: object) -> TargetSettings:
    """The paths of a reply that names its values as the settings do, as functions and files do."""
    known = reply if isinstance(reply, Mapping) else {}
    return TargetSettings().model_copy(update={name: name for name in PLAIN if name in known})


def _answer(reply: object, paths: TargetSettings) -> str:
    answer = _at(reply, paths.answer)
    if not isinstance(answer, str):
        raise NoAnswer(f"{paths.answer}: the reply has no text there")
    return answer


def _shown(reply: object, paths: TargetSettings) -> tuple[Document, ...] | None:
    """The chunks of the prompt; None where no path says where they are."""
    ids, texts = _texts(reply, paths.prompt_ids), _texts(reply, paths.prompt_texts)
    return None if ids is None and texts is None else _documents(ids, texts, "prompt")


def _texts(reply: object, path: str) -> list[str] | None:
    if not path:
        return None
    value = _at(reply, path)
    if not isinstance(value, list) or not all(isinstance(item, str | int) for item in value):
        raise NoAnswer(f"{path}: the reply has no list of texts there")
    return [str(item) for item in value]


def _at(reply: object, path: str) -> object:
    try:
        return find(reply, path)
    except NotThere as error:
        raise NoAnswer(str(error)) from error


def _documents(
    ids: Sequence[str] | None, texts: Sequence[str] | None, what: str
) -> tuple[Document, ...]:
    count = max(len(ids or ()), len(texts or ()))
    if ids is not None and texts is not None and len(ids) != len(texts):
        raise NoAnswer(f"the reply has {len(ids)} {what} ids and {len(texts)} {what} texts")
    return tuple(
        Document(
            chunk_id=ids[place] if ids else f"chunk-{place + 1}",
            content=texts[place] if texts else None,
            rank=place,
        )
        for place in range(count)
    )
