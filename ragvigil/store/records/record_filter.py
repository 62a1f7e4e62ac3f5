"""Which records: what is asked of their fields, their scores, their ratings and their words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ragvigil.model.topic import LIES_IN

LATEST = 2**32 - 1
"""The last second that fits the queries' UInt32 parameters."""
MOST_WORDS = 20
Said = Literal["", "up", "down"]

_PHRASES = re.compile(r'"([^"]*)"')
_ACCENTS = re.compile("[\u0300-\u036f]+")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that write no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class RecordPlace(NamedTuple):
    """Where a record stands in the order of `find`: by score or 0, the newest first, by its ids."""

    place: float
    nanos: int
    trace_id: str
    record_id: str


FIRST = RecordPlace(-1.0, 2**63 - 1, "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records; an empty filter is none. `since` and `until` are in seconds since the epoch.

    `rubric`, `layer`, `kind`, `failed`, `below` and `label` must hold of one and the same score.
    `issue_ids` are the issue and those that were merged into it. `topic` is the id of a topic, in
    which a question with a vector may lie. `text` holds words that must all
    begin a word of question or answer, and phrases in quotes. `after` is where the page before
    ended.
    """

    service: str = ""
    environment: str = ""
    route: str = ""
    rubric: str = ""
    below: float | None = None
    label: str = ""
    layer: str = ""
    kind: str = ""
    failed: bool | None = None
    issue_ids: tuple[str, ...] = ()
    topic: str = ""
    said: Said = ""
    model: str = ""
    prompt_version: str = ""
    text: str = ""
    since: int = 0
    until: int = LATEST
    limit: int = 100
    after: RecordPlace | None = None

    @property
    def asks_for_a_score(self) -> bool:
        """Whether a record is chosen by a score, not by its own fields alone."""
        names = self.rubric or self.label or self.layer or self.kind
        return bool(names or self.below is not None or self.failed is not None)

    @property
    def is_by_score(self) -> bool:
        """Whether the lowest score comes first."""
        return bool(self.rubric) or self.below is not None

    @property
    def asks_for_a_record(self) -> bool:
        """Whether a record is chosen by more than a score, its place and its time."""
        names = self.issue_ids or self.topic or self.said or self.model or self.prompt_version
        return bool(names or self.text)

    def parameters(self) -> dict[str, object]:
        """The parameters of the queries that have the parts `records` and `scores`."""
        after = self.after or FIRST
        since = self.since - self.since % 60
        latest = self.until if self.asks_for_a_score else min(self.until, after.nanos // 10**9)
        return {
            **{name: getattr(self, name) for name in ("service", "environment", "route", "rubric")},
            **{name: getattr(self, name) for name in ("label", "layer", "kind", "said", "model")},
            "prompt_version": self.prompt_version,
            "topic": self.topic,
            "lies_in": LIES_IN,
            "below": -1.0 if self.below is None else self.below,
            "failed": -1 if self.failed is None else int(self.failed),
            "issue_ids": list(self.issue_ids),
            "minutes": [],
            "trace_ids": [],
            "needles": needles(self.text),
            "since": since,
            "said_since": since if self.said else LATEST,
            "until": self.until,
            "latest": min(latest, LATEST),
            "asks_score": int(self.asks_for_a_score),
            "asks_record": int(self.asks_for_a_record),
            "by_score": int(self.is_by_score),
            "limit": self.limit + 1,
            "after_place": after.place,
            "after_nanos": after.nanos,
            "after_trace": after.trace_id,
            "after_record": after.record_id,
        }


def needles(text: str) -> list[str]:
    """What must occur in the column `words`, for each word and each phrase in quotes.

    A word matches where a word begins; a phrase from the begin of its first word to the end of its
    last. In a script without spaces a word matches anywhere.

    >>> needles('Café "gift card" E-12')
    [' cafe', ' e 12', ' gift card ']
    """
    phrases = [f"{_as_words(phrase)} " for phrase in _PHRASES.findall(text)]
    words = [_as_words(word) for word in _PHRASES.sub(" ", text).split()]
    anywhere = [word.strip() if _WITHOUT_SPACES.search(word) else word for word in words]
    return [needle for needle in dict.fromkeys([*anywhere, *phrases]) if needle.strip()]


def _as_words(text: str) -> str:
    """The text as the column `words` holds it, without the last space."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text)).lower()
    spaced = (letter if unicodedata.category(letter)[0] in "LNM" else " " for letter in plain)
    return " " + " ".join("".join(spaced).split())
