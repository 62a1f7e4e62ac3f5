"""A server that refuses a form of reply is asked in a looser one, and read just as strictly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.client import Client
from ragvigil.llm.outcome import Failure, FailureKind, Purpose, Reply
from ragvigil.llm.reply_form import ENOUGH, FIRST_REST, ReplyForm, ReplyForms, names_the_form
from ragvigil.llm.spending import Pot
from tests.llm_server import Fault, LlmServer
from tests.unit.ragvigil.llm.test_client import GOOD, MODELS, Grades, asking, failure

SCHEMA, OBJECT, TEXT = ReplyForm.JSON_SCHEMA, ReplyForm.JSON_OBJECT, ReplyForm.TEXT
STRICT, JSON = ("json_schema",), ("json_schema", "json_object")
LLAMA_CPP = (
    "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should "
    "be 'text' or 'json_object'\", 'input': 'json_schema'}]"
)
LM_STUDIO = b"{\"error\": \"'response_format.type' must be 'text'\"}"
REFUSALS = [
    (Fault(status=500, message=LLAMA_CPP, refuses=STRICT), ["json_schema", "json_object"]),
    (
        Fault(
            status=400,
            code="invalid_request_error",
            message="This response_format type is unavailable now",
            refuses=STRICT,
        ),
        ["json_schema", "json_object"],
    ),
    (
        Fault(status=422, message="guided_json: extra fields not permitted", refuses=JSON),
        ["json_schema", "json_object", "text"],
    ),
    (Fault(status=400, body=LM_STUDIO, refuses=JSON), ["json_schema", "json_object", "text"]),
]


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer(lambda _: GOOD) as listening:
        yield listening


def forms(server: LlmServer) -> list[str]:
    return [call.form for call in server.calls]


async def reply(client: Client) -> Reply[Grades]:
    outcome = await client.ask("Is it so?", Grades, Purpose.SAMPLE)
    assert isinstance(outcome, Reply), outcome
    return outcome


@pytest.mark.parametrize(("fault", "asked"), REFUSALS, ids=str)
async def test_a_refused_form_is_asked_for_in_a_looser_one_and_the_way_is_remembered(
    server: LlmServer, fault: Fault, asked: list[str]
) -> None:
    server.every = fault
    async with asking(server, retries=0, breaker_failures=1) as client:
        first, second = await reply(client), await reply(client)
    assert forms(server) == [*asked, asked[-1]]
    assert (first.attempts, second.attempts) == (len(asked), 1)
    assert first.answer == Grades(verdicts=["yes"], score=0.5)
    assert first.usage.input_tokens + first.usage.output_tokens == server.tokens // 2
    assert server.calls[-1].prompt.startswith("Is it so?\n\nReply with one JSON object that fits")
    assert '"required": ["verdicts", "score"]' in server.calls[-1].prompt


@pytest.mark.parametrize("form", ["json_object", "text"])
@pytest.mark.parametrize(
    ("text", "kind", "calls"),
    [
        ("It is so, I would say 0.5.", FailureKind.UNPARSEABLE, 2),
        ('{"score": 0.5}', FailureKind.UNPARSEABLE, 2),
        (GOOD + GOOD, FailureKind.UNPARSEABLE, 2),
        (GOOD.replace("0.5", '"0.5"'), FailureKind.UNPARSEABLE, 2),
        (GOOD.replace("0.5", "11"), FailureKind.INVALID, 1),
        (GOOD.replace("0.5", "NaN"), FailureKind.INVALID, 1),
    ],
)
async def test_a_reply_in_a_looser_form_is_read_by_the_same_rules(
    server: LlmServer, form: str, text: str, kind: FailureKind, calls: int
) -> None:
    server.every = Fault(text=text)
    async with asking(server, reply_form=form) as client:
        outcome = await failure(client)
    assert (outcome.kind, outcome.attempts) == (kind, calls)
    assert forms(server) == [form] * calls


@pytest.mark.parametrize("form", list(ReplyForm))
async def test_a_chosen_form_is_the_only_one(server: LlmServer, form: ReplyForm) -> None:
    server.every = Fault(status=400, message="no such response_format")
    async with asking(server, reply_form=form.value, retries=3) as client:
        outcome = await failure(client)
    assert forms(server) == [form]
    assert (outcome.kind, outcome.attempts) == (FailureKind.REJECTED, 1)
    assert outcome.detail.endswith("the server refuses this form of reply (reply_form)")


@pytest.mark.parametrize("model", MODELS[1:])
async def test_another_protocol_falls_back_to_text(server: LlmServer, model: str) -> None:
    server.faults = [Fault(status=400, message="output_config.format: tool_choice: not known")]
    async with asking(server, model=model) as client:
        assert (await reply(client)).attempts == 2
    strict, loose = (call.body for call in server.calls)
    assert "tools" in strict or "output_config" in strict
    assert "tools" not in loose
    assert "output_config" not in loose


async def test_a_failure_without_a_reason_is_laid_to_the_form_after_three_in_a_row(
    server: LlmServer,
) -> None:
    server.every = Fault(status=500, message="Internal Server Error", refuses=STRICT)
    async with asking(server, retries=3) as client:
        first, second = await reply(client), await reply(client)
    assert forms(server) == ["json_schema"] * ENOUGH + ["json_object"] * 2
    assert (first.attempts, second.attempts) == (ENOUGH + 1, 1)


async def test_an_outage_of_a_server_that_knew_the_form_changes_nothing(server: LlmServer) -> None:
    async with asking(server, retries=0) as client:
        await reply(client)
        server.faults = [Fault(status=500)] * 7
        for _ in range(7):
            await failure(client)
        await reply(client)
    assert set(forms(server)) == {"json_schema"}


async def test_a_schema_that_alone_is_refused_leaves_the_others_their_form(
    server: LlmServer,
) -> None:
    async with asking(server) as client:
        await reply(client)
        server.faults = [Fault(status=400, message="invalid schema for response_format 'answer'")]
        assert (await reply(client)).attempts == 2
        await reply(client)
    assert forms(server) == ["json_schema", "json_schema", "json_object", "json_schema"]


async def test_words_of_the_prompt_that_an_error_repeats_are_no_refusal(server: LlmServer) -> None:
    server.every = Fault(status=400, message="cannot read: how is a response_format written?")
    async with asking(server) as client:
        outcome = await client.ask("how is a response_format written?", Grades, Purpose.SAMPLE)
    assert isinstance(outcome, Failure)
    assert forms(server) == ["json_schema"]


async def test_many_at_a_time_find_the_form_and_lose_no_verdict(server: LlmServer) -> None:
    server.every = Fault(status=500, message=LLAMA_CPP, refuses=JSON)
    async with asking(server, concurrency=32, breaker_failures=3) as client:
        await asyncio.gather(*(reply(client) for _ in range(100)))
    assert forms(server).count("text") == 100
    assert len(server.calls) <= 100 + 2 * 32


async def test_refused_attempts_cost_nothing_of_the_budget(server: LlmServer) -> None:
    server.every = Fault(status=500, message=LLAMA_CPP, refuses=STRICT)
    async with asking(server, daily_tokens=40_000) as client:
        for _ in range(5):
            await reply(client)
        spent = client.budget.spent(Pot.SAMPLE).tokens
    assert 0 < spent == server.tokens


def test_a_form_that_was_left_is_tried_again_after_ever_more_replies() -> None:
    forms = ReplyForms(list(ReplyForm))
    trials = []
    for number in range(FIRST_REST * 8):
        if forms.first is SCHEMA:
            trials.append(number)
            forms.failed(SCHEMA, is_named=True)
        forms.worked(OBJECT)
    assert trials == [0, FIRST_REST, 3 * FIRST_REST, 7 * FIRST_REST]
    forms.worked(SCHEMA)
    assert forms.first is SCHEMA


@given(
    allowed=st.sampled_from([tuple(ReplyForm), (SCHEMA, TEXT), (TEXT,)]),
    steps=st.lists(st.tuples(st.sampled_from(list(ReplyForm)), st.sampled_from("wnu"))),
)
def test_whatever_happens_there_is_a_form_and_the_one_that_worked_last_is_not_left(
    allowed: tuple[ReplyForm, ...], steps: list[tuple[ReplyForm, str]]
) -> None:
    forms = ReplyForms(allowed)
    for form, what in steps:
        if form not in allowed:
            continue
        if what == "w":
            forms.worked(form)
            assert allowed.index(forms.first) <= allowed.index(form)
        else:
            forms.failed(form, is_named=what == "n")
        assert forms.first in allowed


@given(prompt=st.text())
def test_an_error_that_only_repeats_the_prompt_names_no_form(prompt: str) -> None:
    assert not names_the_form(f"cannot read: {prompt}", prompt)
