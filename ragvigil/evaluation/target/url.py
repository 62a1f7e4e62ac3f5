"""Asks a service over HTTP, as `[golden.target]` says."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from clustering.golden.json_paths import built
from clustering.golden.settings import TargetSettings
from collector.record.offline import MEMBER
from ragvigil.evaluation.target.reply import Asked, NoAnswer

MOST_BYTES = 4 << 20
"""Bytes of a reply."""
MARK = "x-ragvigil-golden"
"""Header that names the case, so that the service can tell it from a user's question."""

ODD_STEP = re.compile(r"(^|[/\\])\.{1,2}([/\\;?#]|$)")
"""A step of a path that leads to its own or the folder above; some servers end it at `;`."""


def ask(asked: Asked, target: TargetSettings, context: Sequence[str] | None = None) -> Any:
    """Sends the case's question; returns the reply's JSON. Raises NoAnswer.

    `context` are texts to answer from, where the target takes some (`[golden.target] context`).
    """
    try:
        return json.loads(post(asked, target, context, {}))
    except (ValueError, RecursionError) as error:
        raise NoAnswer("the reply is not JSON") from error


def post(
    asked: Asked,
    target: TargetSettings,
    context: Sequence[str] | None,
    more_headers: Mapping[str, str],
) -> bytes:
    """Sends the case's question as `ask` does; returns the reply as it came. Raises NoAnswer."""
    import httpx2

    url = address(target.url, asked.route)
    headers = {MARK: quote(asked.case_id, errors="replace"), **offline_trace(), **more_headers}
    if target.token:
        headers["authorization"] = f"Bearer {target.token.get_secret_value()}"
    # The client's timeout is for each read: a service that sends a byte at a time needs this one.
    end = time.monotonic() + target.timeout_seconds
    content = bytearray()
    try:
        # Question and token are for the configured service: no redirect is followed, and no proxy
        # of the environment used.
        with (
            httpx2.Client(timeout=target.timeout_seconds, trust_env=False) as client,
            client.stream(
                "POST", url, json=_body(asked, target, context), headers=headers
            ) as reply,
        ):
            for part in reply.iter_bytes():
                content += part
                if len(content) > MOST_BYTES or time.monotonic() > end:
                    raise NoAnswer("the reply is too long, in bytes or in seconds")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoAnswer(f"no answer: {error or type(error).__name__}") from error
    if reply.status_code != 200:
        raise NoAnswer(f"answered {reply.status_code}")
    return bytes(content)


def offline_trace(trace_id: bytes | None = None, parent: bytes | None = None) -> dict[str, str]:
    """The headers of a new trace that a daemon does not count among those of users.

    A service without a tracestate of its own passes this one on; without a `traceparent` it would
    be ignored. The ids have 16 and 8 bytes; without them they are drawn.
    """
    trace, span = trace_id or os.urandom(16), parent or os.urandom(8)
    return {"traceparent": f"00-{trace.hex()}-{span.hex()}-01", "tracestate": MEMBER}


def _body(asked: Asked, target: TargetSettings, context: Sequence[str] | None) -> dict[str, Any]:
    given: dict[str, object] = {**target.body, target.question: asked.question}
    if context is not None:
        given[target.context] = list(context)
    return built(given)


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
