"""Prompts of many layouts with the chunks that they show, and prompts that show none."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.rig.report import SAMPLES
from ragvigil.model.span import AttributeValue, Closed, Span, Trace

HERE = Path(__file__).parent
TOPICS = ("refund", "shipping", "account", "warranty", "returns", "billing", "delivery", "privacy")
SHAPES = {
    "any": ("plain", "lines", "paragraphs", "steps", "note", "heading", "remark"),
    "paragraphs": ("plain", "lines", "paragraphs", "note"),
    "paragraph": ("plain",),
    "line": ("plain",),
}
"""What the texts of a layout may be: a list without marks cannot hold paragraphs."""

Messages = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A chunk as a retriever returns it."""

    id: str
    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The messages of a call, and what they show; `ids` is empty where the layout has none."""

    layout: str
    messages: Messages
    question: str
    chunks: tuple[Chunk, ...]
    ids: tuple[str, ...]


def layouts(file: str) -> list[dict[str, Any]]:
    """The layouts of a file in this folder."""
    listed: list[dict[str, Any]] = tomllib.loads((HERE / file).read_text(encoding="utf-8"))[
        "layout"
    ]
    return listed


def prompt(layout: Mapping[str, Any], rng: random.Random) -> Prompt:
    """A prompt in this layout with 1 to 8 chunks."""
    shape = layout.get("shape", "any")
    needs_two = shape != "any" and "ids" not in layout  # a single text without a mark is a remark
    chunks = [chunk(shape, rng, number) for number in range(rng.randint(1 + needs_two, 8))]
    question = rng.choice(_questions())
    if "data" in layout:
        shown = DATA[layout["data"]](chunks, question)
    else:
        parts = [_filled(layout["chunk"], chunk, n) for n, chunk in enumerate(chunks)]
        shown = layout.get("between", "\n").join(parts)
    messages = [("system", layout["system"])] if "system" in layout else []
    if layout.get("turns"):
        messages += _turns(layout, rng)
    messages += [("user", layout[key]) for key in ("user", "second") if key in layout]
    named = layout.get("ids")
    return Prompt(
        layout=layout["name"],
        messages=[(role, text.replace("{question}", question).replace("{chunks}", shown))
                  for role, text in messages],
        question=question, chunks=tuple(chunks),
        ids=tuple(getattr(chunk, named) for chunk in chunks) if named else (),
    )  # fmt: skip


def _turns(layout: Mapping[str, Any], rng: random.Random) -> list[tuple[str, str]]:
    """An earlier question with chunks of its own, and its answer."""
    earlier = prompt({**layout, "turns": False}, rng)
    return [*earlier.messages, ("assistant", "That is in the first source.")]


def _filled(template: str, chunk: Chunk, number: int) -> str:
    values = {"n": str(number + 1), "z": str(number), "id": chunk.id, "source": chunk.source,
              "title": chunk.source.partition(".")[0].title()}  # fmt: skip
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template.replace("{text}", chunk.text)


def chunk(shape: str, rng: random.Random, number: int) -> Chunk:
    """A chunk with an id and a source that no other chunk of its prompt has."""
    topic = rng.choice(TOPICS)
    own = rng.choice((f"{topic}-{number:02d}", f"kb/{topic}.md#{number}", f"DOC_{topic}_{number}"))
    text = TEXTS[rng.choice(SHAPES[shape])](rng)
    return Chunk(id=own, source=f"{topic}-{number}.{rng.choice(('md', 'pdf', 'html'))}", text=text)


@cache
def _passages() -> list[str]:
    lines = (SAMPLES / "data" / "citation_passages.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


@cache
def _questions() -> list[str]:
    lines = (SAMPLES / "data" / "banking77.jsonl").read_text(encoding="utf-8").splitlines()
    return [" ".join(json.loads(line)["question"].split()) for line in lines]


def _plain(rng: random.Random) -> str:
    return rng.choice(_passages())


TEXTS = {
    "plain": _plain,
    "lines": lambda rng: f"{_plain(rng)}\n{_plain(rng)}",
    "paragraphs": lambda rng: f"{_plain(rng)}\n\n{_plain(rng)}",
    "steps": lambda rng: f"{_plain(rng)}\n1. Open the app.\n2. Choose the order.\n3. Confirm.",
    "note": lambda rng: f"{_plain(rng)}\nNote: this does not hold for gift cards.",
    "heading": lambda rng: f"# Returns and refunds\n{_plain(rng)}",
    "remark": lambda rng: rng.choice(("Support answers on weekdays.", "Ships in 3 days.")),
}


def _data_rows(chunks: Sequence[Chunk]) -> list[dict[str, str]]:
    return [{"id": chunk.id, "text": chunk.text} for chunk in chunks]


def _dumped(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _quoted(text: str) -> str:
    inner = text.replace("\n", "\n    ")
    return f"«{text}»" if "\n" not in text else f"«««\n    {inner}\n»»»"


def _table(chunks: Sequence[Chunk]) -> str:
    rows = "".join(f"\n| {chunk.id} | {chunk.text} |" for chunk in chunks)
    return f"| id | text |\n|----|------|{rows}"


DATA = {
    "json": lambda chunks, _: _dumped(_data_rows(chunks)),
    "json indented": lambda chunks, _: _dumped(_data_rows(chunks), 2),
    "json lines": lambda chunks, _: "\n".join(map(_dumped, _data_rows(chunks))),
    "json object": lambda chunks, question: _dumped(
        {"question": question, "context": _data_rows(chunks)}
    ),
    "json texts": lambda chunks, _: _dumped([chunk.text for chunk in chunks]),
    "repr of texts": lambda chunks, _: repr([chunk.text for chunk in chunks]),
    "repr of documents": lambda chunks, _: "[" + ", ".join(
        f"Document(id={chunk.id!r}, metadata={{'source': {chunk.source!r}}}, "
        f"page_content={chunk.text!r})"
        for chunk in chunks) + "]",
    "table": lambda chunks, _: _table(chunks),
    "quoted": lambda chunks, _: _quoted(chunks[0].text) if len(chunks) == 1 else "\n".join(
        f"[{n}] {_quoted(chunk.text)}" for n, chunk in enumerate(chunks, start=1)),
}  # fmt: skip


def without_context(rng: random.Random) -> Iterator[tuple[str, Messages, bool]]:
    """A prompt of each kind that shows no chunk, with other questions and texts.

    By its name; the last is whether it has a context, which is empty.
    """
    listed = tomllib.loads((HERE / "prompts_without_context.toml").read_text(encoding="utf-8"))
    for kind in listed["prompt"]:
        values = {"question": rng.choice(_questions()), "other": rng.choice(_questions()),
                  "passage": _plain(rng), "second": _plain(rng)}  # fmt: skip
        messages = []
        for message in kind["messages"]:
            role, text = message["role"], message["text"]
            for name, value in values.items():
                text = text.replace(f"{{{name}}}", value)
            messages.append((role, text))
        yield kind["name"], messages, kind.get("has_empty_context", False)


def call(messages: Messages, answer: str = "Within 30 days of delivery.") -> Trace:
    """A trace of a model call with these messages alone."""
    attributes: dict[str, AttributeValue] = {"openinference.span.kind": "LLM"}
    for number, (role, content) in enumerate(messages):
        attributes[f"llm.input_messages.{number}.message.role"] = role
        attributes[f"llm.input_messages.{number}.message.content"] = content
    attributes["llm.output_messages.0.message.role"] = "assistant"
    attributes["llm.output_messages.0.message.content"] = answer
    model = Span(trace_id="ab" * 16, span_id="model", name="chat", attributes=attributes,
                 start_unix_nano=1, end_unix_nano=2)  # fmt: skip
    return Trace(trace_id=model.trace_id, spans=(model,), closed=Closed.IDLE, received_unix_nano=1)
