"""In scripts without spaces between words a long answer is not one word."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.span import SpanKind
from tests.traces import llm, retriever, span, trace

HANDLER = span("root", kind=SpanKind.SERVER)
ENGLISH = "Within thirty days of delivery you can ask for a refund."
CHINESE = "您可以在收货后三十天内申请退款，运费由我们承担，款项退回原卡，通常需要五个工作日。"
CHUNKS = (
    ("a", "客户可以在收货后三十天内申请全额退款。"),
    ("b", "标准运费为三欧元，满五十欧元免运费。"),
)


def answer(first: str, prompt: str, reply: str) -> str | None:
    """The answer of a handler with two models, the second of which is shown the first's reply."""
    (record,) = records(
        trace(
            HANDLER,
            retriever(documents=CHUNKS),
            llm("first", first, prompt=CHUNKS[0][1], at=(0.3, 0.5)),
            llm("second", reply, prompt=prompt, at=(0.6, 0.9)),
        )
    )
    return record.answer


@pytest.mark.parametrize(
    "reply", ["您可以在收货后三十天内申请退款。", "配達後三十日以内なら返金できます。"]
)
def test_a_translation_is_the_answer(reply: str) -> None:
    assert answer(ENGLISH, f"Translate:\n{ENGLISH}", reply) == reply


def test_a_shorter_form_is_the_answer() -> None:
    assert answer(CHINESE, f"请缩短：\n{CHINESE}", "三十天内") == "三十天内"


def test_json_with_a_whole_sentence_is_no_grade() -> None:
    reply = '{"正文": "本店接受无理由退货并承担往返的全部邮寄费用"}'
    assert answer(CHINESE, f"请改写：\n{CHINESE}", reply) != CHINESE


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("答案有依据吗？", "有依据"),
        ("答案有依据吗？", "否"),
        ("请为这段对话写一个标题：", "申请全额退款的期限与条件"),
    ],
)
def test_a_grade_and_a_title_are_not(prompt: str, reply: str) -> None:
    assert answer(CHINESE, f"{prompt}\n{CHINESE}", reply) == CHINESE


def test_drafts_that_an_answer_combines_bring_their_chunks_into_the_context() -> None:
    drafts = ("第一段说的是收货后三十天内可以退款", "第二段说的是满五十欧元免收运费")
    (record,) = records(
        trace(
            HANDLER,
            retriever(documents=CHUNKS),
            llm("m1", drafts[0], prompt=CHUNKS[0][1], at=(0.3, 0.4)),
            llm("m2", drafts[1], prompt=CHUNKS[1][1], at=(0.3, 0.5)),
            llm("last", CHINESE, prompt="\n".join(drafts), at=(0.6, 0.9)),
        )
    )
    assert [document.chunk_id for document in record.context] == ["a", "b"]


def test_each_question_of_a_handler_has_its_answer() -> None:
    asked = ("多久之内可以申请退款？", "标准运费是多少欧元？")
    said = ("收货后三十天之内。", "三欧元。")
    found = [
        step
        for at, (question, reply) in enumerate(zip(asked, said, strict=True))
        for step in (
            retriever(f"r{at}", CHUNKS[at : at + 1], query=question, at=(at, at + 0.1)),
            llm(f"m{at}", reply, prompt=f"{CHUNKS[at][1]}\n{question}", at=(at + 0.2, at + 0.5)),
        )
    ]
    assert [(r.query, r.answer) for r in records(trace(HANDLER, *found))] == list(
        zip(asked, said, strict=True)
    )
