"""What the pages of issues say in words and numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ragvigil.model import figures
from ragvigil.model.figures import about, count, counted, listed, spelled
from ragvigil.model.issue import IssueState, IssueVerb, Likeness
from ragvigil.model.text import one_line
from ragvigil.web.views.issue_evidence import ExplainingForm, NeighbourForm
from ragvigil.web.views.issue_pages.problems import MOST_ROUTE, heading
from ragvigil.web.views.issues import (
    BackgroundForm,
    CountForm,
    GradeForm,
    IssueEventForm,
    IssueForm,
    IssuesForm,
    MemberForm,
    PairForm,
    TraitForm,
)

SETTLED = (IssueState.RESOLVED, IssueState.IGNORED)
MOST = 0.8
"""The first issues of a list are named that hold this share of the harm together."""
NEARLY_ALL = 0.99
APART = 0.5
"""A trait is named as a hint if its share is so much larger than elsewhere."""
AS_EVERYWHERE = 0.05
"""Two shares closer than this are called the same."""
TRAITS = {
    "prompt_version": "prompt",
    "route": "route",
    "service_version": "release",
    "index_epoch": "index",
    "llm_model": "model",
}
VERSIONS = ("prompt_version", "index_epoch", "service_version", "llm_model")
GRADES = ("lowest", "low", "middling", "high", "highest")
DONE = {
    IssueVerb.OPENED: "Opened",
    IssueVerb.REFINED: "Became a cause of its own, by its reasons",
    IssueVerb.SPLIT: "May be several causes",
    IssueVerb.AGED: "Aged",
    IssueVerb.ESCALATED: "Grew faster than expected",
    IssueVerb.CALMED: "Calmed down",
    IssueVerb.REGRESSED: "Came back after it was resolved",
    IssueVerb.NAMED: "Named",
    IssueVerb.EXPLAINED: "Explained",
    IssueVerb.CASE_FAILED: "Its golden case fails again",
    IssueVerb.CASE_PASSED: "Its golden case passes again",
    IssueVerb.ACKNOWLEDGE: "took it",
    IssueVerb.RESOLVE: "resolved it",
    IssueVerb.IGNORE: "ignored it",
    IssueVerb.REOPEN: "opened it again",
    IssueVerb.ASSIGN: "gave it",
    IssueVerb.RENAME: "renamed it",
    IssueVerb.MERGE: "merged it",
    IssueVerb.UNMERGE: "took it apart",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How many answers, and how that is known: `seen`, or the interval of an estimate."""

    number: str
    support: str


def amount(size: CountForm) -> Amount:
    """The number of an issue's answers; an estimate is rounded to two digits.

    >>> amount(CountForm(seen=41, about=41, low=41, high=41, apart=0))
    Amount(number='41', support='seen')
    >>> amount(CountForm(seen=22, about=314.3, low=202, high=470, apart=0))
    Amount(number='about 310', support='between 200 and 470')
    """
    if size.high <= size.seen:
        return Amount(number=count(size.seen), support="seen")
    return Amount(
        number=f"about {about(size.about)}",
        support=f"between {about(size.low)} and {about(size.high)}",
    )


def answers(size: CountForm) -> str:
    """How many answers, in a sentence; of an estimate also what was seen.

    >>> answers(CountForm(seen=1, about=1, low=1, high=1, apart=0))
    '1 answer'
    >>> answers(CountForm(seen=22, about=314.3, low=202, high=470, apart=4))
    'About 310 answers, between 200 and 470; 22 seen, 4 of them picked as suspicious'
    """
    picked = f", {size.apart} of them picked as suspicious" if size.apart else ""
    if size.high <= size.seen:
        return counted(size.seen, "answer") + picked
    estimate = amount(size)
    return f"A{estimate.number[1:]} answers, {estimate.support}; {count(size.seen)} seen{picked}"


def traffic_share(issue: IssueForm) -> str:
    """Which part of the answers of its routes fails in this way, by the last 24 hours."""
    routes = [one_line(route, MOST_ROUTE) for route in issue.routes if route]
    of = routes[0] if len(routes) == 1 else counted(max(len(routes), 1), "route")
    part = issue.traffic.share
    if part is None:
        return "not known" if issue.traffic.failing else f"nothing asked on {of} in 24 h"
    if not issue.traffic.failing:
        return f"none of {of} in 24 h"
    return f"all of {of}" if part > NEARLY_ALL else f"{figures.share(part)} of {of}"


