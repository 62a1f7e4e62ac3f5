"""Context recall: matches by id or text, metrics by hand, and what never counts as missed."""

from __future__ import annotations

import doctest
import itertools
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Absent, Document, RagRecord
from scorers import context_recall
from scorers.context_recall import (
    CUTOFFS,
    FEWEST,
    ContextRecall,
    covering_place,
    is_same_text,
    ranking,
)
from scorers.golden import parse_case
from scorers.runner import load_scorers
from scorers.settings import ScorersSettings
from scorers.text.normalise import words

QUESTION = "How long does a refund take?"
TEXT = "Card refunds take five to seven business days after the parcel has come back to us."


def scorer(**gold: object) -> ContextRecall:
    return ContextRecall([parse_case({"question": QUESTION, **gold})])


def record(*chunks: Document) -> RagRecord:
    return RagRecord(record_id="1", trace_id="1", query=QUESTION.upper(), retrieved=chunks)


def named(*names: str) -> RagRecord:
    return record(*(Document(chunk_id=name, content=f"text of {name}") for name in names))


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(context_recall).failed == 0


def test_the_numbers_are_those_computed_by_hand() -> None:
    score = scorer(gold_chunk_ids=["a", "b", "z"]).score(named("x", "a", "y", "v", "b", "w"))
    assert (score.value, score.label) == (2 / 3, "")
    assert score.explanation == "2 of 3 gold chunks retrieved"
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    expected = {
        "mrr": 0.5,
        "hit@1": 0.0, "recall@1": 0.0, "precision@1": 0.0, "ndcg@1": 0.0,
        "hit@3": 1.0, "recall@3": 1 / 3, "precision@3": 1 / 3, "ndcg@3": 1 / log2(3) / ideal,
        "hit@5": 1.0, "recall@5": 2 / 3, "precision@5": 2 / 5,
        "ndcg@5": (1 / log2(3) + 1 / log2(6)) / ideal,
        "precision@10": 2 / 10, "recall@50": 2 / 3, "precision@50": 2 / 50,
    }  # fmt: skip
    numbers = {name: score.details[name] for name in expected}
    assert numbers == pytest.approx(expected, abs=1e-4)
    assert score.details["missing"] == ["z"]


def test_the_value_counts_all_retrieved_chunks() -> None:
    score = scorer(gold_chunk_ids=["a"]).score(named(*(f"x{i}" for i in range(60)), "a"))
    assert (score.value, score.details["recall@50"]) == (1.0, 0.0)


def test_a_list_without_a_gold_chunk_missed() -> None:
    for retrieval in (named("x", "y"), named()):
        score = scorer(gold_chunk_ids=["a"]).score(retrieval)
        assert (score.value, score.label) == (0.0, "missed")
        assert score.explanation == "0 of 1 gold chunks retrieved"


def test_a_gold_chunk_is_found_by_the_id_of_its_document() -> None:
    retrieval = record(Document(chunk_id="a#3", document_id="a"), Document(chunk_id="a#4"))
    assert scorer(gold_chunk_ids=["a"]).score(retrieval).value == 1.0


def test_a_pair_is_found_by_its_text_where_ids_have_changed() -> None:
    retrieval = record(Document(chunk_id="new", content=f"Refunds. {TEXT.upper()} Ask us."))
    assert scorer(gold_chunk_ids=["old"], gold_texts=[TEXT]).score(retrieval).value == 1.0


@pytest.mark.parametrize(
    ("chunk", "is_found"),
    [
        (TEXT.replace(" ", "\n"), True),
        ("Card refunds take five to seven business days", True),
        (TEXT.replace("parcel", "box"), True),
        ("to us", False),
        ("Gift cards are never paid out in cash by any of our shops in any country.", False),
        ("", False),
    ],
)
def test_texts_match_if_one_contains_the_other_or_nearly(chunk: str, is_found: bool) -> None:
    assert is_same_text(words(TEXT), words(chunk)) is is_found


