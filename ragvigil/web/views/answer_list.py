"""The list of answers in words: a sentence that says which, and what may be asked besides. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from ragvigil.model.figures import counted, listed
from ragvigil.model.text import one_line
from ragvigil.web.rubric_names import rubric_name
from ragvigil.web.views.records import FacetForm, RecordCountsForm, RecordSummary

MOST_VALUES = 12
"""Values of a facet that are shown, the most frequent first."""
FACETS: Mapping[str, tuple[str, str]] = {
    "failing_rubrics": ("Fails", "rubric"),
    "failing_layers": ("Fails in", "layer"),
    "labels": ("Label", "label"),
    "routes": ("Route", "route"),
    "prompt_versions": ("Prompt", "prompt_version"),
    "models": ("Model", "model"),
}
"""Of each facet its title and its parameter in the address."""
READY: Mapping[str, Mapping[str, str]] = {
    "Failing citations": {"rubric": "citation_validity", "failed": "true"},
    "Refused": {"rubric": "refusal", "label": "refused"},
    "Thumbs down": {"said": "down"},
    "Empty retrieval": {"rubric": "retrieval_shape", "label": "empty"},
    "Unsupported, by a judge": {"label": "unsupported", "kind": "judge"},
}
"""Views that have a name, each by the parameters of its address."""
SHOWN = 180
"""Characters of a question or an answer."""
WORDS: Mapping[str, Callable[[str], str]] = {
    "rubric": rubric_name,
    "layer": lambda layer: layer.replace("_", "-"),
    "label": rubric_name,
}
"""What facets call values that are names of ours."""
RATED = {"down": "got a thumbs-down", "up": "got a thumbs-up and no thumbs-down"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a reader has chosen besides the scope, as the address has it; empty is any."""

    rubric: str = ""
    failed: str = ""
    below: str = ""
    label: str = ""
    layer: str = ""
    kind: str = ""
    issue: str = ""
    said: str = ""
    topic: str = ""
    model: str = ""
    prompt_version: str = ""
    text: str = ""
    by: str = ""

    def chosen(self) -> dict[str, str]:
        """The parameters that are not empty."""
        every = {field.name: str(getattr(self, field.name)) for field in fields(self)}
        return {name: value for name, value in every.items() if value}

    def without(self, name: str) -> dict[str, str]:
        """The parameters without one; how a rubric fails goes with the rubric."""
        gone = {"rubric": {"rubric", "failed", "below"}, "text": {"text", "by"}}.get(name, {name})
        return {key: value for key, value in self.chosen().items() if key not in gone}


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    """A value with how many of the counted answers have it, and the parameters that choose it."""

    words: str
    answers: int
    chooses: Mapping[str, str]
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """Values of one kind; `more` are those that are not shown."""

    title: str
    values: Sequence[FacetValue]
    more: int


def heading_near(found: int, most: int, text: str, time: str) -> str:
    """Which answers were found by meaning.

    >>> heading_near(2, 50, "money back", "last 24 h")
    '2 answers were asked about something like “money back”, last 24 h'
    """
    answers = f"The {most} nearest answers" if found == most else counted(found, "answer")
    was = "was" if found == 1 else "were"
    return f"{answers if found else 'No answer'} {was} asked about something like “{text}”, {time}"


def heading(
    choice: Choice, counts: RecordCountsForm, *, route: str = "", time: str = "", topic: str = ""
) -> str:
    """Which answers these are, and how many; `topic` is the name of the topic that is chosen.

    >>> from datetime import UTC, datetime
    >>> told = dict(is_more=False, is_part=False, since=datetime.now(UTC), until=None, facets=[])
    >>> choice = Choice(rubric="citation_validity", failed="true")
    >>> counts = RecordCountsForm(answers=43, **told)
    >>> heading(choice, counts, route="/refunds/ask", time="last 24 h")
    '43 answers on /refunds/ask fail citation validity, last 24 h'
    """
    number = counts.answers
    is_one = number == 1 and not counts.is_more
    if counts.is_more:
        answers = f"More than {counted(number, 'answer')}"
    elif counts.is_part:
        answers = f"At least {counted(number, 'answer')}"
    else:
        answers = counted(number, "answer") if number else "No answer"
    of = "".join(_qualities(choice, route))
    says = listed(list(_says(choice, topic, is_one=is_one or not number)), most=9)
    return f"{answers}{of} {says or 'came in'}, {time}"


def _qualities(choice: Choice, route: str) -> Iterator[str]:
    if choice.model:
        yield f" by {choice.model}"
    if choice.prompt_version:
        yield f" with prompt {choice.prompt_version}"
    if route:
        yield f" on {route}"


