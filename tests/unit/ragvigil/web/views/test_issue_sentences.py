"""What the pages of issues say: headings, shares, hints, steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ragvigil.model.issue import IssueState, IssueVerb, Likeness, PairVerdict
from ragvigil.model.score import Layer
from ragvigil.web.views.issue_evidence import ExplainingForm, NeighbourForm
from ragvigil.web.views.issue_pages import problems, rows, sentences
from ragvigil.web.views.issues import (
    BackgroundForm,
    CountForm,
    GradeForm,
    IssueEventForm,
    IssueForm,
    IssuesForm,
    MemberForm,
    PairForm,
    TrafficForm,
    TraitForm,
)

NOW = datetime(2026, 11, 22, 8, 6, tzinfo=UTC)
FIRST = NOW - timedelta(hours=2)


def issue(**fields: object) -> IssueForm:
    """An issue of invented quotations, seen 41 times in the last two hours."""
    given: dict[str, object] = {
        "issue_id": "65a4c74f961cdc2a", "service": "helpdesk", "environment": "prod",
        "family": Layer.CROSS_CUTTING, "rubric": "citation_validity", "label": "quote_not_found",
        "name": "citation_validity: quote not found (/refunds/ask)", "state": IssueState.NEW,
        "first": FIRST, "last": NOW, "opened": FIRST, "state_since": FIRST,
        "count": CountForm(seen=41, about=41, low=41, high=41, apart=0), "days": [0] * 13 + [41],
        "is_provisional": True, "is_name_frozen": False, "routes": ["/refunds/ask"],
        "assignee": "", "resolved_in": "", "resolved": None, "ignored_until": None,
        "ignored_members": 0, "merged_into": "", "incident_id": "", "harmed_per_day": 580.0,
        "traffic": TrafficForm(failing=41, answers=41, share=1.0), "message": [],
    }  # fmt: skip
    return IssueForm.model_validate({**given, **fields})


def listed(*issues: IssueForm, **fields: object) -> IssuesForm:
    """A page of issues that is all of the list."""
    open_ = [each for each in issues if each.state not in sentences.SETTLED]
    given: dict[str, object] = {
        "issues": list(issues), "found": len(issues), "next": None, "open": len(open_),
        "harmed_per_day": sum(each.harmed_per_day for each in open_), "unseen": 0, "owners": [],
        "not_grouped": 0, "pending_minutes": 0, "background": [],
    }  # fmt: skip
    return IssuesForm.model_validate({**given, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "Answers on /refunds/ask quote words that stand in no chunk"),
        (
            {"name": "Quotes a rule that no article holds"},
            "Answers on /refunds/ask fail for one reason: Quotes a rule that no article holds",
        ),
        (
            {
                "rubric": "groundedness", "label": "contradicted", "routes": ["/a", "/b", "/c"],
                "name": "groundedness: another number of days (/a and 2 more)",
            },
            "Answers on /a and 2 more routes contradict their chunks: “another number of days”",
        ),
        (
            {
                "rubric": "rerank_gain", "label": "", "routes": ["/b", "/a"],
                "name": "rerank_gain (/a and 1 more)",
            },
            "Answers on /b and 1 more route lose relevant chunks to the reranker",
        ),
        (
            {"rubric": "", "label": "thumbs_down", "name": "thumbs down", "routes": [""]},
            "Answers of helpdesk are disliked by their users",
        ),
        (
            {"rubric": "politeness", "label": "very_rude", "name": "politeness: very rude (/a)",
             "routes": ["/a"]},
            "Answers on /a fail politeness (very rude)",
        ),
    ],
)  # fmt: skip
def test_the_heading_of_an_issue_is_a_sentence(fields: dict[str, object], expected: str) -> None:
    assert problems.heading(issue(**fields)) == expected


def test_a_link_says_the_name_that_somebody_gave_else_what_is_wrong() -> None:
    assert problems.link_name(issue()) == "Answers quote words that stand in no chunk"
    assert problems.link_name(issue(name="Quotes a rule")) == "Quotes a rule"


def test_a_hostile_name_stays_on_one_short_line() -> None:
    name = "<script>alert(1)</script>\u202e" + "x" * 10_000 + "\n\x1b[31m"
    heading = problems.heading(issue(name=name, routes=["/a\u202eb\n" + "y" * 5000]))
    assert len(heading) < 400
    assert heading.isprintable()


def test_a_row_has_the_name_that_tickets_use_where_its_title_is_another() -> None:
    assert rows.issue_row(issue(), NOW).name == "citation_validity: quote not found (/refunds/ask)"
    assert rows.issue_row(issue(name="Invents rules"), NOW).name == ""
    assert rows.issue_row(issue(), NOW).days.is_alarm


def test_the_list_says_what_to_fix_first() -> None:
    page = listed(issue(), issue(harmed_per_day=44.0), issue(harmed_per_day=30.0))
    first = "Fix first: answers on /refunds/ask quote words that stand in no chunk"
    assert sentences.list_heading(page, is_filtered=False) == first
    assert sentences.list_lead(page) == (
        "Three open causes harm about 650 answers a day. Fix the first, and about 580 of them are "
        "gone."
    )
    assert sentences.list_lead(listed(issue())) == (
        "It harms about 580 answers a day, as of the last 24 hours."
    )


@pytest.mark.parametrize(
    ("page", "is_filtered", "expected"),
    [
        (listed(), False, "No cause of failures lasts"),
        (listed(), True, "No issue is as you asked"),
        (listed(pending_minutes=None), False, sentences.NOT_YET),
        (
            listed(issue(state=IssueState.RESOLVED)),
            False,
            "Nothing is open: every cause is resolved or ignored",
        ),
        (
            listed(issue(harmed_per_day=0.0)),
            False,
            "Nothing failed in 24 hours; one open cause waits for somebody",
        ),
    ],
)
def test_a_list_without_harm_says_so(page: IssuesForm, is_filtered: bool, expected: str) -> None:
    assert sentences.list_heading(page, is_filtered=is_filtered) == expected
    assert sentences.list_lead(page) == ""


@pytest.mark.parametrize(
    ("traffic", "routes", "expected"),
    [
        ((41, 41, 1.0), ["/refunds/ask"], "all of /refunds/ask"),
        ((9, 100, 0.09), ["/a"], "9 % of /a"),
        ((9, 300, 0.03), ["/a", "/b"], "3 % of 2 routes"),
        ((0, 300, 0.0), ["/a"], "none of /a in 24 h"),
        ((0, 0, None), ["/a"], "nothing asked on /a in 24 h"),
        ((3, 0, None), ["/a"], "not known"),
    ],
)
def test_the_share_of_traffic_is_never_a_zero_that_is_not_known(
    traffic: tuple[float, int, float | None], routes: list[str], expected: str
) -> None:
    form = TrafficForm(failing=traffic[0], answers=traffic[1], share=traffic[2])
    assert sentences.traffic_share(issue(traffic=form, routes=routes)) == expected


def test_what_is_in_no_issue_is_said_with_its_rate() -> None:
    families = [
        BackgroundForm(family=Layer.RETRIEVAL, failing=14, requests=7000, rate=0.0022),
        BackgroundForm(family=Layer.GENERATION, failing=0, requests=7000, rate=0.0003),
    ]
    page = listed(not_grouped=14, background=families)
    assert sentences.not_grouped(page) == "Not grouped: 14 answers"
    assert sentences.background(page).endswith(
        "In seven days, of 7,000 answers: 14 in retrieval, about 2 in 1,000."
    )
    assert sentences.background(listed(background=families[1:])) == (
        "Of 7,000 answers in seven days, each that failed is in an issue."
    )
    assert sentences.pending(2) == "2 minutes of traffic are not grouped yet."
    assert sentences.pending(0) == ""


def trait(name: str, value: str, members: int, elsewhere: int, of_elsewhere: int) -> TraitForm:
    return TraitForm(
        name=name, value=value, members=members, of_members=41, elsewhere=elsewhere,
        of_elsewhere=of_elsewhere, first=None, last=None,
    )  # fmt: skip


def test_what_sets_its_answers_apart_is_a_hint_not_a_cause() -> None:
    prompt, release = (
        trait("prompt_version", "v5", 41, 0, 1201),
        trait("service_version", "1", 41, 1201, 1201),
    )
    assert sentences.trait_line(release).elsewhere == "as elsewhere"
    assert sentences.stands_out([release, prompt]) == (
        "It may be prompt v5: 41 of 41 of its answers have it, elsewhere 0 of 1,201. Nobody knows "
        "more yet."
    )
    assert sentences.stands_out([release]).startswith("Nobody knows yet.")
    alone = trait("prompt_version", "v5", 41, 0, 0)
    assert sentences.trait_line(alone).elsewhere == "elsewhere not known"
    assert sentences.stands_out([alone]).startswith("Nobody knows yet.")


def neighbour(**fields: object) -> NeighbourForm:
    given: dict[str, object] = {
        "beside_trace_id": "a", "beside_record_id": "b", "trace_id": "c", "record_id": "d",
        "time": FIRST - timedelta(hours=1), "route": "/refunds/ask", "question": "How long?",
        "service_version": "1.4.0", "prompt_version": "v3", "index_epoch": "", "llm_model": "m",
        "by": Likeness.SAME, "likeness": 1.0,
    }  # fmt: skip
    return NeighbourForm.model_validate({**given, **fields})


def member(**fields: object) -> MemberForm:
    given: dict[str, object] = {
        "trace_id": "a", "record_id": "b", "time": NOW, "route": "/refunds/ask", "kind": "rubric",
        "rubric": "citation_validity", "label": "quote_not_found", "rubrics": [], "reason": "",
        "question": "How long?", "stream": "base", "inclusion_probability": 1.0,
        "service_version": "1.4.0", "prompt_version": "v5", "index_epoch": "", "llm_model": "m",
        "by": "key", "strength": 1.0, "others": [],
    }  # fmt: skip
    return MemberForm.model_validate({**given, **fields})


def test_a_neighbour_says_how_it_was_chosen_and_what_differs() -> None:
    assert sentences.neighbour_words(neighbour(), member(), FIRST) == (
        "the same question, prompt v3, from before the first failure"
    )
    later = neighbour(time=NOW, by=Likeness.MEANING, prompt_version="v5")
    assert sentences.neighbour_words(later, member(), FIRST) == (
        "nearest question that passes, by meaning, the same version"
    )
    unknown = {"service_version": "", "prompt_version": "", "llm_model": ""}
    assert (
        sentences.neighbour_words(
            neighbour(time=NOW, by=Likeness.WORDS, **unknown), member(**unknown), FIRST
        )
        == "nearest question that passes, by words"
    )
    assert sentences.member_words(member()) == "prompt v5"


def test_the_end_of_a_state_is_said() -> None:
    ignored = issue(state=IssueState.IGNORED, ignored_members=50)
    assert sentences.bounds(ignored, NOW) == "until it has 50 answers"
    until = issue(state=IssueState.IGNORED, ignored_until=NOW + timedelta(hours=1))
    assert sentences.bounds(until, NOW) == "until 09:06 UTC"
    assert sentences.bounds(issue(state=IssueState.IGNORED), NOW) == "for ever"
    assert sentences.bounds(issue(state=IssueState.RESOLVED, resolved_in="1.5"), NOW) == "in 1.5"
    assert sentences.bounds(issue(), NOW) == ""


def test_every_step_of_an_issue_has_words() -> None:
    assert set(sentences.DONE) == set(IssueVerb)
    step = IssueEventForm(time=NOW, verb=IssueVerb.RESOLVE, actor="ada", text="in 1.5")
    assert sentences.event_line(step) == "ada resolved it: in 1.5"
    opened = IssueEventForm(time=NOW, verb=IssueVerb.OPENED, actor="", text="3 members")
    assert sentences.event_line(opened) == "Opened: 3 members"


def test_a_pair_says_why_it_looks_alike() -> None:
    pair = PairForm(
        kept="a", kept_name="A", merged="b", merged_name="B", verdict=PairVerdict.PROPOSED,
        likeness=0.81, shared=0.7, time=NOW, actor="",
    )  # fmt: skip
    assert sentences.pair_words(pair) == (
        "Their reasons are 81 % alike, and 70 % of both fell into one group."
    )


def test_a_report_has_a_price_before_it_is_asked_for() -> None:
    free = ExplainingForm(
        is_running=False, model="", most_usd=None, most_tokens=None, most_seconds=0
    )
    assert sentences.price(free).startswith("No judge is configured")
    paid = ExplainingForm(
        is_running=False, model="openai:m", most_usd=0.5, most_tokens=None, most_seconds=600
    )
    assert sentences.price(paid) == "openai:m reads its traces: at most 0.50 US$ and 10 min."
    assert sentences.grade(GradeForm(name="severity", grade=9, reason="")).grade == 5
