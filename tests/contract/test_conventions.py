"""What every registered convention promises: total, claims of the right kinds, no surprises."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.merge import read
from collector.claims.registry import RegisteredConvention, registered
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span, Trace
from tests.generated_traces import spans, traces, values, with_spans

generously = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A generated span costs more than all conventions' reading of it: most examples are read by every
# convention in one test; the test of each convention alone takes few and names who failed.
briefly = settings(generously, max_examples=10)
CONVENTIONS = [pytest.param(convention, id=convention.name) for convention in registered()]


def test_the_conventions_of_this_step_are_registered() -> None:
    found = {convention.name for convention in registered()}
    assert {"ragvigil", "openinference", "otel_genai", "openllmetry"} <= found


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_of_two_scalars_of_a_field_one_is_stronger(convention: RegisteredConvention) -> None:
    scalars = getattr(convention.convention, "SCALARS", {})
    strengths = [(field, precedence) for field, _, precedence in scalars.values()]
    assert len(set(strengths)) == len(strengths)


@pytest.mark.parametrize("convention", CONVENTIONS)
@briefly
@given(span=spans)
def test_claims_are_total_and_of_the_promised_kinds(
    convention: RegisteredConvention, span: Span
) -> None:
    assert_claims_are_sound(convention, span)


@settings(generously, max_examples=100)
@given(span=spans)
def test_claims_of_every_convention_are_total_and_of_the_promised_kinds(span: Span) -> None:
    for convention in registered():
        assert_claims_are_sound(convention, span)


def assert_claims_are_sound(convention: RegisteredConvention, span: Span) -> None:
    for claim in convention.convention.claims(span):
        assert isinstance(claim, Claim)
        assert isinstance(claim.field, Field)
        assert isinstance(claim.precedence, int)
        assert is_of_kind(claim.field, claim.value() if callable(claim.value) else claim.value)


def is_of_kind(field: Field, value: object) -> bool:
    """Whether a value is what `Field` promises; None and withheld ones always are."""
    if value is None or isinstance(value, Withheld):
        return True
    if field is Field.ROLE:
        return isinstance(value, SpanRole)
    if field in (Field.RETRIEVED, Field.RERANKED, Field.RERANK_INPUT, Field.CONTEXT):
        return isinstance(value, Listing)
    if field in (Field.PROMPT, Field.REPLY):
        return isinstance(value, tuple) and all(isinstance(message, Message) for message in value)
    if field is Field.CALLED_TOOLS:
        return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
    return True


unknown_attributes = st.dictionaries(st.text(max_size=6).map("acme.{}".format), values, max_size=4)


@pytest.mark.parametrize("convention", CONVENTIONS)
@briefly
@given(attributes=unknown_attributes)
def test_a_convention_claims_nothing_of_spans_that_it_does_not_know(
    convention: RegisteredConvention, attributes: dict[str, AttributeValue]
) -> None:
    span = Span(trace_id="t", span_id="a", name="work", attributes=attributes)
    assert list(convention.convention.claims(span)) == []


@settings(generously, max_examples=100)
@given(attributes=unknown_attributes)
def test_no_convention_claims_anything_of_spans_that_it_does_not_know(
    attributes: dict[str, AttributeValue],
) -> None:
    span = Span(trace_id="t", span_id="a", name="work", attributes=attributes)
    for convention in registered():
        assert list(convention.convention.claims(span)) == [], convention.name


@generously
@given(trace=traces)
def test_records_are_total_and_deterministic(trace: Trace) -> None:
    assert records(trace) == records(trace)


@generously
@given(trace=traces, seed=st.integers(0, 9))
def test_records_do_not_depend_on_the_order_of_the_spans(trace: Trace, seed: int) -> None:
    one_per_id = {span.span_id: span for span in trace.spans}
    ordered = list(one_per_id.values())
    shuffled = random.Random(seed).sample(ordered, k=len(ordered))
    assert rows(with_spans(trace, ordered)) == rows(with_spans(trace, shuffled))


def rows(trace: Trace) -> list[str]:
    return [repr(record) for record in records(trace)]


@generously
@given(trace=traces)
def test_what_is_absent_is_empty(trace: Trace) -> None:
    for record in records(trace):
        assert_consistent(record)


def assert_consistent(record: RagRecord) -> None:
    fields = {"query": record.query, "answer": record.answer, "retrieved": record.retrieved,
              "reranked": record.reranked, "context": record.context,
              "citations": record.citations}  # fmt: skip
    for name, reason in record.absent.items():
        assert isinstance(reason, Absent)
        assert not fields.get(name), f"{name} is absent and yet {fields[name]!r}"
    for name in ("query", "answer"):
        assert fields[name] is not None or name in record.absent
    assert [document.rank for document in record.retrieved] == list(range(len(record.retrieved)))


@pytest.mark.parametrize("left_out", [convention.name for convention in registered()])
@settings(briefly, max_examples=5)
@given(trace=traces)
def test_a_convention_less_costs_fields_and_never_the_record(left_out: str, trace: Trace) -> None:
    assert_readable_without(left_out, trace)


@settings(generously, max_examples=25)
@given(trace=traces)
def test_any_convention_less_costs_fields_and_never_the_record(trace: Trace) -> None:
    for convention in registered():
        assert_readable_without(convention.name, trace)


def assert_readable_without(left_out: str, trace: Trace) -> None:
    rest = [convention for convention in registered() if convention.name != left_out]
    for record in records(trace, conventions=rest):
        assert left_out not in record.conventions
        assert_consistent(record)


def test_a_broken_plug_in_raises_under_pytest_and_only_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        ROOTS: frozenset[str] = frozenset()

        def claims(self, span: Span) -> Iterable[Claim]:
            raise RuntimeError(span.name)

    broken = RegisteredConvention("broken", Broken(), frozenset())
    span = Span(trace_id="t", span_id="a", name="work")
    with pytest.raises(RuntimeError, match="work"):
        read(span, [broken])
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert read(span, [broken]).conventions == []


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_reading_is_linear_in_the_number_of_attributes(size: int) -> None:
    """A guard against quadratic work: twenty times the attributes within a generous minute."""
    many: dict[str, AttributeValue] = {
        f"retrieval.documents.{index}.document.content": f"text {index}" for index in range(size)
    }
    span = Span(
        trace_id="t", span_id="a", attributes={"openinference.span.kind": "RETRIEVER", **many}
    )
    started = time.monotonic()
    found = read(span, registered()).get(Field.RETRIEVED)
    assert len(found.documents) == min(size, 10_001)
    assert time.monotonic() - started < 60
