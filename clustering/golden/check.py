"""Checks a case before it is signed: near-duplicates, leaks, secrets, and what it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from clustering.golden.content import Normalise, lacks, texts_of
from clustering.golden.leakage import Leak, PromptMessage, leaks
from clustering.golden.near_duplicates import Embed, NearDuplicate, near_duplicates
from clustering.golden.settings import GoldenSettings
from ragvigil.model.golden import GoldenCase


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTools:
    """How texts are compared and searched; the app fills it with functions of other stages.

    `normalise` prepares a question as scorers do. `redact` returns a text with marks and adds what
    it removed to its counter, by kind.
    """

    normalise: Normalise
    redact: Callable[[str, Counter[str]], str]
    embed: Embed = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChecks:
    """The results; `unseen` says why the prompt was not searched for leaks, or is empty."""

    near: tuple[NearDuplicate, ...] = ()
    leaks: tuple[Leak, ...] = ()
    marks: Mapping[str, int] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    unseen: str = ""

    @property
    def blocking(self) -> list[str]:
        """The reasons why the case cannot be signed, a sentence each."""
        secrets = ", ".join(sorted(self.marks))
        return [*self.lacks, *([f"holds what is redacted: {secrets}"] if secrets else [])]

    @property
    def warnings(self) -> list[str]:
        """What a person must see before signing, a sentence each."""
        doubles = [
            f"asks nearly what {duplicate.case_id} asks: {duplicate.question}"
            for duplicate in self.near
        ]
        given = [f"the {leak.where} holds its {leak.what}: {leak.text}" for leak in self.leaks]
        return [*doubles, *given]


def check(
    case: GoldenCase,
    others: Iterable[GoldenCase],
    prompt: Sequence[PromptMessage] | None,
    chunks: Iterable[str],
    tools: TextTools,
    settings: GoldenSettings,
) -> CaseChecks:
    """Runs every check of a case; `prompt` is None if no stored span shows it."""
    duplicates = near_duplicates(
        case,
        others,
        tools.normalise,
        letters=settings.near,
        meaning=settings.near_meaning,
        embed=tools.embed,
    )
    return CaseChecks(
        near=tuple(duplicates),
        leaks=tuple(leaks(case, prompt or (), chunks, tools.normalise)),
        marks=secrets(case, tools),
        lacks=tuple(lacks(case, tools.normalise)),
        unseen="no stored span shows the prompt of its trace" if prompt is None else "",
    )


def secrets(case: GoldenCase, tools: TextTools) -> Mapping[str, int]:
    """How many secrets the redactor finds in the case's texts, by kind."""
    counts: Counter[str] = Counter()
    for text in texts_of(case):
        tools.redact(text, counts)
    return dict(counts)
