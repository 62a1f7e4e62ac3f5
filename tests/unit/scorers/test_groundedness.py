"""Local groundedness of whole records."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.groundedness import LocalGroundedness
from scorers.grounding.model import shipped_model

CHUNKS = (
    "Card refunds take 5 to 7 business days to appear. Cash refunds are paid at once in the shop.",
    "The warehouse in Porto is closed on public holidays. Parcels leave at noon on weekdays.",
)
GROUNDED = "Card refunds take 5 to 7 business days to appear. Parcels leave at noon on weekdays."
INVENTED = "Premium customers receive a complimentary voucher from Ms Adler within 48 hours."


def score_of(answer: str | None, *contents: str | None, query: str | None = None) -> Score:
    context = tuple(
        Document(chunk_id=f"c{place}", content=text) for place, text in enumerate(contents)
    )
    record = RagRecord(record_id="1", trace_id="1", answer=answer, context=context, query=query)
    return LocalGroundedness().score(record)


def test_an_answer_from_the_context_is_better_than_an_invented_one() -> None:
    good, bad = score_of(GROUNDED, *CHUNKS), score_of(INVENTED, *CHUNKS)
    assert good.value is not None
    assert bad.value is not None
    assert good.value > 0.9
    assert (good.label, bad.label) == ("", "unsupported")
    assert bad.value < good.value - 0.3


def test_one_invented_sentence_among_grounded_ones_is_named() -> None:
    score = score_of(f"{GROUNDED} {INVENTED}", *CHUNKS)
    sentences = score.details["sentences"]
    assert isinstance(sentences, list)
    assert [sentence["supported"] < shipped_model().threshold for sentence in sentences] == [
        False,
        False,
        True,
    ]
    assert [sentence["chunk_id"] for sentence in sentences[:2]] == ["c0", "c1"]
    assert f"{GROUNDED} {INVENTED}"[sentences[2]["start"] :] == INVENTED
    assert score.explanation == "1 of 3 sentences unsupported"


def test_the_score_names_its_model() -> None:
    score = score_of(GROUNDED, *CHUNKS)
    assert (score.rubric, score.kind, score.version) == (
        "groundedness", Kind.MODEL, shipped_model().version,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "contents", "reason"),
    [
        (None, CHUNKS, "there is no answer"),
        (" \n", CHUNKS, "there is no answer"),
        (GROUNDED, (), "no text reached the prompt"),
        (GROUNDED, (None, " "), "no text reached the prompt"),
        ("I'm sorry, I could not find that in the documents.", CHUNKS, "the answer refused"),
        ("[1] …", CHUNKS, "the answer has no words"),
    ],
)
def test_what_cannot_be_scored_says_why(
    answer: str | None, contents: tuple[str | None, ...], reason: str
) -> None:
    score = score_of(answer, *contents)
    assert (score.value, score.explanation) == (None, reason)


def test_another_language_is_distinguished_too() -> None:
    chunk = "Rückerstattungen auf Karten dauern 5 bis 7 Werktage. Pakete gehen mittags ab."
    good = score_of("Rückerstattungen auf Karten dauern 5 bis 7 Werktage.", chunk)
    bad = score_of("Stammkunden erhalten binnen 48 Stunden einen Gutschein von Frau Adler.", chunk)
    assert good.value is not None
    assert bad.value is not None
    assert good.value - bad.value > 0.3


LONG = (
    "a" * 100_000, "the " * 25_000, "退" * 100_000, "No. " * 25_000, "1,000 " * 16_000,
    "\ud800 " * 50_000, "Refunds take days. " * 5_000,
)  # fmt: skip


@pytest.mark.parametrize("text", LONG)
def test_a_hundred_kilobytes_of_anything_are_scored(text: str) -> None:
    for answer, content in ((text, CHUNKS[0]), (GROUNDED, text), (text, text)):
        score = score_of(answer, content)
        assert score.value is not None or score.explanation


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(), max_size=200),
    st.lists(st.text(st.characters(), max_size=200), max_size=3),
    st.one_of(st.none(), st.text(st.characters(), max_size=40)),
)
def test_any_text_is_scored_or_says_why_and_twice_the_same(
    answer: str, contents: list[str], query: str | None
) -> None:
    score = score_of(answer, *contents, query=query)
    assert score == score_of(answer, *contents, query=query)
    assert score.value is not None or score.explanation


def test_the_score_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from ragvigil import Document, RagRecord\n"
        "from scorers.groundedness import LocalGroundedness\n"
        f"chunks = tuple(Document(chunk_id=str(i), content=c) for i, c in enumerate({CHUNKS!r}))\n"
        f"record = RagRecord(record_id='1', trace_id='1', context=chunks, answer={INVENTED!r})\n"
        "print(LocalGroundedness().score(record))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(said) == 1


def operations(answer: str, content: str) -> int:
    """Function calls that one score takes, counted by the interpreter."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    score_of(GROUNDED, CHUNKS[0])
    sys.setprofile(count)
    try:
        score_of(answer, content)
    finally:
        sys.setprofile(None)
    return calls


def test_work_grows_linearly_with_the_text() -> None:
    sentence = "Card refunds number {} take {} days at the bank in Porto."
    texts = [" ".join(sentence.format(at, at * 7) for at in range(count)) for count in (200, 800)]
    few, many = (operations(text, text) for text in texts)
    assert many < 6 * few


def test_of_an_endless_answer_the_first_sentences_are_read_and_that_is_said() -> None:
    score = score_of(f"{GROUNDED} " * 600, *CHUNKS)
    said = "0 of 1000 sentences unsupported; only its first 1,000 sentences were read"
    assert score.explanation == said
    assert len(score.details["sentences"]) == 1_000
