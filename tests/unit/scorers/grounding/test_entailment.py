"""The shipped entailment model is the file that the code means, and its card says what it is."""

from __future__ import annotations

from importlib.resources import files

import pytest

from ragvigil.extras import ENTAILMENT, missing
from ragvigil.inference.models import load
from ragvigil.inference.weights import checked
from scorers.grounding.entailment import FILE, Support, joint

MOST_BYTES = 25_000_000


def test_the_shipped_file_is_the_one_that_the_code_and_the_card_name() -> None:
    assert checked(FILE) == str(FILE.path)
    assert FILE.path.stat().st_size <= MOST_BYTES
    assert FILE.sha256 in files("scorers").joinpath("models/entailment.md").read_text("utf-8")


def test_both_models_count_and_neither_decides_alone() -> None:
    assert joint(0.8, 0.2) < joint(0.8, 0.5) < joint(0.8, 0.9)
    assert joint(0.2, 0.9) < joint(0.8, 0.9)
    assert joint(0.5, 0.0) > 0.1
    assert joint(0.5, 1.0) < 0.9


@pytest.mark.slow
@pytest.mark.skipif(missing(ENTAILMENT) != "", reason=missing(ENTAILMENT))
def test_it_tells_a_supported_sentence_from_a_denied_and_an_unknown_one() -> None:
    premise = "Refunds to a card take 5 to 7 business days. The shop in Oslo is closed on Sunday."
    said = {
        Support.SUPPORTED: "Card refunds take 5 to 7 business days.",
        Support.CONTRADICTED: "Refunds to a card take 9 to 12 business days.",
        Support.NOT: "Anna Berg founded the ferry company with twelve cabins.",
    }
    rows = load("entail", checked(FILE)).run([(premise, text) for text in said.values()])
    assert [Support(int(row.argmax())) for row in rows] == list(said)
