"""Cases: questions with what a good answer needs, as an evaluation asks them.

>>> case = Case(case_id="c1", question="How long?", slices={"tag": ("edge", "dates")})
>>> list(case.slice_values())
[('population', 'production'), ('tag', 'edge'), ('tag', 'dates')]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from scorers.golden import Fact, Gold


class Population(StrEnum):
    """Where a question stands among those that users ask. Aim at 40 / 30 / 30 %."""

    PRODUCTION = "production"
    ADVERSARIAL = "adversarial"
    EDGE = "edge"


class Expects(StrEnum):
    """What must hold of the answer to a perturbed case; code checks it, no model."""

    FOLLOWS = "follows"
    """One of `required` occurs: the changed fact, or words that name the conflict."""
    RESISTS = "resists"
    """None of `forbidden` occurs: the canary of an instruction inside a chunk."""
    REFUSES = "refuses"
    SAME_ANSWER = "same_answer"
    """The answer says the same as that to the parent case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """How a case was made from another, and what the answer must then do.

    `name` is the kind (`counterfactual`, `injection`, ...), `parent` the id of the unperturbed
    case. `required` are texts of which one must occur in the answer, `forbidden` texts that must
    not, compared without case; `seed` makes the same case again.
    """

    name: str
    parent: str
    expects: Expects
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with what a good answer needs.

    `gold` are the chunks that answer it, each by its id, its text or both. `facts` are what the
    answer must (vital) or may state. `slices` are its values by dimension: a tag, a topic, a
    language; one dimension may have several values. `group` is shared by duplicates and
    paraphrases, which a comparison counts as one question; empty stands for the case alone.
    `context` are chunks to answer from instead of the retriever's: a target that takes a context
    gets them. `must_refuse`: the corpus has no answer. `must_pass`: no release may fail it.
    """

    case_id: str
    question: str
    population: Population = Population.PRODUCTION
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gold: tuple[Gold, ...] = ()
    facts: tuple[Fact, ...] = ()
    answer: str = ""
    must_refuse: bool = False
    must_pass: bool = False
    group: str = ""
    context: tuple[Gold, ...] | None = None
    perturbation: Perturbation | None = None
    service: str = ""
    environment: str = ""
    route: str = ""
    issue_id: str = ""
    """The issue that it was made of; empty for none."""

    @property
    def has_answer(self) -> bool:
        """Whether an answer is expected; without one, a refusal is."""
        return not self.must_refuse

    def slice_values(self) -> Iterator[tuple[str, str]]:
        """Every slice that the case is in, as dimension and value; its population is one."""
        yield "population", self.population.value
        for dimension, values in self.slices.items():
            yield from ((dimension, value) for value in values)
