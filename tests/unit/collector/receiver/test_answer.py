"""Every reason for a refusal has its status codes, and every rejection its words."""

from __future__ import annotations

from collector.decode.otlp import WORDS
from collector.receiver.answer import CODES
from collector.refusal import Refusal, Rejection


def test_every_refusal_has_status_codes_for_the_client() -> None:
    assert set(CODES) == set(Refusal) - {Refusal.DISCONNECTED}


def test_every_rejection_has_words_for_the_client() -> None:
    assert set(WORDS) == set(Rejection)
