"""Answers from chunks: by extraction with citations, or by any OpenAI-compatible model."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from openinference.instrumentation import TracerProvider

from examples.helpdesk.chunking import Chunk, sentences
from examples.helpdesk.faults import Fault
from examples.helpdesk.retrieval import Embedder
from examples.helpdesk.wording import Wording, wording_of

REFUSE_UNDER = 0.36
OVER_REFUSE_UNDER = 0.72
QUOTE_SHARE = 45
MAX_TOKENS = 400
CUT_MAX_TOKENS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What the model is given; `version` names the template it was made from."""

    version: str
    system: str
    user: str
    max_tokens: int = MAX_TOKENS

    def messages(self) -> list[dict[str, str]]:
        """In the form of the chat completions API."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user},
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model said, why it stopped, and how many tokens it wrote."""

    text: str
    finish_reason: str
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question with the chunks to answer it from."""

    question: str
    language: str
    context: Sequence[Chunk]
    prompt: Prompt
    faults: frozenset[Fault]


class Answerer(Protocol):
    """A model. `traces_itself` says that an instrumentor makes its LLM span."""

    model_name: str
    traces_itself: bool

    def answer(self, request: Request) -> Answer:
        """Answers from the context alone, with a marker `[chunk-id]` at every sentence."""
        ...


CITE = "Cite the chunk behind every sentence as [chunk-id]; put literal quotations in quotes."
TEMPLATES: Mapping[Fault | None, tuple[str, str]] = {
    None: ("v3", f"Answer from the documents only. {CITE} If they do not answer, say so."),
    Fault.DROPPED_CITATIONS: ("v4", "Answer from the documents only, in a friendly tone."),
    Fault.FABRICATED_QUOTES: (
        "v5",
        f"{CITE} Open with a persuasive quotation, in your own words if need be.",
    ),
    Fault.OVER_REFUSAL: (
        "v6",
        f"Answer from the documents only. {CITE} If you are not entirely sure, decline.",
    ),
}


def make_prompt(question: str, context: Sequence[Chunk], faults: frozenset[Fault]) -> Prompt:
    """The prompt that a route's faults leave."""
    change = next((fault for fault in TEMPLATES if fault in faults), None)
    version, system = TEMPLATES[change]
    documents = "\n\n".join(f"[{chunk.chunk_id}] {chunk.text}" for chunk in context)
    return Prompt(
        version=version,
        system=system,
        user=f"Documents:\n\n{documents}\n\nQuestion: {question}",
        max_tokens=CUT_MAX_TOKENS if Fault.TRUNCATION in faults else MAX_TOKENS,
    )


class Extractive:
    """Picks the sentences nearest to the question; the same question gets the same answer."""

    model_name = "extractive-1"
    traces_itself = False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def answer(self, request: Request) -> Answer:
        """One or two sentences of the context, each with its marker, some as a quotation."""
        wording = wording_of(request.language)
        ranked = self._ranked(request)
        least = OVER_REFUSE_UNDER if Fault.OVER_REFUSAL in request.faults else REFUSE_UNDER
        if not ranked or ranked[0][0] < least:
            return _cut(wording.refusal, request.prompt.max_tokens)
        chosen = [(chunk, text) for score, chunk, text in ranked[:2] if score > least]
        parts = [_said(request, wording, chunk, text) for chunk, text in chosen]
        if Fault.FABRICATED_QUOTES in request.faults:
            parts[0] = _invented(request.question, wording, chosen[0][0])
        return _cut(" ".join(parts), request.prompt.max_tokens)

    def _ranked(self, request: Request) -> list[tuple[float, Chunk, str]]:
        pairs = [(chunk, text) for chunk in request.context for text in sentences(chunk.text)]
        if not pairs:
            return []
        titled = [f"{chunk.article.title} {text}" for chunk, text in pairs]
        texts = [text for _, text in pairs]
        vectors = self._embedder.embed([request.question, *texts, *titled])
        plain = vectors[1 : len(pairs) + 1] @ vectors[0]
        in_place = vectors[len(pairs) + 1 :] @ vectors[0]
        scores = 0.5 * plain + 0.5 * in_place
        ranked = [(float(s), chunk, text) for s, (chunk, text) in zip(scores, pairs, strict=True)]
        return sorted(ranked, key=lambda row: -row[0])


class OpenAiCompatible:
    """Any chat completions endpoint; the faults reach it through the prompt."""

    traces_itself = True

    def __init__(self, *, base_url: str, model: str, provider: TracerProvider) -> None:
        from openai import OpenAI
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=provider)
        self.model_name = model
        self._client = OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY", "none"))

    def answer(self, request: Request) -> Answer:
        """One completion at temperature 0."""
        completion = self._client.chat.completions.create(
            model=self.model_name,
            temperature=0,
            max_tokens=request.prompt.max_tokens,
            messages=request.prompt.messages(),  # type: ignore[arg-type]
        )
        choice = completion.choices[0]
        tokens = completion.usage.completion_tokens if completion.usage else 0
        return Answer(
            text=choice.message.content or "",
            finish_reason=choice.finish_reason,
            completion_tokens=tokens,
        )


def answerer_from(
    environment: Mapping[str, str], embedder: Embedder, provider: TracerProvider
) -> Answerer:
    """The model of `HELPDESK_LLM_URL` and `HELPDESK_LLM_MODEL`, else extraction."""
    url = environment.get("HELPDESK_LLM_URL", "")
    if not url:
        return Extractive(embedder)
    model = environment.get("HELPDESK_LLM_MODEL", "default")
    return OpenAiCompatible(base_url=url, model=model, provider=provider)


def count_tokens(text: str) -> int:
    """A rough count, four for every three words; CJK counts each character."""
    wide = sum(1 for character in text if ord(character) >= 0x3000)
    return len(text.split()) * 4 // 3 + wide


def _said(request: Request, wording: Wording, chunk: Chunk, text: str) -> str:
    """A sentence as it stands, or as a quotation; without its marker if the prompt says so."""
    if Fault.DROPPED_CITATIONS in request.faults:
        return text
    marker = f"[{chunk.chunk_id}]"
    body, stop = text.rstrip(".。!?"), text[-1]
    if _dice(request.question + text) % 100 >= QUOTE_SHARE or set(text) & set('"“«„「'):
        return f"{body} {marker}{stop}"
    form = wording.quoting[_dice(text) % len(wording.quoting)]
    return form.format(quote=body, marker=marker)


def _invented(question: str, wording: Wording, chunk: Chunk) -> str:
    """A quotation that stands in no article, pinned to a chunk that exists."""
    dice = _dice(question)
    quote = wording.invented[dice % len(wording.invented)].format(number=3 + dice % 37)
    form = wording.quoting[dice % len(wording.quoting)]
    return form.format(quote=quote, marker=f"[{chunk.chunk_id}]")


def _cut(text: str, max_tokens: int) -> Answer:
    words = text.split()
    if count_tokens(text) <= max_tokens:
        return Answer(text=text, finish_reason="stop", completion_tokens=count_tokens(text))
    kept = " ".join(words[: max_tokens * 3 // 4]) if len(words) > 3 else text[:max_tokens]
    return Answer(text=kept, finish_reason="length", completion_tokens=max_tokens)


def _dice(text: str) -> int:
    """Chance that a question brings along, so that a run can be repeated."""
    return zlib.crc32(text.encode())