def _says(choice: Choice, topic: str, *, is_one: bool) -> Iterator[str]:
    """What the answers do, a part of the sentence each."""
    s, are, have = ("s", "is", "has") if is_one else ("", "are", "have")
    rubric = rubric_name(choice.rubric)
    where = f" in the {WORDS['layer'](choice.layer)} layer" if choice.layer else ""
    if choice.failed:
        verb = f"fail{s}" if choice.failed == "true" else "pass" + "es" * is_one
        yield f"{verb} {rubric or 'a check'}{where}"
    if choice.below:
        yield f"score{s} under {choice.below} on {rubric or 'a rubric'}"
    if choice.label:
        by = f" by {rubric}" if rubric and not (choice.failed or choice.below) else ""
        yield f"{are} labelled {rubric_name(choice.label)}{by}"
    elif (rubric or choice.layer) and not (choice.failed or choice.below):
        yield f"{have} a score of {rubric}{where}" if rubric else f"{have} a score{where}"
    if choice.kind:
        yield f"{are} scored by {'a ' * (choice.kind != 'code')}{choice.kind}"
    if choice.said:
        yield RATED[choice.said]
    if choice.issue:
        yield f"{are} in the issue {choice.issue}"
    if choice.topic:
        yield f"{are} in the topic “{topic or choice.topic}”"
    if choice.text:
        yield f"{have} “{choice.text}”"


def chips(choice: Choice) -> list[tuple[str, dict[str, str]]]:
    """What is chosen in words, each with the parameters that are left without it."""
    rubric = rubric_name(choice.rubric)
    verb = {"true": "fails", "false": "passes"}.get(choice.failed, "rubric")
    below = f" under {choice.below}" if choice.below else ""
    said = {"down": "thumbs down", "up": "thumbs up"}.get(choice.said, "")
    parts = {
        "rubric": f"{verb} {rubric}{below}" if rubric else "",
        "failed": "" if rubric or not choice.failed else f"{verb} a check",
        "below": "" if rubric or not choice.below else f"score{below}",
        "label": f"label {rubric_name(choice.label)}",
        "layer": f"in {WORDS['layer'](choice.layer)}",
        "kind": f"scored by {choice.kind}",
        "issue": f"issue {choice.issue}",
        "said": said,
        "topic": "in one topic",
        "model": f"model {choice.model}",
        "prompt_version": f"prompt {choice.prompt_version}",
        "text": f"like “{choice.text}”" if choice.by == "meaning" else f"has “{choice.text}”",
    }
    chosen = choice.chosen()
    return [
        (words, choice.without(name)) for name, words in parts.items() if name in chosen and words
    ]


def facets(choice: Choice, counts: RecordCountsForm, *, route: str = "") -> list[Facet]:
    """What the counted answers have in common, to choose from."""
    return [
        _facet(choice, facet, route)
        for name in FACETS
        for facet in counts.facets
        if facet.name == name and facet.values
    ]


def _facet(choice: Choice, facet: FacetForm, route: str) -> Facet:
    title, parameter = FACETS[facet.name]
    fails = facet.name.startswith("failing")
    chosen = route if parameter == "route" else choice.chosen().get(parameter, "")
    return Facet(
        title=title,
        values=[
            FacetValue(
                words=WORDS.get(parameter, str)(each.value),
                answers=each.answers,
                chooses={parameter: each.value, **({"failed": "true"} if fails else {})},
                is_chosen=each.value == chosen,
            )
            for each in facet.values[:MOST_VALUES]
        ],
        more=max(0, len(facet.values) - MOST_VALUES),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An answer in the table; `score` is the one that was asked for, or that decides."""

    record: RecordSummary
    question: str
    answer: str
    state: str
    fails: str
    layer: str
    rubric: str
    score: float | None
    said: str
    likeness: float | None


def answer_row(record: RecordSummary, rubric: str) -> AnswerRow:
    """A row; `rubric` is the one that was asked for, empty for none."""
    verdict = record.verdict
    shown = rubric or verdict.rubric
    values = [score.value for score in record.scores if score.rubric == shown]
    known = [value for value in values if value is not None]
    said = "" if record.rating is None else "thumbs down" if record.rating < 0.5 else "thumbs up"
    return AnswerRow(
        record=record,
        question=one_line(record.query or "", SHOWN) or "(no question)",
        answer=one_line(record.answer or "", SHOWN) or "(no answer)",
        state={"unknown": "not known"}.get(verdict.state, verdict.state),
        fails=rubric_name(verdict.rubric),
        layer=verdict.layer,
        rubric=rubric_name(shown) if known else "",
        score=min(known, default=None),
        said=said,
        likeness=getattr(record, "likeness", None),
    )
