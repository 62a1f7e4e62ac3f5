"""What is wrong with the answers of an issue, as the verb of a sentence about them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragvigil.model.figures import counted
from ragvigil.model.text import one_line
from ragvigil.model.wording.problems import SEPARATOR, verb_of
from ragvigil.web.views.issues import IssueForm

MOST_NAME, MOST_ROUTE = 160, 60
"""Characters of a name and a route in a heading."""


class NamedIssue(Protocol):
    """What the words of an issue are made of: a form of the API has it, and a stored issue too."""

    @property
    def rubric(self) -> str:
        """The rubric that its answers fail."""
        ...

    @property
    def label(self) -> str:
        """Of the failing scores."""
        ...

    @property
    def name(self) -> str:
        """By a rule, a model or a person."""
        ...

    @property
    def routes(self) -> Sequence[str]:
        """Where they fail."""
        ...


def heading(issue: IssueForm) -> str:
    """The issue as a sentence, with its routes."""
    return f"Answers {_where(issue.routes, issue.service)} {problem(issue)}"


def title(issue: NamedIssue) -> str:
    """The issue as a sentence of a list, which says its routes elsewhere."""
    return f"Answers {problem(issue)}"


def link_name(issue: NamedIssue) -> str:
    """What a link to the issue says: the name that somebody gave it, else its title."""
    return one_line(issue.name, MOST_NAME) if is_named(issue) else title(issue)


def problem(issue: NamedIssue) -> str:
    """What the answers do wrong; with the words of the name that the daemon's rule did not make."""
    verb = _verb(issue)
    own_words, is_given = _own_words(issue)
    if is_given:
        return f"fail for one reason: {own_words}"
    if own_words.startswith("“"):
        return f"{verb}: {own_words}"
    return SEPARATOR.join(filter(None, (verb, own_words)))


def is_named(issue: NamedIssue) -> bool:
    """Whether a person or a model named it, not a rule."""
    return _own_words(issue)[1]


def _verb(issue: NamedIssue) -> str:
    return one_line(verb_of(issue.rubric, issue.label), MOST_NAME)


def _own_words(issue: NamedIssue) -> tuple[str, bool]:
    """What a name says besides the problem and the route; and whether no rule made it."""
    name = one_line(issue.name, MOST_NAME)
    first, *parts = name.split(SEPARATOR)
    if first == f"Answers {_verb(issue)}":
        routes = {one_line(route) for route in issue.routes}
        own = [part for part in parts if part.removeprefix("on ") not in routes]
        return SEPARATOR.join(own), False
    return _words_of_older_name(issue, name)


def _words_of_older_name(issue: NamedIssue, name: str) -> tuple[str, bool]:
    """The same of a name of the form `rubric: label (route)`, which rules gave before."""
    label = issue.label.replace("_", " ")
    first = issue.rubric or label
    if not name.startswith(first):
        return name, True
    words = name.removeprefix(first).removeprefix(": ")
    # The rule named the route that was first then; by now another may be.
    for route in filter(None, issue.routes):
        words = words.partition(f" ({one_line(route)}")[0]
    words = words.strip()
    return ("" if words in ("", label) else f"“{words}”"), False


def _where(routes: Sequence[str], service: str) -> str:
    """The routes of an issue in a sentence.

    >>> _where(["/ask", "/chat", "/mail"], "desk"), _where([""], "desk")
    ('on /ask and 2 more routes', 'of desk')
    """
    named = [one_line(route, MOST_ROUTE) for route in routes if route]
    if not named:
        return f"of {one_line(service, MOST_ROUTE) or 'a service without a name'}"
    more = f" and {counted(len(named) - 1, 'more route')}" if len(named) > 1 else ""
    return f"on {named[0]}{more}"
