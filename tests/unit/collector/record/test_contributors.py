"""Chunks that an answer draws on through the replies of other models are its context."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.span import SpanKind
from tests.traces import DOCUMENTS, QUESTION, llm, retriever, span, trace

FIRST, SECOND = (text for _, text in DOCUMENTS[:2])
IDS = [identifier for identifier, _ in DOCUMENTS[:2]]
DRAFTS = ("Thirty days, says the first text.", "Vouchers are sent again, says the second.")
ROOT = span("root", {"openinference.span.kind": "CHAIN", "input.value": QUESTION})
FOUND = retriever(documents=DOCUMENTS[:2])


def prompts(*drafts: str) -> str:
    return "Write one answer of these:\n" + "\n".join(drafts)


def context(*spans):  # type: ignore[no-untyped-def]
    (record,) = records(trace(ROOT, FOUND, *spans))
    return [document.chunk_id for document in record.context]


def test_a_map_reduce_chain_read_what_each_of_its_maps_was_shown() -> None:
    assert context(
        llm("m1", DRAFTS[0], prompt=FIRST, at=(0.3, 0.4)),
        llm("m2", DRAFTS[1], prompt=SECOND, at=(0.3, 0.5)),
        llm("reduce", "Thirty days; vouchers again.", prompt=prompts(*DRAFTS), at=(0.6, 0.9)),
    ) == IDS  # fmt: skip


def test_a_chain_that_refines_read_what_it_was_shown_before() -> None:
    last = f"Existing answer: {DRAFTS[0]}\nMore context: {SECOND}"
    assert context(
        llm("first", DRAFTS[0], prompt=FIRST, at=(0.3, 0.4)),
        llm("refine", "Thirty days; vouchers again.", prompt=last, at=(0.5, 0.9)),
    ) == IDS  # fmt: skip


def test_a_draft_may_be_a_message_of_the_assistant() -> None:
    messages = [("user", QUESTION), ("assistant", DRAFTS[0]), ("user", f"Refine: {SECOND}")]
    rows = {
        f"llm.input_messages.{at}.message.{name}": value
        for at, message in enumerate(messages)
        for name, value in zip(("role", "content"), message, strict=True)
    }
    assert context(
        llm("first", DRAFTS[0], prompt=FIRST, at=(0.3, 0.4)),
        llm("refine", "Thirty days; vouchers again.", prompt=None, extra=rows, at=(0.5, 0.9)),
    ) == IDS  # fmt: skip


def test_a_draft_of_a_draft_counts_too() -> None:
    assert context(
        llm("m1", DRAFTS[0], prompt=FIRST, at=(0.3, 0.4)),
        llm("m2", DRAFTS[1], prompt=prompts(DRAFTS[0]) + SECOND, at=(0.4, 0.5)),
        llm("last", "Thirty days; again.", prompt=prompts(DRAFTS[1]), at=(0.6, 0.9)),
    ) == IDS  # fmt: skip


def test_an_output_that_lists_several_replies_draws_on_all_of_them() -> None:
    output = f"Response 1: {DRAFTS[0]}\nResponse 2: {DRAFTS[1]}"
    root = span("root", {"openinference.span.kind": "CHAIN", "output.value": output})
    (record,) = records(
        trace(
            root,
            FOUND,
            llm("m1", DRAFTS[0], prompt=FIRST, at=(0.3, 0.4)),
            llm("m2", DRAFTS[1], prompt=SECOND, at=(0.4, 0.5)),
        )
    )
    assert record.answer == output
    assert [document.chunk_id for document in record.context] == IDS


@pytest.mark.parametrize("reply", ["yes", "Not relevant"])
def test_a_grade_of_a_chunk_does_not_bring_it_into_the_context(reply: str) -> None:
    answered = llm("answer", "Thirty days, yes. Not relevant.", prompt=FIRST + reply, at=(0.6, 0.9))
    assert context(llm("grade", reply, prompt=SECOND, at=(0.3, 0.4)), answered) == IDS[:1]


def test_the_answer_to_an_earlier_question_brings_no_chunks_into_the_context() -> None:
    messages = [("user", "Before?"), ("assistant", DRAFTS[0]), ("user", f"{SECOND}\n{QUESTION}")]
    rows = {
        f"llm.input_messages.{at}.message.{name}": value
        for at, message in enumerate(messages)
        for name, value in zip(("role", "content"), message, strict=True)
    }
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            retriever("before", documents=DOCUMENTS[:1], query="Before?", at=(0.1, 0.2)),
            llm("first", DRAFTS[0], prompt=FIRST, at=(0.2, 0.3)),
            retriever(documents=DOCUMENTS[1:2], at=(0.4, 0.5)),
            llm("second", "Vouchers, again.", prompt=None, extra=rows, at=(0.5, 0.9)),
        )
    )
    assert [document.chunk_id for document in record.context] == IDS[1:]


def test_chunks_reach_an_agent_through_the_reply_of_a_model_inside_of_its_tool() -> None:
    tool = {"openinference.span.kind": "TOOL", "tool.name": "ask_shop", "output.value": DRAFTS[0]}
    guard = {"openinference.span.kind": "GUARDRAIL"}
    asked = f"{QUESTION}\n{DRAFTS[0]}\n{DRAFTS[1]}"
    (record,) = records(
        trace(
            span("root", {"openinference.span.kind": "AGENT", "input.value": QUESTION}),
            span("tool", tool, parent="root", at=(0.1, 0.5)),
            retriever(documents=DOCUMENTS[:2], parent="tool", at=(0.1, 0.2)),
            llm("inner", DRAFTS[0], prompt=FIRST, parent="tool", at=(0.3, 0.5)),
            span("guard", guard, parent="tool", at=(0.3, 0.5)),
            llm("check", DRAFTS[1], prompt=SECOND, parent="guard", at=(0.3, 0.5)),
            llm("last", "You have thirty days.", prompt=asked, at=(0.6, 0.9)),
        )
    )
    assert record.answer == "You have thirty days."
    assert [document.chunk_id for document in record.context] == IDS[:1]
