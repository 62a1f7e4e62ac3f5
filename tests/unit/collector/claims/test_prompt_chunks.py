"""Chunks out of prompts of many templates, and prompts that hold none."""

from __future__ import annotations

import pytest

from collector.claims.prompt_chunks import (
    context_blocks,
    marked_blocks,
    question_beside,
    question_in,
    shows_empty_context,
)

A, B = "First chunk, with 1. a number.", "Second chunk.\nIt has two lines."
ONE_LINE = "Second chunk in one line."


@pytest.mark.parametrize(
    ("prompt", "labels"),
    [
        (f"Context:\n[a-1] {A}\n[b-2] {B}\n\nQuestion: q?", ["a-1", "b-2"]),
        (f"Context:\n[1] {A}\n[2] {B}\n\nQuestion: q?", ["1", "2"]),
        (f"## Context\n1. {A}\n2. {B}\n\n## Question: q?", ["1", "2"]),
        (f"Sources:\nSource 1: {A}\nSource 2: {B}\n\nQuery: q?", ["1", "2"]),
        (f"Search results:\n\nDocument 1:\n{A}\n\nDocument 2:\n{B}\n\nQuestion: q?", ["1", "2"]),
        (f"Documents:\nSource: a.md\n{A}\nSource: b.md\n{B}\n\nQuestion: q?", ["a.md", "b.md"]),
        (f"<context>\n[1] {A}\n[2] {B}\n</context>\nq?", ["1", "2"]),
        (f"<documents><document id='a'>{A}</document><document id='b'>{B}</document></documents>",
         ["a", "b"]),
        (f"<documents>\n<document index=\"1\">\n<source>a.md</source>\n<document_content>\n{A}\n"
         f"</document_content>\n</document>\n<document index=\"2\">\n<source>b.md</source>\n"
         f"<document_content>\n{B}\n</document_content>\n</document>\n</documents>\nq?",
         ["a.md", "b.md"]),
        (f"Context information is below.\n---------------------\n{A}\n\n{B}\n"
         "---------------------\nGiven the context information, answer.\nQuery: q?", ["", ""]),
        (f"Kontext:\n[a-1] {A}\n[b-2] {B}\n\nFrage: q?", ["a-1", "b-2"]),
        (f"上下文：\n[a-1] {A}\n[b-2] {B}\n\n问题：q?", ["a-1", "b-2"]),
        (f"Use the following pieces of retrieved context:\n\n{A}\n\n{B}\n\nQuestion: q?", ["", ""]),
    ],
)  # fmt: skip
def test_blocks_are_found_in_the_template(prompt: str, labels: list[str]) -> None:
    blocks = context_blocks([prompt])
    assert [block.label for block in blocks] == labels
    assert [block.text for block in blocks] == [A, B]


def test_header_lines_of_a_node_are_not_its_text() -> None:
    prompt = (
        "Context information is below.\n---------------------\n"
        f"title: One\nfile: a.md\n\n{A}\n\ntitle: Two\nfile: b.md\n\n{ONE_LINE}\n"
        "---------------------\nQuery: q?"
    )
    assert [block.text for block in context_blocks([prompt])] == [A, ONE_LINE]


@pytest.mark.parametrize(
    "prompt",
    [
        "Say hello.",
        "You are kind.\n\nRules:\n1. Be short.\n2. Be clear.\n\nQuestion: who are you?",
        "Translate the following text:\n\nHello there.\n\nIt is late.",
        "",
    ],
)
def test_a_prompt_without_context_has_no_blocks(prompt: str) -> None:
    assert context_blocks([prompt]) == ()


def test_the_templates_question_is_the_last_one_named() -> None:
    prompt = "Context:\nQuestion: an old one?\nAnswer: x\n\nQuestion: How long?\nAnswer:"
    assert question_in(prompt) == "How long?"
    assert question_in("no template at all") is None


def test_a_label_of_a_raised_digit_is_no_number() -> None:
    assert [block.label for block in context_blocks([f"Context:\n[²] {A}\n[³] {B}\n"])] == [
        "²",
        "³",
    ]


def test_signs_that_are_no_elements_do_not_hide_the_chunks() -> None:
    prompt = f"Context:\n[a-1] {A} {'<num> ' * 500}\n[b-2] {B}\n\nQuestion: q?"
    assert [block.label for block in context_blocks([prompt])] == ["a-1", "b-2"]


def test_a_self_closed_element_is_no_chunk() -> None:
    prompt = f"<context><source id='x'/><source id='a'>{A}</source></context>"
    assert [(block.label, block.text) for block in context_blocks([prompt])] == [("a", A)]


