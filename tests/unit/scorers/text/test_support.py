"""Lexical support: which chunk a sentence was most likely written from."""

from __future__ import annotations

from scorers.text.chunk_text import ChunkText
from scorers.text.normalise import words
from scorers.text.support import support, weights

CHUNKS = [
    ChunkText("Card refunds take 5 days to appear on the statement of the customer."),
    ChunkText("Parcels are held for 10 days at the pickup point of the customer."),
    ChunkText("Accounts of the customer are locked for 20 minutes after 6 attempts."),
]


def ranked(claim: str) -> list[float]:
    weighed = weights(words(claim), claim, CHUNKS)
    return [support(weighed, chunk) for chunk in CHUNKS]


def test_the_chunk_with_the_telling_words_supports_best() -> None:
    names = ranked("The pickup point keeps a customer's parcel for 10 days.")
    assert max(names) == names[1]


def test_words_of_all_chunks_weigh_least() -> None:
    weighed = weights(["customer", "parcels"], "customer parcels", CHUNKS)
    assert weighed["customer"] < weighed["parcels"] / 2


def test_numbers_and_names_weigh_more() -> None:
    claim = "It is shown for Visa after 10 days"
    weighed = weights(words(claim), claim, CHUNKS)
    assert weighed["visa"] > weighed["shown"]
    assert weighed["10"] > weights(["pickup"], "pickup", CHUNKS)["pickup"]


def test_without_words_there_is_no_support() -> None:
    assert support({}, CHUNKS[0]) == 0.0
