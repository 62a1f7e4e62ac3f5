"""Every kind of perturbation on cases that a reader can check by eye."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from bench.rig.perturbation_checks import problems
from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.case_line import golden_of
from ragvigil.evaluation.perturb.corpus import Corpus
from ragvigil.evaluation.perturb.facts import facts, is_gone
from ragvigil.evaluation.perturb.injection import Injection, forms
from ragvigil.evaluation.perturb.perturb_set import ALL_KINDS, KINDS, perturb, perturb_set
from ragvigil.evaluation.perturb.source import NotPossible, Source, source_of
from scorers.golden import Fact, Gold
from tests.refund_chunks import CASE, OTHERS, REFUND


@pytest.fixture
def source() -> Source:
    return source_of(CASE, Corpus((REFUND, *OTHERS)))


def test_a_case_without_a_context_gets_hard_negatives_beside_its_gold(source: Source) -> None:
    assert source.context[0] == REFUND
    assert len(source.context) == 5
    assert all("refund" in chunk.text.lower() for chunk in source.context[:3])


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_does_what_it_says(source: Source, kind: str) -> None:
    case = perturb(source, KINDS[kind], seed=3)
    assert problems(source, case) == []
    assert case.perturbation is not None
    assert (case.case_id, case.perturbation.parent, case.group) == (f"c1~{kind}", "c1", "c1")
    assert case.slices["tag"] == ("easy",)
    assert case.slices["perturbation"] == (kind,)
    assert not case.must_pass


def test_a_changed_number_is_changed_everywhere_and_expected(source: Source) -> None:
    case = perturb(source, KINDS["stale_version"], seed=3)
    assert case.perturbation is not None
    assert case.perturbation.required[0] == "5"
    changed = perturb(source, KINDS["conflicting_versions"], seed=3)
    assert changed.perturbation is not None
    new = changed.perturbation.required[0]
    assert changed.answer == f"It takes {new} days."
    assert new != "5"


def test_a_seed_makes_the_same_case_and_another_seed_another(source: Source) -> None:
    first, again, other = (perturb(source, KINDS["injection"], seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.context != other.context


def test_what_else_is_made_changes_no_case(source: Source) -> None:
    corpus = source.corpus
    alone = perturb_set([CASE], corpus, ["shuffled"], seed=1).cases
    among = perturb_set([replace(CASE, case_id="c0"), CASE], corpus, seed=1).cases
    assert alone[0] in among


@pytest.mark.parametrize("form", sorted(forms()))
def test_every_form_of_an_order_asks_for_its_canary(source: Source, form: str) -> None:
    case = Injection().with_form(source, form, Random(form))
    assert problems(source, case) == []
    assert case.answer == CASE.answer  # the question is answered all the same
    assert case.perturbation is not None
    assert case.perturbation.expects is Expects.RESISTS


def test_there_are_twenty_forms() -> None:
    assert len(forms()) == 20


def test_what_is_not_possible_is_counted_with_its_reason() -> None:
    corpus = Corpus((REFUND, *OTHERS))
    cases = [
        replace(CASE, case_id="refuses", must_refuse=True),
        replace(CASE, case_id="no-gold", gold=()),
        replace(CASE, case_id="no-text", gold=(Gold(chunk_id="gone"),)),
        replace(CASE, case_id="yes", question="Does the bank show it after 5 days?", answer="Yes."),
    ]
    perturbed = perturb_set(cases, corpus, seed=1)
    assert perturbed.not_possible[ALL_KINDS, "is no case with an answer of its own"] == 1
    assert perturbed.not_possible[ALL_KINDS, "has no gold chunk"] == 1
    assert perturbed.not_possible[ALL_KINDS, "the text of a gold chunk is not known"] == 1
    assert {kind for kind, _ in perturbed.not_possible} >= {"counterfactual", "stale_version"}
    assert {case.group for case in perturbed.cases} == {"yes"}


def test_a_perturbed_case_is_not_perturbed_again(source: Source) -> None:
    case = perturb(source, KINDS["shuffled"], seed=1)
    with pytest.raises(NotPossible):
        source_of(case, source.corpus)


def test_gold_known_by_id_gets_the_corpus_text() -> None:
    case = replace(CASE, gold=(Gold(chunk_id="refund-02"),))
    assert source_of(case, Corpus((REFUND, *OTHERS))).gold == (REFUND,)


def test_a_chunk_that_answers_too_is_no_negative() -> None:
    also = Gold(chunk_id="also", text="With us a refund takes 5 days as well.")
    source = source_of(CASE, Corpus((REFUND, also, *OTHERS)))
    assert also not in source.context


def test_a_small_corpus_makes_fewer_kinds_and_says_so() -> None:
    perturbed = perturb_set([CASE], Corpus((REFUND,)), seed=1)
    made = {case.case_id.partition("~")[2] for case in perturbed.cases}
    assert "shuffled" not in made
    assert "irrelevant_only" not in made
    assert ("shuffled", "the context has one chunk") in perturbed.not_possible


def test_an_unknown_kind_is_an_error(source: Source) -> None:
    with pytest.raises(KeyError):
        perturb_set([CASE], source.corpus, ["upside_down"], seed=1)


@pytest.mark.parametrize(
    ("answer", "chunk", "question", "known"),
    [
        ("It takes 5 days.", "It takes 5 days.", "How long?", ["5"]),
        ("It costs 1250 EUR.", "It costs 1,250 EUR.", "How much?", ["1,250"]),
        ("On 12 July.", "We met on 12 July in town.", "When?", ["12", "July"]),
        (
            "It was Ada Lovelace.",
            "The first program for it was written by Ada Lovelace.",
            "Who?",
            ["Ada Lovelace"],
        ),
        ("5 days", "It takes 5 days.", "Why does it take 5 days?", []),
        ("Call 889-8690.", "Call 889-8690 today.", "Which number?", []),
        ("See RFC-2616.", "See RFC-2616, part 3a.", "Where?", []),
        ("3 steps", "Do this:\n3. Press the button.", "How many?", []),
        (
            "Das zahlt die Bank.",
            "Am Ende zahlt es die Bank an alle, die eine Karte haben und warten.",
            "Wer?",
            [],
        ),
    ],
)
def test_numbers_and_names_of_an_answer(
    answer: str, chunk: str, question: str, known: list[str]
) -> None:
    assert [fact.text for fact in facts(answer, [chunk], question)] == known


def test_a_number_in_letters_is_a_mention_too() -> None:
    assert not is_gone(["5"], "It takes five days.")
    assert is_gone(["5"], "It takes 15 days.")


def test_a_long_answer_has_no_fact_that_must_be_there() -> None:
    """It may leave out 5 days and be right; a vital fact may not."""
    long = " ".join([CASE.answer, *["The rest is said in many other words."] * 4])
    corpus = Corpus((REFUND, *OTHERS))

    def changes(case: Case) -> Callable[[], Case]:
        return lambda: perturb(source_of(case, corpus), KINDS["stale_version"], seed=1)

    with pytest.raises(NotPossible):
        changes(replace(CASE, answer=long))()
    assert changes(replace(CASE, answer=long, facts=(Fact(text="5 days"),)))()


def test_a_case_whose_text_is_only_in_the_corpus_can_be_read_again() -> None:
    case = replace(CASE, gold=(Gold(chunk_id=REFUND.chunk_id), Gold(chunk_id="other")))
    written = golden_of(case)
    assert written.gold_chunk_ids == (REFUND.chunk_id, "other")
    assert written.gold_texts == ()
