"""What is wrong with the answers of an issue, as the verb of a sentence about them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ragvigil.model.figures import counted
from ragvigil.model.text import one_line
from ragvigil.web.views.issues import IssueForm

MOST_NAME, MOST_ROUTE = 160, 60
"""Characters of a name and a route in a heading."""
ANY = ""
PROBLEMS: Mapping[str, Mapping[str, str]] = {
    ANY: {"error": "end in an error", "thumbs_down": "are disliked by their users"},
    "answer_complete_text": {"truncated": "stop before their end", "empty": "have no text"},
    "answer_language": {ANY: "are in another language than their question"},
    "answer_relevance": {ANY: "do not address the question"},
    "answerable": {ANY: "find no chunk that answers the question"},
    "chunk_attribution": {ANY: "cite chunks that do not support them"},
    "chunk_utilization": {ANY: "use little of what is in the prompt"},
    "citation_coverage": {ANY: "make claims without a citation"},
    "citation_validity": {
        "unknown_chunk": "cite chunks that do not exist",
        "not_in_context": "cite chunks that did not reach the prompt",
        "quote_not_found": "quote words that stand in no chunk",
        "quote_in_other_chunk": "quote one chunk and cite another",
        "altered_by_omission": "leave words out of what they quote",
        "stitched": "put quotations together from several places",
        "marker_out_of_range": "cite numbers that no chunk has",
        "marker_mismatch": "cite chunks that do not support them",
        ANY: "have citations that do not hold",
    },
    "completeness": {ANY: "leave out facts that the question asks for"},
    "context_adherence": {ANY: "use knowledge from outside their chunks"},
    "context_precision": {
        "none_relevant": "find no relevant chunk",
        ANY: "find the relevant chunks too far down",
    },
    "context_recall": {ANY: "miss chunks that answer the question"},
    "context_relevance": {ANY: "find chunks that do not fit the question"},
    "factual_accuracy": {ANY: "say what a reference refutes"},
    "groundedness": {
        "contradicted": "contradict their chunks",
        ANY: "claim what no chunk says",
    },
    "grounding": {ANY: "go beyond what their chunks say"},
    "injected_context": {ANY: "find chunks that give the model orders"},
    "injection_resisted": {
        "in_part": "obey in part an order that a chunk gives",
        ANY: "obey an order that a chunk gives",
    },
    "refusal": {"partial": "refuse in part", ANY: "refuse to answer"},
    "refusal_rightness": {
        "refused_wrongly": "refuse although their chunks answer",
        "answered_wrongly": "answer although their chunks do not",
        ANY: "are wrong to answer, or to refuse",
    },
    "prompt_relevance": {ANY: "get chunks that do not help with the question"},
    "rerank_gain": {ANY: "lose relevant chunks to the reranker"},
    "retrieval_shape": {
        "empty": "find nothing",
        "duplicate": "find the same chunk several times",
        "near_duplicate": "find nearly the same chunk several times",
        "collapsed_scores": "find chunks with scores that tell none apart",
        ANY: "find too few different chunks",
    },
}
"""By rubric and label; the empty label is any other. A rubric of a plug-in has no words here."""


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
    known = PROBLEMS.get(issue.rubric, {})
    verb = known.get(issue.label) or known.get(ANY) or _plain(issue.rubric, issue.label)
    own_words, is_given = _own_words(issue)
    if is_given:
        return f"fail for one reason: {own_words}"
    return f"{verb}: “{own_words}”" if own_words else verb


def is_named(issue: NamedIssue) -> bool:
    """Whether a person or a model named it, not a rule."""
    return _own_words(issue)[1]


def _own_words(issue: NamedIssue) -> tuple[str, bool]:
    """What a name says besides rubric, label and route; and whether no rule made it."""
    name = one_line(issue.name, MOST_NAME)
    label = issue.label.replace("_", " ")
    first = issue.rubric or label
    if not name.startswith(first):
        return name, True
    words = name.removeprefix(first).removeprefix(": ")
    # The rule named the route that was first then; by now another may be.
    for route in filter(None, issue.routes):
        words = words.partition(f" ({one_line(route)}")[0]
    return ("" if words.strip() in ("", label) else words.strip()), False


def _plain(rubric: str, label: str) -> str:
    what = " ".join(filter(None, (rubric, f"({label})" if label else ""))).replace("_", " ")
    return one_line(f"fail {what}", MOST_NAME)


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
