"""The facts about stacks hold for what their instrumentors really sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rig.captures import load
from collector.claims.registry import registered
from collector.doctor.fixes import name_of
from collector.doctor.stacks import FIELDS, Stack, stacks
from collector.record.build import records

GOLDEN = Path(__file__).parents[3] / "golden" / "otlp"
CAPTURED = {
    "oi-langchain": ("openinference.instrumentation.langchain", "openinference"),
    "oi-llamaindex": ("openinference.instrumentation.llama_index", "openinference"),
    "oi-haystack": ("openinference.instrumentation.haystack", "openinference"),
    "ollm-langchain": ("opentelemetry.instrumentation.langchain", "openllmetry"),
    "ollm-openai-chroma": ("opentelemetry.instrumentation.chromadb", "openllmetry"),
    "langfuse-langchain": ("langfuse-sdk", "langfuse"),
    "mlflow-langchain": ("mlflow.tracing.provider", "mlflow"),
    "vercel-ai-json": ("ai", "vercel_ai"),
    "pydantic-ai": ("pydantic-ai", "pydantic_ai"),
    "traceai-langchain": ("traceai_langchain", "traceai"),
    "genkit": ("genkit-tracer", "genkit"),
    "mastra": ("@mastra/otel-exporter", "mastra"),
    "oi-anthropic": ("openinference.instrumentation.anthropic", "openinference"),
    "oi-crewai": ("openinference.instrumentation.crewai", "openinference"),
    "oi-gemini": ("openinference.instrumentation.google_genai", "openinference"),
    "oi-openai-agents": ("openinference.instrumentation.openai_agents", "openinference"),
    "litellm-otel": ("litellm", "litellm"),
    "ag2": ("opentelemetry.instrumentation.ag2", "otel_genai"),
    "oi-autogen": ("openinference.instrumentation.autogen_agentchat", "openinference"),
    "otel-genai-smolagents": ("opentelemetry.instrumentation.genai.openai", "otel_genai"),
    "langwatch": ("langwatch", "langwatch"),
    "monocle": ("monocle_apptrace", "monocle"),
    "ollm-js-llamaindex": ("@traceloop/instrumentation-llamaindex", "openllmetry"),
    "ollm-js-langchain": ("@traceloop/instrumentation-langchain", "openllmetry"),
    "trulens": ("trulens", "trulens"),
    "google-adk-hidden": ("gcp.vertex.agent", "google_adk"),
    "ollm-llamaindex": ("opentelemetry.instrumentation.llamaindex", "openllmetry"),
}


def stack_of(scope: str) -> Stack:
    return next(stack for stack in stacks() if stack.scope == scope)


@pytest.mark.parametrize("name", sorted(CAPTURED))
def test_what_is_said_to_arrive_does(name: str) -> None:
    scope, convention = CAPTURED[name]
    stack = stack_of(scope)
    assert stack.convention == convention
    found = [record for trace in load(GOLDEN / name).traces.values() for record in records(trace)]
    assert found
    for record in found:
        if record.error is None:
            assert not stack.arrives & set(record.absent) - {"reranked"}, record.absent


@pytest.mark.parametrize("stack", stacks(), ids=lambda stack: f"{stack.name}-{stack.scope}")
def test_every_field_that_is_missing_has_a_line(stack: Stack) -> None:
    told = {field for fields in stack.lines().values() for field in fields}
    assert told == set(stack.missing()) == set(FIELDS) - stack.arrives


@pytest.mark.parametrize("stack", stacks(), ids=lambda stack: f"{stack.name}-{stack.scope}")
def test_a_stack_is_one_that_doctor_knows_by_name(stack: Stack) -> None:
    assert name_of(stack.scope) != stack.scope or stack.scope.startswith("my.")


def test_every_convention_has_a_stack_and_every_stack_its_convention() -> None:
    assert {stack.convention for stack in stacks()} == {
        convention.name for convention in registered()
    }
