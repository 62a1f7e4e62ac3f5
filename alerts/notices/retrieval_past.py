"""What a route's requests retrieved: the chunks, and how many, how long, with what scores."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from alerts.notices.corpus import Corpus, Results, RetrievalDiff
from alerts.notices.fingerprint import NUMBERS, Fingerprint
from alerts.notices.numbers import Number
from alerts.notices.rare import Mark

CORPUS = "corpus"
NEWEST_QUESTIONS = 15
MOST_OF_ONE = 3
"""A question asked more often than this among the newest 15 is no further evidence."""


class RetrievalPast:
    """The past of requests whose chunks can be compared with one another."""

    def __init__(self, warm_up: int) -> None:
        self.corpus = Corpus(warm_up)
        self.numbers = {name: Number() for name in NUMBERS}
        self._questions: deque[int] = deque(maxlen=NEWEST_QUESTIONS)

    def push(self, request: Fingerprint, mark: Mark) -> Iterator[tuple[str, Mark]]:
        """Takes a request; yields what has certainly changed, with the first request of it."""
        question = request.question
        is_voice = not question or self._questions.count(question) < MOST_OF_ONE
        self._questions.append(question)
        first = self.corpus.push(request, mark, is_voice=is_voice)
        if first is not None:
            yield CORPUS, first
        for name, number in zip(NUMBERS, request.numbers, strict=True) if is_voice else ():
            first = self.numbers[name].push(number, mark)
            if first is not None:
                yield name, first

    def medians(self, since: Mark) -> dict[str, tuple[float | None, float | None]]:
        """The median of each number before and since a request."""
        return {
            name: (number.before(), number.since(since)) for name, number in self.numbers.items()
        }

    def is_beyond(self, name: str, since: Mark) -> bool:
        """Whether a number lies beyond all that it was before."""
        return self.numbers[name].is_beyond(since)

    def diffs(self, since: Mark) -> list[RetrievalDiff]:
        """The requests since, each compared with the past; at most the newest 60."""
        return self.corpus.since(since)

    def begin_anew(self, since: Mark, left: Results) -> None:
        """Makes only the requests since then the past, and what the change left of that before."""
        self.corpus = self.corpus.renewed(since, left)
        self.accept_numbers(since)

    def accept(self, since: Mark) -> None:
        """Takes what is new for usual: other topics, and nothing that has changed."""
        self.corpus.accept()
        self.accept_numbers(since)

    def accept_numbers(self, since: Mark) -> None:
        """Makes only the numbers since then the past."""
        self.numbers = {name: number.renewed(since) for name, number in self.numbers.items()}
