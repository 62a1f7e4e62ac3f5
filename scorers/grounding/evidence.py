"""Compares one sentence with the context: features of support, and of lack of support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log, sqrt

from scorers.grounding.claims import Claim, Weights
from scorers.grounding.context import STEM, Context
from scorers.grounding.nearest import NearestLines
from scorers.text.negations import denies
from scorers.text.normalise import is_number

TELLING = 4.0
"""Weight above which a word is not a function word; words in no list weigh more."""

SUPPORT = (
    "coverage", "stem_coverage", "rare_coverage", "pair_coverage", "longest_run", "density",
    "line", "line_cosine", "two_lines", "aligned", "chunk", "grams", "together", "tail",
)  # fmt: skip
"""Each lies in 0..1 and rises with support."""
LACK = (
    "missing", "missing_unasked", "rarest_missing", "missing_run", "gap", "apart_run",
    "numbers_missing", "numbers_off_line", "number_pairs_missing", "names_missing",
    "names_off_line", "negation",
)  # fmt: skip
"""Each is at least 0 and falls with support."""


class ClaimEvidence:
    """One claim compared with a context.

    `missing` are its words that no chunk has, `unlike` those of them whose stem no chunk has, and
    `held` tells for each pair of adjacent words whether a chunk has it.
    """

    def __init__(self, claim: Claim, context: Context) -> None:
        self.claim = claim
        self.context = context
        self.nearest = NearestLines(claim, context)
        self.missing = dict.fromkeys([w for w in claim.weighed if w not in context.words])
        self.unlike = [word for word in self.missing if not _has_stem(word, context)]
        self.pairs = list(pairwise(claim.words))
        self.held = [pair in context.pairs for pair in self.pairs]
        telling = [word for word in claim.words if claim.weighed[word] > TELLING]
        self.together = [context.is_together(*pair) for pair in pairwise(telling)]

    def support(self, weights: Weights) -> list[float]:
        """The features `SUPPORT`, in order."""
        claim, nearest = self.claim, self.nearest
        run = _longest(self.held)
        tail = claim.words[-max(2, len(claim.words) // 3) :]
        return [
            1 - claim.weigh(self.missing) / claim.weight,
            1 - claim.weigh(self.unlike) / claim.weight,
            self._rare_coverage(),
            _share(self.held),
            (1 + run) / len(claim.words) if run else 0.0,
            sqrt(sum([(run + 1) ** 2 for run in _runs(self.held)])) / len(claim.words),
            nearest.share,
            nearest.cosine(weights),
            nearest.two_lines(),
            nearest.aligned(),
            nearest.chunk_share,
            nearest.grams(self.unlike),
            _share(self.together, empty=1.0),
            claim.weigh([w for w in tail if w not in self.missing]) / (claim.weigh(tail) or 1.0),
        ]

    def lack(self, question: frozenset[str]) -> list[float]:
        """The features `LACK`, in order."""
        claim = self.claim
        line = self.nearest.line
        on_line = line.distinct if line else frozenset[str]()
        numbers = [word for word in claim.weighed if is_number(word)]
        return [
            log(1 + claim.weigh(self.unlike)),
            log(1 + claim.weigh([word for word in self.unlike if word not in question])),
            max([claim.weighed[word] for word in self.unlike], default=0.0),
            log(1 + _longest(word in self.missing for word in claim.words)),
            log(1 + _longest(not is_held for is_held in self.held)),
            log(1 + _longest(not is_together for is_together in self.together)),
            log(1 + sum(word in self.missing for word in numbers)),
            _share([word not in on_line for word in numbers]),
            log(1 + self._number_pairs_missing()),
            log(1 + sum(word in self.missing for word in claim.names)),
            _share([word not in on_line for word in claim.names]),
            float(line is not None and denies(claim.words) != denies(line.words)),
        ]

    def _rare_coverage(self) -> float:
        rarity = {word: self.context.rarity(word) for word in self.claim.weighed}
        return 1 - sum([rarity[word] for word in self.missing]) / sum(rarity.values())

    def _number_pairs_missing(self) -> int:
        return sum(
            not is_held and (is_number(first) or is_number(other))
            for (first, other), is_held in zip(self.pairs, self.held, strict=True)
        )


def _has_stem(word: str, context: Context) -> bool:
    return len(word) >= STEM and not is_number(word) and word[:STEM] in context.stems


def _share(flags: Sequence[bool], *, empty: float = 0.0) -> float:
    return sum(flags) / len(flags) if flags else empty


def _runs(flags: Iterable[bool]) -> Iterator[int]:
    """The lengths of the runs of true flags."""
    run = 0
    for flag in flags:
        if flag:
            run += 1
        elif run:
            yield run
            run = 0
    if run:
        yield run


def _longest(flags: Iterable[bool]) -> int:
    return max(_runs(flags), default=0)
