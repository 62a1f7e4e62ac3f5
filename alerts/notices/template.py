"""Detects another system prompt, by the sentences of its template.

Some sentences of a prompt belong to it, others hold what a request is about: the name of a
customer, the chunks that were retrieved. What varies among requests of one hour is no template, so
only sentences that many requests share are compared.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b

from alerts.notices.rare import LONG_WINDOW, REFERENCE, WINDOW, Mark
from alerts.notices.values import Swap, Value

FEWEST = 9
"""Of the newest 15 requests, from which a sentence belongs to the template."""
OFTEN = 0.2
"""Share of the newest 460 requests from which it does, too: prompts of several tenants."""
ASKED_ALIKE = 0.9
"""Prompts of a version that may hold a sentence because they ask what another one of it asks. Less
than one: a version that only two requests have shown can have a sentence of its own."""
QUARTERS = 4
MOST_SENTENCES = 1_000
REVIEWED = 60
"""Requests between two counts of all sentences."""
USUAL_SHARE = 0.95
"""A template gains a sentence at once only in prompts longer than so many were."""
MOST_VARIANTS = 200
Sentences = tuple[int, ...]


class Template:
    """The prompts of one route; each is compared by its sentences that belong to the template."""

    __slots__ = (
        "_examples",
        "_last",
        "_newest",
        "_requests",
        "_settled",
        "_shared",
        "_slept",
        "_until_reviewed",
        "_usual_length",
        "_value",
    )

    def __init__(self, known: Mapping[Sentences, int] | None = None) -> None:
        """`known` are templates of earlier days, with the time of their newest request."""
        self._shared: frozenset[int] = frozenset()
        # Kept by all their sentences: which of these belong to the template shows only later.
        self._slept = dict(known or {})
        self._examples: dict[str, Sentences] = {}
        self._value = Value(self._known_again({}))
        self._last: tuple[Sentences, str] = ((), "")
        self._requests: deque[tuple[Mark, Sentences]] = deque(maxlen=REFERENCE + LONG_WINDOW)
        self._newest: deque[Sentences] = deque(maxlen=WINDOW)
        self._usual_length = MOST_SENTENCES
        self._until_reviewed = REVIEWED
        self._settled = Mark(number=0, time_unix_nano=0)

    def push(self, sentences: Sentences, mark: Mark) -> Mark | None:
        """Takes a prompt; returns the first request with another one once that is certain."""
        if not sentences:
            return None
        self._requests.append((mark, sentences))
        self._newest.append(sentences)
        self._until_reviewed -= 1
        if not self._shared.issuperset(sentences):
            self._learn_sentences(sentences)
        return self._push_value(mark, sentences)

    def swap(self, since: Mark) -> Swap:
        """The prompts before and since a request, each as a hash of what most of them share."""
        before = _common([request for mark, request in self._requests if mark < since])
        after = _common([request for mark, request in self._requests if mark >= since])
        share = self._value.swap(since).share
        return Swap(before=_name(sorted(before)), after=_name(sorted(after)), share=share)

    def is_changing(self, since: Mark) -> bool:
        """Whether most requests since then show another prompt."""
        return self._value.is_changing(since)

    def is_same(self, since: Mark, of_version: Collection[Mark]) -> bool:
        """Whether the prompts are known before and since, and no sentence came with a version.

        The requests `of_version` show it. A sentence that is only added belongs to the
        template once many prompts hold it; until then it shows here, in over half of these.
        """
        before = [request for mark, request in self._requests if mark < since]
        newer = [request for mark, request in self._requests if mark in of_version]
        if not (before and newer):
            return False
        was, counts = (Counter(s for one in some for s in set(one)) for some in (before, newer))
        return not any(
            (count - ASKED_ALIKE) / len(newer) - was[sentence] / len(before) >= 0.5
            for sentence, count in counts.items()
        )

    def sentences(self, since: Mark) -> tuple[int, int]:
        """How many sentences of the template came and went with the newest prompts."""
        before = {s for mark, request in self._requests if mark < since for s in request}
        newer = [request for mark, request in self._requests if mark >= since]
        after = {s for request in newer for s in request}
        return len(_common(newer) - before), len((before & self._shared) - after)

    def renewed(self, since: Mark) -> Template:
        """Returns a template for which only the prompts since then are usual."""
        other = Template()
        other._shared, other._examples = self._shared, dict(self._examples)
        other._usual_length, other._newest = self._usual_length, self._newest.copy()
        other._value = self._value.renewed(since)
        still = other._value.known()
        other._slept = {
            template: at
            for template, at in self._slept.items()
            if self._value_of(template) in still
        }
        other._settled = self._requests[-1][0] if self._requests else since
        other._requests.extend(pair for pair in self._requests if pair[0] >= since)
        return other

    def _push_value(self, mark: Mark, sentences: Sentences) -> Mark | None:
        if sentences != self._last[0]:
            self._last = (sentences, self._value_of(sentences))
        value = self._last[1]
        if value not in self._examples and len(self._examples) < MOST_VARIANTS:
            self._examples[value] = sentences
        return self._value.push(value, mark)

    def _value_of(self, sentences: Sentences) -> str:
        return _name([s for s in sentences if s in self._shared])

    def _learn_sentences(self, sentences: Sentences) -> None:
        """Adds sentences that many requests share by now, and compares the past with them too."""
        more: set[int] = set()
        # A sentence that only stands in the place of another (the next customer's name) is no part
        # of the template, however often it comes.
        if len(sentences) > self._usual_length:
            own = [s for s in sentences if s not in self._shared]
            more = {s for s in own if sum(s in request for request in self._newest) >= FEWEST}
        if self._until_reviewed <= 0:
            self._until_reviewed = REVIEWED
            more |= self._often()
            self._usual_length = self._most_sentences()
        if more - self._shared:
            self._compare_again(self._shared | more)

    def _often(self) -> set[int]:
        """The sentences of a share of all requests that is no run of one customer's requests."""
        requests = [request for _, request in self._requests]
        quarter = max(len(requests) // QUARTERS, 1)
        parts = [requests[at * quarter : (at + 1) * quarter] for at in range(QUARTERS)]
        found = [Counter(s for request in part for s in request) for part in parts]
        least = max(OFTEN * quarter, 2)
        return {s for s in found[-1].keys() & found[0].keys()
                if all(counts[s] >= least for counts in found)}  # fmt: skip

    def _most_sentences(self) -> int:
        """How many sentences a prompt has at most, as a rule."""
        lengths = sorted(len(request) for _, request in list(self._requests)[:-WINDOW])
        return lengths[int(USUAL_SHARE * (len(lengths) - 1))] if lengths else MOST_SENTENCES

    def _compare_again(self, shared: frozenset[int]) -> None:
        self._shared, self._last = shared, ((), "")
        known = self._known_again(self._value.known())
        examples = self._examples.values()
        self._examples = {self._value_of(example): example for example in examples}
        self._value = Value(known)
        for mark, sentences in list(self._requests)[:-1]:
            if mark <= self._settled:
                self._value.learn(self._value_of(sentences), mark)
            else:
                self._push_value(mark, sentences)

    def _known_again(self, known: Mapping[str, int]) -> dict[str, int]:
        """What was known, by the sentences that belong to the template now."""
        examples = self._examples
        again = [(examples[value], at) for value, at in known.items() if value in examples]
        newest: dict[str, int] = {}
        for template, at in (*self._slept.items(), *again):
            value = self._value_of(template)
            newest[value] = max(at, newest.get(value, 0))
        return newest


def _common(requests: Sequence[Sentences]) -> set[int]:
    """The sentences of at least half of the requests."""
    found = Counter(s for request in requests for s in request)
    return {s for s, count in found.items() if count >= 0.5 * len(requests)}


def _name(sentences: Iterable[int]) -> str:
    encoded = b"".join([s.to_bytes(8, "little") for s in sentences])
    return "sha:" + blake2b(encoded, digest_size=4).hexdigest()