def test_texts_without_spaces_are_found() -> None:
    assert is_same_text(words("退款需要5到7天。"), words("银行卡退款需要5到7天，请耐心等待。"))
    assert not is_same_text(words("退款需要5到7天。"), words("仓库在公共假期关闭。"))


LONG = (
    "Card refunds take five to seven business days after the parcel has come back to us. Vouchers "
    "are credited to the account at once and stay valid for three years. Cash is never paid out."
)
BEFORE = "Parcels are sent from the harbour warehouse on every weekday before noon."
BEHIND = "Our shops are closed on public holidays and on the first Monday of May."


def cut_at(*places: int, text: str = LONG) -> list[Document]:
    """The text between two others, split before these words of it into one chunk per piece."""
    document = f"{BEFORE} {text} {BEHIND}".split()
    ends = [0, *(len(BEFORE.split()) + place for place in places), len(document)]
    pieces = [" ".join(document[begin:end]) for begin, end in itertools.pairwise(ends)]
    return [Document(chunk_id=f"new{n}", content=piece) for n, piece in enumerate(pieces)]


@pytest.mark.parametrize("cuts", [(15,), (4,), (10, 30), (9, 18, 27)])
def test_a_gold_chunk_is_found_in_pieces_after_another_split(cuts: tuple[int, ...]) -> None:
    other = Document(chunk_id="x", content="Gift cards carry a code of sixteen digits.")
    pieces = cut_at(*cuts)
    score = scorer(gold_texts=[LONG]).score(record(other, *pieces))
    assert score.value == 1.0


def test_a_gold_chunk_in_pieces_is_ranked_by_the_last_of_them() -> None:
    first, second = cut_at(15)
    other = Document(chunk_id="x", content=BEHIND)
    score = scorer(gold_texts=[LONG]).score(record(first, other, second))
    assert (score.value, score.details["hit@1"], score.details["hit@3"]) == (1.0, 0.0, 1.0)
    assert score.details["mrr"] == pytest.approx(1 / 3, abs=1e-4)


def test_a_part_of_the_pieces_is_not_the_gold_chunk() -> None:
    first, second = cut_at(20)
    for piece in (first, second):
        score = scorer(gold_texts=[LONG]).score(record(piece, Document(chunk_id="x", content="-")))
        assert (score.value, score.label) == (0.0, "missed")


def test_words_of_the_gold_chunk_in_another_order_are_not_its_pieces() -> None:
    shuffled = " ".join(sorted(LONG.split()))
    assert scorer(gold_texts=[LONG]).score(record(*cut_at(15, text=shuffled))).value == 0.0
    short = "Vouchers are never paid out."
    texts = ("now Vouchers are", "never paid out. So")
    halves = [Document(chunk_id=str(n), content=text) for n, text in enumerate(texts)]
    assert scorer(gold_texts=[short]).score(record(*halves)).value == 0.0


def test_pieces_without_spaces_are_found_by_longer_runs() -> None:
    gold = words("银行卡退款需要五到七个工作日，礼品卡不能兑换现金，请联系客服。")
    half = len(gold) // 2
    assert covering_place(gold, [["x", *gold[:half]], [*gold[half:], "y"]]) == [1]
    scattered = [gold[start : start + 6] for start in range(0, len(gold), 3)]
    assert covering_place(gold, scattered) == []


@given(st.lists(st.sampled_from("abcdefghij"), max_size=60), st.data())
def test_more_chunks_never_lose_a_gold_chunk(gold: list[str], data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=40), max_size=5))
    places = covering_place(gold, texts)
    assert covering_place(gold, [*texts, gold]) in (places, [len(texts)])
    assert bool(covering_place(gold, [gold])) is (len(gold) >= FEWEST)


def test_repeats_of_a_gold_chunk_earn_nothing_in_recall_and_ndcg() -> None:
    score = scorer(gold_texts=[TEXT, "Vouchers are not refunded."]).score(
        record(*(Document(chunk_id=str(i), content=TEXT) for i in range(3)))
    )
    assert score.value == 0.5
    ideal = 1 + 1 / log2(3)
    assert score.details["ndcg@3"] == pytest.approx(1 / ideal, abs=1e-4)
    assert score.details["precision@3"] == 1.0