def list_heading(page: IssuesForm, *, is_filtered: bool) -> str:
    """What fails, and what first, in a sentence."""
    if not page.issues:
        if is_filtered:
            return "No issue is as you asked"
        return "No cause of failures lasts" if page.pending_minutes is not None else NOT_YET
    first = page.issues[0]
    if first.state in SETTLED:
        return "Nothing is open: every cause is resolved or ignored"
    if not first.harmed_per_day:
        causes = "open cause waits" if page.open == 1 else "open causes wait"
        return f"Nothing failed in 24 hours; {spelled(page.open)} {causes} for somebody"
    sentence = heading(first)
    return f"Fix first: {sentence[0].lower()}{sentence[1:]}"


NOT_YET = "Failing answers have not been grouped since the daemon started"


def list_lead(page: IssuesForm) -> str:
    """How much harm the open issues do, and how much of it the first of them."""
    harms = [issue.harmed_per_day for issue in page.issues if issue.state not in SETTLED]
    if not harms or not page.harmed_per_day:
        return ""
    total = about(page.harmed_per_day)
    if page.open == 1:
        return f"It harms about {total} answers a day, as of the last 24 hours."
    causes = f"{spelled(page.open).capitalize()} open causes harm about {total} answers a day."
    most = _holding_most(harms, page.harmed_per_day)
    if most is None or most == page.open:
        return causes
    part = about(sum(harms[:most]))
    which = "first" if most == 1 else f"first {spelled(most)}"
    return f"{causes} Fix the {which}, and about {part} of them are gone."


def _holding_most(harms: Sequence[float], total: float) -> int | None:
    """How many of the first issues hold most of the harm; None where that is more than three."""
    return next((most for most in (1, 2, 3) if sum(harms[:most]) >= MOST * total), None)


def not_grouped(page: IssuesForm) -> str:
    """How many failing answers are in no issue, for a heading."""
    return f"Not grouped: {counted(page.not_grouped, 'answer')}"


def background(page: IssuesForm) -> str:
    """How often answers fail without a common cause."""
    asked = max((family.requests for family in page.background), default=0)
    if not asked and not page.not_grouped:
        return "No answer came in seven days."
    if not page.not_grouped:
        return f"Of {counted(asked, 'answer')} in seven days, each that failed is in an issue."
    parts = [
        f"{count(family.failing)} in {_layer(family.family)}, {_per_1000(family.rate)}"
        for family in page.background
        if family.failing
    ]
    return f"{ALONE} In seven days, of {counted(asked, 'answer')}: {listed(parts)}."


ALONE = "Each failed alone, with too few others, or no more often than usual on its route."


def _per_1000(rate: float) -> str:
    return f"about {about(1000 * rate)} in 1,000" if rate >= 0.001 else "fewer than 1 in 1,000"


def pending(minutes: int | None) -> str:
    """What is not grouped yet; empty where nothing waits."""
    if minutes is None:
        return f"{NOT_YET}. That takes a minute or two."
    verb = "is" if minutes == 1 else "are"
    return f"{counted(minutes, 'minute')} of traffic {verb} not grouped yet." if minutes else ""


