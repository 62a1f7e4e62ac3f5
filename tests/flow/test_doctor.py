"""What a new user's instrumentation forgets, from its spans to what `ragvigil doctor` prints."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from collector.spool.reserve import Space
from ragvigil.app.status import Status
from ragvigil.model.span import Span, SpanKind
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.pipelines import Core, llm, request, retriever, span
from tests.served_api import commands

OPENINFERENCE = "openinference.instrumentation.langchain"
KIND = "openinference.span.kind"
HIDDEN = {"input.value": "__REDACTED__", "output.value": "__REDACTED__"}
CHAIN = span("root", {KIND: "CHAIN"})
QUIET = 3.0

MISTAKES: dict[str, tuple[Sequence[Sequence[Span]], list[str], str]] = {
    "no content is captured": (
        [[
            span("root", {KIND: "CHAIN", **HIDDEN}),
            span("search", {KIND: "RETRIEVER", **HIDDEN}, parent="root"),
            span("llm", {KIND: "LLM", **HIDDEN}, parent="root"),
        ]],
        ["hidden in 100 % of answers", "OPENINFERENCE_HIDE_OUTPUTS=false"],
        "instrument the",
    ),
    "the model's span has no content": (
        [[CHAIN, retriever(), llm(answer=None, prompt=None)]],
        ["answer", "not sent in 100 % of answers", "OPENINFERENCE_HIDE_OUTPUTS=false"],
        "Instrumentor",
    ),
    "no retriever": (
        [[CHAIN, llm(prompt="Hello!")]],
        ["desk: no answer in 24 h", "✗ no span of a retriever, and no chunks in the prompts",
         "fix   instrument the retriever too"],
        "LLM client",
    ),
    "no answer": (
        [[CHAIN, retriever()]],
        ["desk: no answer in 24 h", "chain, retriever", "✗ no answer: a retriever, but neither",
         "fix   OpenAIInstrumentor().instrument()"],
        "no retrieval",
    ),
    "a trace for the retriever and one for the model": (
        [[span("root"), retriever()], [span("root"), llm(prompt="Hello!")]],
        ["✗ retriever and model are not under one span", "tracer.start_as_current_span"],
        "no chunks",
    ),
    "nothing but the web framework": (
        [[span("root", kind=SpanKind.SERVER)]],
        ["desk: no answer in 24 h", "spans    1: server", "LangChainInstrumentor().instrument()"],
        "retrieval",
    ),
}  # fmt: skip


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store)
    yield born
    await born.spool.close()


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_each_mistake_is_named_with_the_line_that_mends_it(
    core: Core, tmp_path: Path, mistake: str
) -> None:
    traces, printed, never = MISTAKES[mistake]
    for number, spans in enumerate(traces, 1):
        body = request(number, spans)
        body.resource_spans[0].resource.attributes[0].value.string_value = "desk"
        body.resource_spans[0].scope_spans[0].scope.name = OPENINFERENCE
        await core.raw(body.SerializeToString(), len(spans))
    core.pass_time(QUIET)
    status = Status(
        store=core.store,
        pipeline=core.pipeline,
        balance=core.balance,
        sections=core.parts.sections,
        needs=core.parts.runner.needs,
        space=lambda: Space(free=500, total=1000),
    )
    with commands(api(core.store, status, WebSettings()), tmp_path) as daemon:
        text = daemon.say("doctor")
        (source,) = json.loads(daemon.say("doctor", "--json"))["sources"]
    for part in printed:
        assert part in text
    assert never not in text
    assert f"from     {OPENINFERENCE}" in text
    assert source["spans"] == sum(map(len, traces))