def test_only_records_that_ask_a_case_with_gold_chunks_are_scored() -> None:
    asks_other = replace(named("a"), query="Where is my parcel?")
    for given_, retrieval, reason in (
        (ContextRecall(), named("a"), "no golden file"),
        (scorer(gold_chunk_ids=["a"]), asks_other, "no golden case asks this"),
        (scorer(gold_chunk_ids=["a"]), replace(asks_other, query=None), "no golden case asks this"),
        (scorer(), named("a"), "the golden case has no gold chunks"),
    ):
        score = given_.score(retrieval)
        assert (score.value, score.explanation, score.absent) == (None, reason, "")


def test_an_absent_list_is_not_applicable_and_says_so() -> None:
    hidden = replace(named(), absent={"retrieved": Absent.HIDDEN})
    score = scorer(gold_chunk_ids=["a"]).score(hidden)
    assert (score.value, score.absent) == (None, "retrieved")
    assert score.explanation == "retrieved is absent: hidden"


def test_what_the_spans_do_not_show_does_not_count_as_missed() -> None:
    hidden = record(Document(chunk_id="a", content=TEXT), Document(chunk_id="b"))
    score = scorer(gold_texts=["Vouchers are not refunded."]).score(hidden)
    assert (score.value, score.absent) == (None, "document_texts")
    assert scorer(gold_texts=[TEXT]).score(hidden).value == 1.0
    nameless = record(Document(chunk_id="3f2a", text_hash="3f2a", content="Parcels."))
    score = scorer(gold_chunk_ids=["a"]).score(nameless)
    assert (score.value, score.absent) == (None, "document_ids")
    assert scorer(gold_chunk_ids=["a"], gold_texts=[TEXT]).score(nameless).label == "missed"
    cut = replace(named("x"), truncated=("retrieved",))
    assert scorer(gold_chunk_ids=["a"]).score(cut).absent == "retrieved"


def test_ids_and_texts_that_only_the_prompt_lacks_are_known() -> None:
    reasons = {"document_ids": Absent.NOT_SENT, "document_texts": Absent.NOT_SENT}
    retrieval = replace(named("x"), absent=reasons)
    for gold in ({"gold_chunk_ids": ["a"]}, {"gold_texts": [TEXT]}):
        assert scorer(**gold).score(retrieval).label == "missed"


def test_the_settings_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(f'{{"question": "{QUESTION}", "gold_chunk_ids": ["a"]}}', encoding="utf-8")
    scorers = load_scorers(ScorersSettings(golden=path))
    (own,) = [scorer for scorer in scorers if scorer.rubric == "context_recall"]
    assert own.score(named("a")).value == 1.0
    (own,) = [scorer for scorer in load_scorers() if scorer.rubric == "context_recall"]
    assert own.score(named("a")).explanation == "no golden file"


def test_a_wrong_golden_file_is_a_wrong_setting(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text('{"question": "a"}\n{"question": ""}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"golden\.jsonl:2: question: is missing"):
        ScorersSettings(golden=path)


@given(st.lists(st.lists(st.integers(0, 70), max_size=4, unique=True), min_size=1, max_size=6))
def test_ranking_metrics_are_shares_and_recall_never_falls_with_k(places: list[list[int]]) -> None:
    numbers = ranking(places)
    assert all(0 <= number <= 1 for number in numbers.values())
    for name in ("hit", "recall"):
        by_cutoff = [numbers[f"{name}@{k}"] for k in CUTOFFS]
        assert by_cutoff == sorted(by_cutoff)


@given(st.integers(1, 60), st.integers(0, 20))
def test_gold_chunks_at_the_top_are_ideal_at_every_cut_off(gold: int, lower: int) -> None:
    ideal = ranking([[place] for place in range(gold)])
    assert {ideal[f"ndcg@{k}"] for k in CUTOFFS} == {1.0}
    moved = ranking([[place + lower] for place in range(gold)])
    assert all(moved[name] <= ideal[name] for name in ideal)
