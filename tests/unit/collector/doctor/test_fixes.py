"""The line that makes an absent field arrive, by instrumentor, field and reason."""

from __future__ import annotations

import doctest

import pytest

from collector.doctor import fixes
from collector.doctor.diagnose import FIELDS
from collector.doctor.fixes import fix, name_of
from ragvigil.model.record import Absent

OPENINFERENCE = "openinference.instrumentation.langchain"
GENAI = "opentelemetry.instrumentation.genai.langchain"
OPENLLMETRY = "opentelemetry.instrumentation.chromadb"


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(fixes).failed == 0


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        (OPENINFERENCE, "OpenInference"),
        ("openinference", "OpenInference"),
        (GENAI, "OpenTelemetry GenAI"),
        ("opentelemetry.util.genai.handler", "OpenTelemetry GenAI"),
        ("opentelemetry.instrumentation.openai_v2", "OpenTelemetry openai-v2"),
        ("opentelemetry.instrumentation.openai.v1", "OpenLLMetry"),
        ("opentelemetry.instrumentation.openai_agents", "OpenLLMetry"),
        (OPENLLMETRY, "OpenLLMetry"),
        ("traceloop.tracer", "OpenLLMetry"),
        ("opentelemetry.instrumentation.fastapi", "opentelemetry.instrumentation.fastapi"),
        ("opentelemetry.instrumentation.httpx", "opentelemetry.instrumentation.httpx"),
        ("openinferences.own", "openinferences.own"),
        ("parcel.search", "parcel.search"),
        ("", "unnamed"),
    ],
)
def test_an_instrumentor_is_known_by_whole_parts_of_its_scope(scope: str, name: str) -> None:
    assert name_of(scope) == name


@pytest.mark.parametrize(
    ("scope", "variable"),
    [
        (OPENINFERENCE, "OPENINFERENCE_HIDE_OUTPUTS=false"),
        (GENAI, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        (OPENLLMETRY, "TRACELOOP_TRACE_CONTENT=true"),
        ("haystack", "HAYSTACK_CONTENT_TRACING_ENABLED=true"),
    ],
)
def test_hidden_content_is_shown_by_the_instrumentors_own_variable(
    scope: str, variable: str
) -> None:
    for field in ("query", "document_texts", "context", "answer"):
        assert variable in fix(scope, field, Absent.HIDDEN)


def test_a_reason_is_mended_by_its_own_line_only() -> None:
    assert "HIDE" not in fix(OPENINFERENCE, "document_ids", Absent.NOT_SENT)
    assert "HIDE" in fix(OPENINFERENCE, "document_ids", Absent.HIDDEN)
    assert "include_usage" in fix(OPENINFERENCE, "usage", Absent.NOT_SENT)


def test_each_limit_of_the_sdk_has_its_variable_whatever_the_instrumentor() -> None:
    for scope in (OPENINFERENCE, GENAI, OPENLLMETRY, "parcel.search"):
        assert fix(scope, "attributes", Absent.TRUNCATED).startswith(
            "export OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT="
        )
        assert fix(scope, "events", Absent.TRUNCATED).startswith(
            "export OTEL_SPAN_EVENT_COUNT_LIMIT="
        )
        assert "VALUE_LENGTH_LIMIT" in fix(scope, "context", Absent.TRUNCATED)


def test_texts_that_the_convention_has_no_place_for_are_added_by_hand() -> None:
    assert '"content"' in fix(GENAI, "document_texts", Absent.NOT_SENT)


def test_every_field_has_a_line_for_every_reason_that_can_be_mended() -> None:
    for scope in (OPENINFERENCE, GENAI, OPENLLMETRY, "parcel.search", ""):
        for field in FIELDS:
            for reason in (Absent.NOT_SENT, Absent.HIDDEN, Absent.TRUNCATED):
                assert fix(scope, field, reason) != f'span.set_attribute("ragvigil.{field}", …)'
