"""A prompt shows a chunk if it holds the chunk's own text, and each stretch shows one chunk."""

from __future__ import annotations

import html
import json
import random

import pytest

from bench.rig.shown_prompts import shown_prompts
from bench.shown import counted, found
from collector.claims.prompt_match import positions
from collector.claims.reduced_text import reduced, with_offsets
from ragvigil.model.record import Document

HEADER = "Parcelo help centre, internal edition, for support agents only, do not forward.\n\n"
FOOTER = (
    "\n\nWas this article helpful? Write to the editors of the help centre. All prices include VAT."
    " The general terms and conditions of Parcelo apply."
)
REFUND = "Customers can request a full refund within 30 days of delivery."
LOCKED = "An account is locked for 15 minutes after 6 failed sign-in attempts."
PARCEL = "A lost parcel is investigated for at most 10 working days, then replaced."
LONG = (
    "Card refunds take 5 to 7 business days to appear on the statement of the card. They go back"
    " to the card that was used for the payment, also if it has expired in the meantime. Gift"
    " cards are refunded only when they were never redeemed and were bought in the same country."
)


def shown(texts: list[str], prompt: str) -> list[str]:
    """The texts that a prompt shows, in its order."""
    documents = [Document(chunk_id=str(n), content=text) for n, text in enumerate(texts)]
    places = zip(positions(documents, prompt), texts, strict=True)
    return [
        text for _, text in sorted((place, text) for place, text in places if place is not None)
    ]


def article(text: str) -> str:
    return HEADER + text + FOOTER


def prompt(*texts: str) -> str:
    return "Context:\n" + "\n\n".join(texts) + "\n\nQuestion: How long?\nAnswer:"


def test_a_shared_header_and_footer_show_no_other_chunk() -> None:
    texts = [article(text) for text in (REFUND, LOCKED, PARCEL)]
    assert shown(texts, prompt(texts[2])) == [texts[2]]
    assert shown(texts, prompt(texts[2], texts[0])) == [texts[2], texts[0]]


def test_of_two_versions_the_one_that_is_there_counts() -> None:
    versions = [LONG.replace("5 to 7", days) for days in ("5 to 7", "2 to 3", "8 to 9")]
    assert shown(versions, prompt(versions[1])) == [versions[1]]
    assert shown(versions, prompt(versions[1].replace("card. They", "card (see below). They"))) == [
        versions[1]
    ]


def test_a_chunk_within_another_is_shown_by_a_place_of_its_own() -> None:
    section = f"{REFUND}\n{LOCKED}\n{PARCEL}"
    assert shown([LOCKED, section], prompt(section)) == [section]
    assert shown([LOCKED, section], prompt(section, LOCKED)) == [section, LOCKED]
    assert shown([LOCKED, section], prompt(LOCKED)) == [LOCKED]


def test_a_chunk_within_a_changed_one_is_not_shown() -> None:
    changed = LONG.replace("statement", "account statement")
    inner = "Gift cards are refunded only when they were never redeemed"
    assert shown([inner, LONG], prompt(changed)) == [LONG]


def test_neighbours_that_the_prompt_joins_are_both_shown() -> None:
    first, second = LONG[:200], LONG[150:]
    assert shown([first, second], prompt(LONG)) == [first, second]


def test_the_same_text_twice_needs_two_places() -> None:
    documents = [Document(chunk_id=name, content=LONG) for name in "ab"]
    assert [place is None for place in positions(documents, prompt(LONG))] == [False, True]
    text = prompt(LONG, LONG)
    assert positions(documents, text) == [text.find(LONG), text.rfind(LONG)]


@pytest.mark.parametrize(
    "written",
    [
        LONG.replace(" ", "\n  ", 12),
        json.dumps(json.dumps({"text": LONG})),
        json.dumps(LONG + " größer").replace(" gr", ""),
        html.escape(html.escape(LONG)),
        repr([LONG]),
        "\n".join(f"> {LONG[at : at + 90]}" for at in range(0, len(LONG), 90)),
        LONG[60:],
        LONG[:120] + "…",
        LONG[:127],
    ],
    ids=["wrapped", "json twice", "ascii", "html twice", "repr", "quoted", "tail", "cut", "broken"],
)  # fmt: skip
def test_how_a_chunk_is_written_does_not_matter(written: str) -> None:
    assert shown([LONG, PARCEL], prompt(written)) == [LONG]


def test_a_sentence_of_an_earlier_answer_does_not_show_its_chunk() -> None:
    quoted = LONG.split(". ")[0] + "."
    assert shown([LONG, PARCEL], f"assistant: {quoted}\n\n" + prompt(PARCEL)) == [PARCEL]


def test_an_earlier_turn_does_not_change_the_order_of_this_one() -> None:
    earlier = prompt(REFUND, LOCKED)
    assert shown([REFUND, PARCEL], earlier + prompt(PARCEL, REFUND)) == [PARCEL, REFUND]
    assert shown([REFUND, PARCEL], prompt(REFUND, PARCEL) + f"\n\n{REFUND}") == [REFUND, PARCEL]


def test_a_short_chunk_is_no_part_of_a_word() -> None:
    assert shown(["art", "refund"], "Start with the refund.") == ["refund"]


def test_a_place_is_that_in_the_prompt_as_it_is() -> None:
    text = "Tom &amp; Jerry:\n  " + LONG.replace(" ", "  ")
    (place,) = positions([Document(chunk_id="a", content=LONG)], text)
    assert place == text.index("Card")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("a\u00a0\tb\r\nc", "abc"),
        ("\\u00e9\\\\u00e9\\ud83d\\ude00\\u0000\0", "éé😀"),
        ("\\x41\\'\\/\\\\t", "A'/"),
        ("&amp;lt;b&gt; &#65;&#x42;&eacute;&unknown;&", "<b>ABé&unknown;&"),
        ("**“x”** `y` ‘z’\u200b", "\"x\"y'z'"),
    ],
)
def test_a_text_is_reduced_to_what_templates_leave(written: str, plain: str) -> None:
    assert reduced(written) == plain == with_offsets(written).text


def test_generated_prompts_show_what_was_put_into_them() -> None:
    for case in shown_prompts(300, random.Random(5)):
        counts = counted(case, found(case))
        assert (counts["wrong"], counts["missed"]) == (0, 0), case
