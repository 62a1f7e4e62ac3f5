"""Texts of strangers stay texts: whatever the field, no script runs and nothing leaves the host."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from playwright.sync_api import BrowserContext, Page

from tests.browser.addresses import addresses
from tests.browser.conftest import Enter, Serve, post_as_root
from tests.browser.payloads import PAYLOADS
from tests.browser.world import PEOPLE, Served
from tests.patience import PATIENCE_SECONDS
from tests.replayed import wait_for


def trace_of(number: int, payload: str) -> ExportTraceServiceRequest:
    """An answer whose every text is the payload: names, ids, chunks, models, errors, resources."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    _put(resource.resource, {"service.name": payload, "service.version": payload, payload: payload})
    scope = resource.scope_spans.add()
    scope.scope.name = payload
    now = time.time_ns()
    kinds = ("CHAIN", "RETRIEVER", "RERANKER", "LLM")
    for place, kind in enumerate(kinds):
        root, own = ((number * 8 + n).to_bytes(8, "big") for n in (1, place + 1))
        span = scope.spans.add(
            trace_id=number.to_bytes(16, "big"),
            span_id=own,
            parent_span_id=root if place else b"",
            name=payload,
            start_time_unix_nano=now + place,
            end_time_unix_nano=now + 10**9 - place,
        )
        span.status.message = payload
        span.events.add(name=payload).time_unix_nano = now
        _put(span, {"openinference.span.kind": kind, payload: payload} | _texts(kind, payload))
    return request


def _texts(kind: str, payload: str) -> dict[str, str]:
    document = {"document.content": payload, "document.id": payload, "document.metadata": payload}
    prefix = {"RETRIEVER": "retrieval.documents", "RERANKER": "reranker.output_documents"}.get(kind)
    documents = {
        f"{prefix}.{place}.{name}": f"{value}{place}"
        for place in range(2) if prefix
        for name, value in document.items()
    }  # fmt: skip
    return documents | {
        "input.value": payload, "output.value": payload, "llm.model_name": payload,
        "http.route": payload, "session.id": payload, "user.id": payload, "tag.tags": payload,
        "llm.input_messages.0.message.content": payload,
        "llm.output_messages.0.message.content": f'"{payload}" [{payload}]',
        "llm.output_messages.0.message.role": payload, "llm.prompt_template.version": payload,
    }  # fmt: skip


def _put(target: object, values: dict[str, str]) -> None:
    for key, value in values.items():
        target.attributes.add(key=key).value.string_value = value  # type: ignore[attr-defined]


@dataclass
class Seen:
    """What a browser did that it should not."""

    ran: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def hostile(serve: Serve) -> Served:
    """The alarm's daemon, with every payload in every field of an answer and of people's words."""
    site = serve("alarm")
    before = sum(site.get("ledger")["records"].values())
    for number, payload in enumerate(PAYLOADS, 1):
        body = trace_of(number, payload).SerializeToString()
        headers = {"content-type": "application/x-protobuf"}
        url = f"http://{site.daemon.http}/v1/traces"
        httpx2.post(url, content=body, headers=headers, timeout=60).raise_for_status()
    wait_for(lambda: sum(site.get("ledger")["records"].values()) >= before + len(PAYLOADS))
    _write(site)
    return site


def _hostile_records(site: Served) -> list[dict[str, str]]:
    records: list[dict[str, str]] = site.get("records", since="1h", limit=1000)["records"]
    return [record for record in records if int(record["trace_id"], 16) <= len(PAYLOADS)]


def _write(site: Served) -> None:
    """Payloads as the names of issues, notes of incidents, comments of labels, golden cases."""
    post = _poster(site)
    for place, issue in enumerate(site.get("issues")["issues"]):
        post(f"issues/{issue['issue_id']}/rename", {"name": PAYLOADS[place]})
    for place, incident in enumerate(site.get("incidents")["incidents"]):
        post(f"incidents/{incident['incident_id']}/acknowledge", {"text": PAYLOADS[40 + place]})
    for place, record in enumerate(_hostile_records(site)[:40]):
        ids = {"trace_id": record["trace_id"], "record_id": record["record_id"]}
        text = PAYLOADS[place * 5]
        post("labels", ids | {"rubric": "groundedness", "value": place % 2, "comment": text})
        post("feedback", {"trace_id": ids["trace_id"], "kind": "correction", "comment": text})
        post("deploys", {"service": text, "version": text, "description": text})
        if place < 10:
            post("golden", ids)


def _poster(site: Served) -> Callable[[str, dict[str, object]], None]:
    def post(path: str, body: dict[str, object]) -> None:
        reply = post_as_root(site, path, body)
        assert reply.status_code < 500, reply.text

    return post


@contextmanager
def watched(context: BrowserContext, site: Served) -> Iterator[tuple[Page, Seen]]:
    seen, host = Seen(), urlsplit(site.url).netloc
    page = context.new_page()
    page.on(
        "console", lambda said: seen.refused.append(said.text) if said.type == "error" else None
    )
    page.on("pageerror", lambda error: seen.failed.append(str(error)))
    page.on("dialog", lambda dialog: seen.ran.append(dialog.message))
    page.on(
        "request",
        lambda request: (
            seen.left.append(request.url)
            if urlsplit(request.url).scheme not in ("data", "blob")
            and urlsplit(request.url).netloc != host
            else None
        ),
    )
    yield page, seen
    page.close()


def test_no_script_runs_and_nothing_leaves_on_any_page(hostile: Served, enter: Enter) -> None:
    context = enter(hostile, "root")
    records = _hostile_records(hostile)
    paths = [*addresses(hostile).values()]
    paths += [f"/answers/{record['record_id']}" for record in records[::8]]
    paths += [f"/traces/{record['trace_id']}" for record in records[4::16]]
    for payload in map(quote, PAYLOADS[::20]):
        query = f"q={payload}&service={payload}&issue={payload}"
        paths += [f"/{page}?{query}" for page in ("answers", "issues", "search")]
        paths += [f"/routes?route={payload}"]
    with watched(context, hostile) as (page, seen):
        for path in paths:
            page.goto(path, wait_until="load")
            if page.evaluate("window.ran"):
                seen.ran.append(path)
    seen.refused = [line for line in seen.refused if "status of 4" not in line]
    assert seen == Seen()


def test_every_payload_is_escaped_in_the_html_of_its_own_answer(hostile: Served) -> None:
    headers = {"authorization": f"Bearer {PEOPLE['root'][1]}"}
    with httpx2.Client(headers=headers, timeout=PATIENCE_SECONDS) as session:
        for record in _hostile_records(hostile):
            html = session.get(f"{hostile.url}/answers/{record['record_id']}").text
            payload = PAYLOADS[int(record["trace_id"], 16) - 1]
            if "<" in payload:
                assert payload not in html, payload