def _layer(family: str) -> str:
    return family.replace("_", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitLine:
    """A trait of members: its kind, its value, in how many of them, and elsewhere."""

    kind: str
    value: str
    members: str
    elsewhere: str


def trait_line(trait: TraitForm) -> TraitLine:
    """What the members share, beside what other answers have.

    >>> line = trait_line(TraitForm(name="prompt_version", value="v5", members=41, of_members=41,
    ...     elsewhere=0, of_elsewhere=1201, first=None, last=None))
    >>> line.members, line.elsewhere
    ('41 of 41', 'elsewhere 0 of 1,201')
    """
    ours = trait.members / trait.of_members
    elsewhere = f"elsewhere {count(trait.elsewhere)} of {count(trait.of_elsewhere)}"
    if not trait.of_elsewhere:
        elsewhere = "elsewhere not known"
    elif abs(ours - trait.elsewhere / trait.of_elsewhere) < AS_EVERYWHERE:
        elsewhere = "as elsewhere"
    return TraitLine(
        kind=TRAITS.get(trait.name, trait.name.replace("_", " ")),
        value=trait.value,
        members=f"{count(trait.members)} of {count(trait.of_members)}",
        elsewhere=elsewhere,
    )


def stands_out(traits: Sequence[TraitForm]) -> str:
    """What sets its answers apart, as far as code can tell: a hint, not a cause."""
    apart = [trait for trait in traits if trait.name != "route" and _gap(trait) >= APART]
    if not apart:
        return "Nobody knows yet. No release, prompt, index or model sets its answers apart."
    trait = max(apart, key=_gap)
    line = trait_line(trait)
    return (
        f"It may be {line.kind} {one_line(line.value, MOST_ROUTE)}: {line.members} of its answers "
        f"have it, {line.elsewhere}. Nobody knows more yet."
    )


def _gap(trait: TraitForm) -> float:
    """How much larger the share among its answers is than elsewhere."""
    if not trait.of_elsewhere:
        return 0.0
    return trait.members / trait.of_members - trait.elsewhere / trait.of_elsewhere


def outside(form: BackgroundForm) -> str:
    """How often answers of an issue's routes fail in its layer without a common cause."""
    if not form.requests:
        return "no answer on its routes in seven days"
    return (
        f"{count(form.failing)} of {counted(form.requests, 'answer')} on its routes fail in "
        f"{_layer(form.family)} outside of issues, in seven days"
    )


def neighbour_words(neighbour: NeighbourForm, member: MemberForm, first: datetime | None) -> str:
    """Why this passing answer stands there: how it was chosen, its version, and when it was."""
    how = {
        Likeness.SAME: "the same question",
        Likeness.MEANING: "nearest question that passes, by meaning",
        Likeness.WORDS: "nearest question that passes, by words",
    }[neighbour.by]
    versions = [
        f"{TRAITS[name]} {getattr(neighbour, name)}"
        for name in VERSIONS
        if getattr(neighbour, name) and getattr(neighbour, name) != getattr(member, name)
    ]
    known = any(getattr(neighbour, name) for name in VERSIONS)
    version = listed(versions) if versions else "the same version" if known else ""
    is_before = neighbour.time is not None and first is not None and neighbour.time < first
    when = "from before the first failure" if is_before else ""
    return ", ".join(filter(None, (how, version, when)))


def member_words(member: MemberForm) -> str:
    """The version that a failing answer is of: its prompt, else its release or index."""
    named = (f"{TRAITS[name]} {value}" for name in VERSIONS if (value := getattr(member, name)))
    return next(named, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Severity, frequency, confidence or effort: dots, a word, a reason."""

    name: str
    grade: int
    word: str
    reason: str


def grade(form: GradeForm) -> Grade:
    """A grade of 1 to 5 in words."""
    value = min(max(form.grade, 1), 5)
    return Grade(
        name=form.name.capitalize(), grade=value, word=GRADES[value - 1], reason=form.reason
    )


def bounds(issue: IssueForm, now: datetime) -> str:
    """What ends the state that a person has put it in; empty where nothing was said."""
    if issue.state is IssueState.RESOLVED:
        return f"in {one_line(issue.resolved_in, MOST_ROUTE)}" if issue.resolved_in else ""
    if issue.state is not IssueState.IGNORED:
        return ""
    ends = []
    if issue.ignored_until:
        ends.append(f"until {figures.moment(issue.ignored_until, now)} UTC")
    if issue.ignored_members:
        ends.append(f"until it has {counted(issue.ignored_members, 'answer')}")
    return " or ".join(ends) or "for ever"


def event_line(event: IssueEventForm) -> str:
    """One step in the life of an issue."""
    done = DONE[event.verb]
    text = one_line(event.text, 400)
    sentence = f"{one_line(event.actor, MOST_ROUTE)} {done}" if event.actor else _by_daemon(done)
    return f"{sentence}{f': {text}' if text else ''}"


def _by_daemon(done: str) -> str:
    return done if done[0].isupper() else f"Somebody {done}"


def pair_words(pair: PairForm) -> str:
    """Why two issues are proposed as one."""
    parts = []
    if pair.likeness:
        parts.append(f"their reasons are {figures.share(pair.likeness)} alike")
    if pair.shared:
        parts.append(f"{figures.share(pair.shared)} of both fell into one group")
    return f"{', and '.join(parts)}.".capitalize() if parts else "A person paired them."


def price(explaining: ExplainingForm) -> str:
    """What a report would cost now."""
    if not explaining.model:
        return "No judge is configured: code compares its answers with passing ones, for nothing."
    most = f"{count(explaining.most_tokens)} tokens" if explaining.most_tokens else "an unknown sum"
    if explaining.most_usd is not None:
        most = figures.money(explaining.most_usd)
    minutes = figures.duration(explaining.most_seconds)
    return f"{explaining.model} reads its traces: at most {most} and {minutes}."