@pytest.mark.parametrize(
    "prompt",
    [
        "Rules for citing sources:\n- Cite a source for each claim.\n- Never invent a source.",
        "When you use the provided context:\n1. Do not guess.\n2. Keep it short.\n3. Cite it.",
        "You will be given:\n- Context: the passages\n- Question: what the user asks\n\nAnswer it.",
        "[[ ## context ## ]]\n{context}\n\n[[ ## question ## ]]\n{question}",
        "Context: None\n\nQuestion: How long?",
        "Context:\n\nQuestion: How long?\nAnswer:",
        "<context>\nNo relevant documents found.\n</context>\n\nHow long?",
        "<examples><example><document id='a'>A.</document></example></examples>\nHow long?",
        f"Example:\nContext: {A * 9}\nQuestion: Why?\nAnswer: So.\n",
        f'[{{"name": "search", "description": "{A}", "parameters": {{"type": "object"}}}}]\n\nHow?',
        "Sources:\n[1] <title of the first source>\n[2] <title of the second source>",
    ],
)  # fmt: skip
def test_what_only_speaks_of_a_context_shows_none(prompt: str) -> None:
    assert context_blocks([prompt]) == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "Context: None\n\nQuestion: How long?",
        "Context:\n\nQuestion: How long?\nAnswer:",
        "Question: How long?\nContext:\n\nAnswer:",
        "Use the following context.\n\nContext:\n\n\nQuestion: How long?",
        "Context:\n[]\n\nQuestion: How long?",
        f"Example:\nContext: [x] {A}\nQuestion: r?\nAnswer: Yes.\n\n"
        "Context:\n\nQuestion: q?\nAnswer:",
        "<context>\nNo relevant documents found.\n</context>\n\nHow long?",
        "Answer from the sources.\n<sources></sources>\n<question>How long?</question>",
        "[[ ## context ## ]]\n[]\n\n[[ ## question ## ]]\nHow long?",
        '{"question": "How long?", "documents": []}',
        "Context information is below.\n---------------------\n\n---------------------\n"
        "Given the context information, answer.\nQuery: How long?",
        "上下文：\n\n问题：多久？",
    ],
)  # fmt: skip
def test_an_empty_context_is_told_from_none(prompt: str) -> None:
    assert context_blocks([prompt]) == ()
    assert shows_empty_context(["You are kind.", prompt])


@pytest.mark.parametrize(
    "prompt",
    [
        f"Context:\n[a-1] {A}\n[b-2] {B}\n\nQuestion: q?",
        f"Context:\n{A}\n\nQuestion: q?",
        "How long?",
        "Context:\n{context}\n\nQuestion: How long?",
        "Reply in this form.\n\nQuestion: How long?\nAnswer:\nSources:",
        "Answer: ...\nSources: ...\n\nQuestion: How long?",
        "Write a passage to answer the question.\n\nQuestion: How long?\nPassage:",
        "Write the sources behind the answer.\n\nSources:\n",
        "Answer what stands in <context></context> only.",
        '{"question": "How long?"}',
        "",
    ],
)
def test_a_prompt_without_an_empty_context_shows_none(prompt: str) -> None:
    assert not shows_empty_context([prompt])


@pytest.mark.parametrize(
    ("prompt", "labels"),
    [
        (f"[[ ## context ## ]]\n[1] «{A}»\n[2] «««\n    Second chunk.\n    It has two lines.\n»»»"
         "\n\n"
         "[[ ## question ## ]]\nq?", ["1", "2"]),
        (f"Use what stands in the <context> tags.\n<context>\n[a-1] {A}\n[b-2] {B}\n</context>\nq?",
         ["a-1", "b-2"]),
        (f"Context:\nDocument 1 (id: a-1): {A}\nDocument 2 (id: b-2): {B}\n\nQuestion: q?",
         ["a-1", "b-2"]),
        (f"Example:\nContext: [x] One.\nQuestion: r?\nAnswer: Yes.\n\nContext: [a-1] {A}\n"
         f"[b-2] {B}\n"
         "Question: q?\nAnswer:", ["a-1", "b-2"]),
        (f"Documents:\n[Document(id='a', page_content={A!r}), "
         f"Document(id='b', page_content={B!r})]",
         ["a", "b"]),
        (f"CONTEXT:\n[1] {A}\n[2] {B}\n\nOPEN ORDERS (by date):\nNone\n\nUSER: q?", ["1", "2"]),
        (f"Context:\n[Source 1] (file: a.md, page: 2)\n{A}\n[Source 2] (file: b.md, page: 3)\n{B}\n"
         "\n"
         "Question: q?", ["a.md", "b.md"]),
        (f"Kontext:\nTitel: Eins\nStand: heute\n{A}\n\nTitel: Zwei\nStand: heute\n{B}\n\nFrage: q?",
         ["Eins", "Zwei"]),
        (f"Passage 1: {A}\nPassage 2: {B}\n\nQuestion: q?", ["1", "2"]),
    ],
)  # fmt: skip
def test_passages_are_read_with_order_and_id(prompt: str, labels: list[str]) -> None:
    blocks = context_blocks([prompt])
    assert [block.label for block in blocks] == labels
    assert [block.text for block in blocks] == [A, B]


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("## Context\nA.\n\n## Question\nHow long?\n\n## Answer", "How long?"),
        ("<context>A.</context>\n<question>\nHow long?\n</question>", "How long?"),
        ("[[ ## context ## ]]\nA.\n\n[[ ## anliegen ## ]]\nHow long?\n\n"
         "Respond with a JSON object.",
         "How long?"),
        ('{"context": ["A."], "question": "How long?"}', "How long?"),
        ("CONTEXT:\nA.\n\nUSER: How long?\nASSISTANT:", "How long?"),
        ("上下文：A。\n\n问题：多久？", "多久？"),
    ],
)  # fmt: skip
def test_the_question_is_read_from_its_field(prompt: str, question: str) -> None:
    assert question_in(prompt) == question


def test_an_unnamed_question_stands_beside_the_documents() -> None:
    documents = f"<documents><document id='a'>{A}</document></documents>"
    assert question_beside(f"{documents}\n\nTell me how long") == "Tell me how long"
    assert question_beside(f"How long?\n\nContext:\n[1] {A}\n[2] {B}") == "How long?"


def test_json_is_no_marker_of_a_chunk() -> None:
    assert marked_blocks('["order 1 was sent", "order 2 was lost"]') == ()
