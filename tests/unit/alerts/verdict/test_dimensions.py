"""Which value of a dimension a drop goes with, and when that cannot be told."""

from __future__ import annotations

import random

from alerts.verdict.dimensions import DimensionSuspect, ScoredAnswer, dimension_suspects

ONSET = 10**18
SECOND = 10**9
USUAL = {"llm_model": ("small", "large"), "tenant": ("a", "b", "c"), "route": ("/ask", "/buy")}


def answers(
    worse: dict[str, str] | None = None,
    drop: float = 0.25,
    *,
    count: int = 1000,
    seed: int = 1,
    switched: dict[str, str] | None = None,
    twins: bool = False,
) -> list[ScoredAnswer]:
    """As many answers before as after the onset; those with all of `worse` lose `drop` after it."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        is_after = number >= count / 2
        dimensions = {name: chance.choice(values) for name, values in USUAL.items()}
        if twins:
            dimensions["temperature"] = "1" if dimensions["llm_model"] == "large" else "0"
        if is_after:
            dimensions |= switched or {}
        level = 0.8 - 0.1 * (dimensions["tenant"] == "c")
        is_hit = is_after and (worse or {}).items() <= dimensions.items() and worse is not None
        value = level - drop * is_hit + chance.gauss(0, 0.2)
        time = ONSET + (number - count // 2) * SECOND
        made.append(ScoredAnswer(time_unix_nano=time, value=value, dimensions=dimensions))
    return made


def top(found: tuple[DimensionSuspect, ...]) -> tuple[str, str]:
    return found[0].dimension, found[0].value


def test_the_value_that_a_drop_goes_with_is_first_in_four_of_five_runs() -> None:
    right = sum(
        found != () and top(found) == ("llm_model", "large")
        for seed in range(20)
        for found in [dimension_suspects(answers({"llm_model": "large"}, 0.15, seed=seed), ONSET)]
    )
    assert right >= 16


def test_it_says_how_much_it_explains_and_when_it_first_appeared() -> None:
    (suspect, *_) = dimension_suspects(answers({"tenant": "b"}), ONSET)
    assert (suspect.dimension, suspect.value) == ("tenant", "b")
    assert -0.35 < suspect.change < -0.15
    assert suspect.explains > 0.7
    assert 0 <= suspect.lag_seconds < 60
    assert not suspect.coincides


def test_a_level_that_was_always_lower_is_no_suspect() -> None:
    found = dimension_suspects(answers({"tenant": "b"}), ONSET)
    assert ("tenant", "c") not in {(each.dimension, each.value) for each in found}


def test_without_a_drop_hardly_any_value_is_a_suspect() -> None:
    found = [dimension_suspects(answers(seed=seed), ONSET) for seed in range(40)]
    assert sum(bool(each) for each in found) <= 1


def test_a_full_switch_coincides_and_is_not_called_the_cause() -> None:
    switched = {"prompt_version": "v2"}
    (suspect,) = dimension_suspects(answers(switched, switched=switched), ONSET)
    assert (suspect.dimension, suspect.coincides) == ("prompt_version", True)


def test_two_full_switches_at_once_cannot_be_separated() -> None:
    switched = {"prompt_version": "v2", "service_version": "2.4"}
    first, second = dimension_suspects(answers(switched, switched=switched), ONSET)
    assert first.coincides
    assert first.inseparable == (f"{second.dimension} {second.value}",)


def test_values_that_always_go_together_are_named_together() -> None:
    (suspect, *_) = dimension_suspects(answers({"llm_model": "large"}, twins=True), ONSET)
    names = {f"{suspect.dimension} {suspect.value}", *suspect.inseparable}
    assert names == {"llm_model large", "temperature 1"}


def test_too_few_answers_on_a_side_tell_nothing() -> None:
    assert dimension_suspects(answers({"tenant": "b"}, count=50), ONSET) == ()
    rare = [
        *answers(),
        *(
            ScoredAnswer(time_unix_nano=ONSET + 1, value=0.0, dimensions={"tenant": "rare"})
            for _ in range(14)
        ),
    ]
    assert "rare" not in {each.value for each in dimension_suspects(rare, ONSET)}


def test_a_value_that_nobody_had_before_has_the_usual_level_as_its_baseline() -> None:
    worse = {"tenant": "b"}
    found = dimension_suspects(answers(worse, switched={"locale": "de"}), ONSET)
    assert top(found) == ("tenant", "b")


def test_the_order_of_answers_does_not_matter() -> None:
    given = answers({"llm_model": "large"})
    shuffled = random.Random(2).sample(given, len(given))
    first, second = (dimension_suspects(each, ONSET) for each in (given, shuffled))
    assert [top((each,)) for each in first] == [top((each,)) for each in second]
