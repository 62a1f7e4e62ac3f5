"""The cost of judging a record comes from the questions that would be asked."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scorers.judge.cost import FORM_TOKENS, Sizes, estimate
from scorers.judge.job import families
from scorers.rubric import load_rubrics
from scorers.text.stance import classify

FAMILIES = families(load_rubrics())
SIZES = Sizes(question=60, answer=500, chunk=700, chunks=5, retrieved=8, citations=3)


def total(sizes: Sizes, most_characters: int = 60_000) -> int:
    costs = estimate(FAMILIES, sizes, most_characters)
    return sum(cost.usage.input_tokens + cost.usage.output_tokens for cost in costs)


def test_every_judged_rubric_has_a_cost_or_a_reason() -> None:
    costs = estimate(FAMILIES, SIZES, 60_000)
    assert [cost.rubric for cost in costs] == [family.asked.name for family in FAMILIES]
    for cost in costs:
        assert bool(cost.reason) is (cost.calls == 0)
        assert (cost.usage.input_tokens > FORM_TOKENS) is (cost.calls > 0)


def test_a_prompt_costs_at_least_the_text_that_it_shows() -> None:
    (cost,) = [cost for cost in estimate(FAMILIES, SIZES, 60_000) if cost.rubric == "groundedness"]
    assert cost.usage.input_tokens > (60 + 500 + 5 * 700) / 4


def test_longer_chunks_cost_more_and_nothing_retrieved_costs_less() -> None:
    assert total(replace(SIZES, chunk=1400)) > total(SIZES)
    assert total(replace(SIZES, chunks=0, retrieved=0, citations=0)) < total(SIZES)


def test_an_estimate_does_not_load_what_tells_refusals() -> None:
    classify.cache_clear()
    estimate(FAMILIES, SIZES, 60_000)
    assert classify.cache_info().misses == 0


CHARACTERS = {name: st.floats(0, 5000) for name in ("question", "answer", "chunk")}
COUNTS = {name: st.floats(0, 30) for name in ("chunks", "retrieved", "citations")}


@given(st.builds(Sizes, **CHARACTERS, **COUNTS))
def test_records_of_any_size_have_a_cost(sizes: Sizes) -> None:
    assert all(cost.usage.input_tokens >= 0 for cost in estimate(FAMILIES, sizes, 20_000))
