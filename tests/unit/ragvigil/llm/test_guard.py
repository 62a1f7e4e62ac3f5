"""Our own calls are marked, not sampled, and not traced within this process."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context

from ragvigil.llm.guard import is_own, marked_trace, untraced


@given(st.integers())
def test_a_marked_trace_is_a_valid_traceparent_that_is_not_sampled_and_known_as_ours(
    seed: int,
) -> None:
    header = marked_trace(random.Random(seed))
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-00", header)
    _, trace_id, span_id, _ = header.split("-")
    assert span_id != "0" * 16
    assert is_own(trace_id)
    assert is_own(trace_id.upper())


@given(st.uuids())
def test_a_trace_of_somebody_else_is_not_ours(trace_id: object) -> None:
    assert not is_own(str(trace_id).replace("-", ""))


def test_instrumentation_is_off_within_a_call_and_on_after_it() -> None:
    with untraced():
        assert context.get_value("suppress_instrumentation") is True
    assert context.get_value("suppress_instrumentation") is None
