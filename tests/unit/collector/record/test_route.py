"""Routes: whose name, made of few distinct names, under the user's own rules first."""

from __future__ import annotations

import re

import pytest

from collector.record.build import records
from collector.record.route import OTHER, RouteCap, RouteRules, templated
from ragvigil.model.span import AttributeValue, SpanKind
from tests.traces import llm, retriever, span, trace


def route_of(attributes: dict[str, AttributeValue], name: str = "root",
             kind: SpanKind = SpanKind.SERVER, rules: RouteRules | None = None) -> str:  # fmt: skip
    root = span(name, attributes, kind=kind, span_id="root")
    (record,) = records(trace(root, retriever(), llm()), rules or RouteRules())
    return record.route


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/orders/1234/items", "/orders/{number}/items"),
        ("/v1/ask", "/v1/ask"),
        ("/api/v2.1/ask", "/api/v2.1/ask"),
        ("/u/ann@example.org", "/u/{email}"),
        ("/c/92dbf133-442a-412c-b9a3-c166e7f3dd2f/turn", "/c/{uuid}/turn"),
        ("Crew_92dbf133-4420-412c-b9a3-c166e7f3dd2f.kickoff", "Crew_{uuid}.kickoff"),
        ("/b/5f1d7a84db1d2f0a9c3e", "/b/{hex}"),
        ("/day/2026-08-01", "/day/{date}"),
        ("/day/2026-08-01T10:00:00Z/x", "/day/{date}/x"),
        ("/s/cus_9xKq2LmPz81aBcDe", "/s/{id}"),
        ("answer_question", "answer_question"),
        ("chat gpt-4o-mini", "chat gpt-4o-mini"),
        ("job 42 of 1,300", "job {number} of {number}"),
        ("/tenants/{tenant}/ask", "/tenants/{tenant}/ask"),
    ],
)
def test_ids_numbers_dates_and_addresses_become_templates(name: str, expected: str) -> None:
    assert templated(name) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"ragvigil.route": "mine", "http.route": "/ask"}, "mine"),
        ({"http.route": "/ask", "url.path": "/ask?x=1"}, "/ask"),
        ({"url.path": "/ask/77"}, "/ask/{number}"),
        ({"http.target": "/ask?q=secret"}, "/ask"),
        ({"http.url": "https://host/ask/9?q=1"}, "/ask/{number}"),
        ({"rpc.service": "Help", "rpc.method": "Ask"}, "Help/Ask"),
        ({"messaging.destination.name": "questions"}, "questions"),
        ({"traceloop.workflow.name": "help_flow"}, "help_flow"),
        ({"gen_ai.workflow.name": "flow"}, "flow"),
        ({"gen_ai.agent.name": "helper"}, "helper"),
    ],
)
def test_the_route_is_the_best_name_that_there_is(
    attributes: dict[str, AttributeValue], expected: str
) -> None:
    assert route_of(attributes) == expected


def test_the_root_spans_name_is_the_last_resort() -> None:
    assert route_of({}, name="answer 4711", kind=SpanKind.INTERNAL) == "answer {number}"


def test_the_nearest_server_is_the_route_and_the_outermost_the_entry() -> None:
    spans = (
        span("edge", {"http.route": "/site"}, kind=SpanKind.SERVER, at=(0, 2)),
        span("call", kind=SpanKind.CLIENT, parent="edge", at=(0, 2)),
        span("api", {"http.route": "/ask"}, kind=SpanKind.SERVER, parent="call", service="rag"),
        retriever(parent="api"),
        llm(parent="api"),
    )
    (record,) = records(trace(*spans))
    assert (record.route, record.entry_route, record.service) == ("/ask", "/site", "rag")


def test_the_users_rules_come_first() -> None:
    rules = RouteRules(rules=((re.compile(r"/shop/(\w+)/.*"), r"/shop/{any}/\1"),))
    assert route_of({"http.route": "/shop/de/12/x"}, rules=rules) == "/shop/{any}/de"
    assert route_of({"http.route": "/other/12"}, rules=rules) == "/other/{number}"


def test_a_service_has_at_most_so_many_routes() -> None:
    cap = RouteCap(limit=2)
    assert [cap.admit("shop", name) for name in ("/a", "/b", "/c", "/a")] == [
        "/a", "/b", OTHER, "/a"]  # fmt: skip
    assert cap.admit("other", "/c") == "/c"


def test_what_another_cap_has_admitted_is_admitted_while_there_is_room() -> None:
    cap = RouteCap(limit=2)
    cap.admit("shop", "/a")
    other = cap.copy()
    assert other.admit("shop", "/b") == "/b"
    assert cap.take(other)
    assert cap.admit("shop", "/b") == "/b"
    third = RouteCap(limit=2)
    third.admit("shop", "/c")
    assert not cap.take(third)
    assert cap.admit("shop", "/c") == OTHER
