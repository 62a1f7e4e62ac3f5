"""Asks the service a golden case's question, as `[golden.target]` says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote

from clustering.golden.json_paths import NotThere, built, find
from clustering.golden.settings import TargetSettings
from ragvigil.model.golden import GoldenCase
from ragvigil.model.record import Absent, ContextSource, Document, RagRecord

MOST_BYTES = 4 << 20
"""Bytes of a reply."""
MARK = "x-ragvigil-golden"
"""Header that names the case, so that the service can tell it from a user's question."""

ODD_STEP = re.compile(r"(^|[/\\])\.{1,2}([/\\;?#]|$)")
"""A step of a path that leads to its own or the folder above; some servers end it at `;`."""


class NoAnswer(Exception):
    """The service did not answer, or not in the configured form; `str(error)` says which."""


def ask(case: GoldenCase, target: TargetSettings) -> RagRecord:
    """Sends the case's question; returns what the reply shows as a record. Raises NoAnswer."""
    reply = _reply(case, target)
    try:
        answer = find(reply, target.answer)
        ids = find(reply, target.chunk_ids) if target.chunk_ids else None
        texts = find(reply, target.chunk_texts) if target.chunk_texts else None
    except NotThere as error:
        raise NoAnswer(str(error)) from error
    if not isinstance(answer, str):
        raise NoAnswer(f"{target.answer}: the reply has no text there")
    return record_of(case, answer, _listed(ids, "chunk_ids"), _listed(texts, "chunk_texts"))


def record_of(
    case: GoldenCase, answer: str, ids: Sequence[str] | None, texts: Sequence[str] | None
) -> RagRecord:
    """A record with this answer; ids and texts of chunks are None where the reply lacks them.

    Which chunks reached the prompt is known only where the answer's text cites some: citations may
    come beside the text, and an answer must not fail for citations that the reply does not show.
    """
    from collector.record.citations import CitationSource, citations

    documents = _documents(ids, texts)
    cited = citations(CitationSource(answer=answer, context=documents))
    hidden = {
        "retrieved": ids is None and texts is None,
        "context": not cited,
        "document_ids": ids is None,
        "document_texts": texts is None,
        "usage": True,
    }
    return RagRecord(
        record_id=case.case_id,
        trace_id="",
        service=case.service,
        environment=case.environment,
        route=case.route,
        query=case.question,
        retrieved=documents,
        context=documents if cited else (),
        context_source=ContextSource.DECLARED,
        answer=answer,
        citations=cited,
        absent={name: Absent.NOT_SENT for name, is_hidden in hidden.items() if is_hidden},
    )


def _documents(ids: Sequence[str] | None, texts: Sequence[str] | None) -> tuple[Document, ...]:
    count = max(len(ids or ()), len(texts or ()))
    if ids is not None and texts is not None and len(ids) != len(texts):
        raise NoAnswer(f"the reply has {len(ids)} chunk ids and {len(texts)} chunk texts")
    return tuple(
        Document(
            chunk_id=ids[place] if ids else f"chunk-{place + 1}",
            content=texts[place] if texts else None,
            rank=place,
        )
        for place in range(count)
    )


def address(url: str, route: str) -> str:
    """The URL of a route: each step of it encoded, so that no route leads out of the URL's path.

    >>> address("https://desk.example/api/{route}", "/refunds/ask?x=1#y")
    'https://desk.example/api/refunds/ask%3Fx%3D1%23y'

    Raises NoAnswer for a route that a server may read as another path: the route comes from spans.
    """
    if "{route}" not in url:
        return url
    plain = _unquoted(route)
    if not route.isprintable() or ODD_STEP.search(plain) or not plain.isprintable():
        raise NoAnswer(f"the route {route[:100]!a} cannot be part of an address")
    return url.replace("{route}", quote(route.lstrip("/")))


def _unquoted(text: str) -> str:
    """The text as a server sees it that undoes percent-encoding, however often it does."""
    while (plain := unquote(text)) != text:
        text = plain
    return text


def _reply(case: GoldenCase, target: TargetSettings) -> object:
    import httpx2

    url = address(target.url, case.route)
    headers = {MARK: quote(case.case_id, errors="replace")}
    if target.token:
        headers["authorization"] = f"Bearer {target.token.get_secret_value()}"
    body: dict[str, Any] = built({**target.body, target.question: case.question})
    # The client's timeout is for each read: a service that sends a byte at a time needs this one.
    end = time.monotonic() + target.timeout_seconds
    content = bytearray()
    try:
        # Question and token are for the configured service: no redirect is followed, and no proxy
        # of the environment used.
        with (
            httpx2.Client(timeout=target.timeout_seconds, trust_env=False) as client,
            client.stream("POST", url, json=body, headers=headers) as reply,
        ):
            for part in reply.iter_bytes():
                content += part
                if len(content) > MOST_BYTES or time.monotonic() > end:
                    raise NoAnswer("the reply is too long, in bytes or in seconds")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoAnswer(f"no answer: {error or type(error).__name__}") from error
    if reply.status_code != 200:
        raise NoAnswer(f"answered {reply.status_code}")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NoAnswer("the reply is not JSON") from error


def _listed(value: object, key: str) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str | int) for item in value):
        raise NoAnswer(f"{key}: the reply has no list of texts there")
    return [str(item) for item in value]
