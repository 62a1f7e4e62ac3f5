"""What the model of refusals learns from: which sentence or clause of an answer refuses."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.text.refusal_model import from_json
from tools.training.refusal import fit, to_json
from tools.training.refusal_examples import Answer, Example, examples

REFUSING, STATING, TOLD = frozenset({"neg"}), frozenset({"digit"}), frozenset({"tell"})
ODDS = {REFUSING: (3.0, -1.0, 0.0), STATING: (-2.0, 4.0, 0.0), TOLD: (0.0, 0.5, 1.0)}


def odds(signs: frozenset[str]) -> np.ndarray:
    return np.array(ODDS[signs])


def answer(kind: str, *sentences: frozenset[str], **fields: object) -> Answer:
    named = tuple(own == REFUSING for own in sentences)
    return Answer(kind=kind, weight=2.0, sentences=sentences, **{"named": named, **fields})


def learned(answer: Answer, *, is_first_round: bool = False) -> list[tuple[frozenset[str], str]]:
    rows = examples([answer], None if is_first_round else odds)
    return [(row.signs, row.kind) for row in rows]


def test_beside_the_likeliest_sentence_of_a_refusal_the_others_do_neither() -> None:
    assert learned(answer("refuses", TOLD, REFUSING)) == [(TOLD, "neither"), (REFUSING, "refuses")]


def test_a_partial_answer_states_in_one_sentence_and_refuses_in_another() -> None:
    partial = answer("partial", STATING, TOLD, REFUSING)
    assert learned(partial) == [(STATING, "states"), (REFUSING, "refuses")]


def test_the_first_round_goes_by_patterns_and_leaves_out_what_none_names() -> None:
    named = answer("partial", STATING, REFUSING)
    assert learned(named, is_first_round=True) == [(STATING, "states"), (REFUSING, "refuses")]
    unnamed = answer("refuses", TOLD, STATING, named=(False, False))
    assert learned(unnamed, is_first_round=True) == []


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("partial", [(REFUSING, "refuses"), (STATING, "states")]),
        ("refuses", [(TOLD, "refuses"), (REFUSING, "refuses"), (STATING, "neither")]),
    ],
)
def test_of_one_sentence_the_likeliest_clause_refuses(
    kind: str, rows: list[tuple[frozenset[str], str]]
) -> None:
    pairs = ((STATING, REFUSING), (REFUSING, STATING))
    assert learned(answer(kind, TOLD, divisions=pairs)) == rows


def test_every_clause_of_an_answer_in_full_states_something() -> None:
    full = answer("states", STATING, divisions=((TOLD, STATING), (STATING, TOLD)))
    assert learned(full) == [(STATING, "states"), (TOLD, "states"), (STATING, "states")]


def test_the_same_examples_give_the_same_model_and_it_tells_them_apart() -> None:
    kinds = {REFUSING: "refuses", STATING: "states", TOLD: "neither"}
    rows = [Example(signs=own, kind=kind, weight=1.0) for own, kind in kinds.items()] * 40
    text = to_json(fit(rows))
    assert text == to_json(fit(rows))
    model = from_json(text)
    assert int(model.odds(REFUSING).argmax()) == 0
    assert int(model.odds(STATING).argmax()) == 1
