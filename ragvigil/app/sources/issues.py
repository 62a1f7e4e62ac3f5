"""The API's issues: lists, stories, members, and people's verbs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from clustering.issues.counts import Count
from clustering.issues.job import IssueJob
from clustering.issues.message import lines, message
from clustering.issues.redirects import IssueRedirects
from clustering.issues.verbs import UnknownIssue, VerbDoesNotFit
from clustering.rca import job as explaining
from clustering.rca.job import RootCauseJob
from clustering.rca.report import own_words
from ragvigil.app.sources import issue_numbers
from ragvigil.app.sources.issue_numbers import (
    count,
    days,
    harmed,
    per_day,
    sampled_members,
    traffic,
)
from ragvigil.app.sources.issue_traffic import IssueTraffic, Traffic
from ragvigil.model.issue import Issue, IssueEvent, IssueState, IssueVerb, PairVerdict
from ragvigil.store.engine.store import Store
from ragvigil.store.engine.together import together
from ragvigil.store.issues import causes, root_causes
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues import views as issue_views
from ragvigil.store.issues.neighbours import neighbours
from ragvigil.store.issues.views import SampledMembers
from ragvigil.store.watch import incidents
from ragvigil.store.watch.incidents import IncidentFilter
from ragvigil.web.api.issues import NoSuchIssue, NotListed, VerbRefused
from ragvigil.web.views import issues as forms
from ragvigil.web.views.issue_evidence import (
    ExplainingForm,
    IncidentLinkForm,
    NeighbourForm,
    PartForm,
    incident_links,
)
from ragvigil.web.views.values import view

SETTLED = (IssueState.RESOLVED, IssueState.IGNORED)
"""Listed last, however many answers they harm: a person has decided about them."""
MERGING = (IssueVerb.MERGE, IssueVerb.UNMERGE)
"""Verbs of two issues: each of them has an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SizedIssue:
    """An issue with its members by sampling; `harmed` are the answers of the last 24 hours."""

    issue: Issue
    samples: Sequence[SampledMembers]
    harmed: Count
    now: float

    @property
    def harmed_per_day(self) -> float:
        return per_day(self.issue, self.harmed.about, self.now)

    @property
    def surely_harmed_per_day(self) -> float:
        """The lower bound: nine of a small sample go behind fifty that were seen."""
        return per_day(self.issue, self.harmed.low, self.now)


class Issues:
    """The API's `IssueSource`."""

    def __init__(
        self,
        store: Store,
        job: IssueJob,
        explaining: RootCauseJob,
        *,
        external_url: str = "",
        clock: Callable[[], float] = time.time,
        retired: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._store, self._job, self._explaining = store, job, explaining
        self._url, self._clock, self._retired = external_url, clock, retired
        self._traffic = IssueTraffic(store, clock)

    def find(self, filter_: stored.IssueFilter, after: str = "") -> forms.IssuesForm:
        """Issues that match, those that surely harm most answers first. Raises NotListed."""
        redirects = self._redirects()
        sized = self._sized(redirects.find(filter_), redirects)
        sized.sort(key=_urgency)
        shown, following = _page([each.issue.issue_id for each in sized], after, filter_.limit)
        background = self._around(redirects).outside.of(filter_)
        open_ = [each for each in sized if each.issue.state not in SETTLED]
        everything = redirects.find(stored.IssueFilter())
        return forms.IssuesForm(
            issues=self._forms(sized[shown], redirects),
            found=len(sized),
            next=following,
            open=len(open_),
            harmed_per_day=sum(each.harmed_per_day for each in open_),
            unseen=len(redirects.find(replace(filter_, since=0, until=0))) - len(sized),
            owners=sorted({issue.assignee for issue in everything if issue.assignee}),
            not_grouped=sum(family.failing for family in background),
            pending_minutes=self._job.pending_minutes,
            background=background,
        )

    def story(self, issue_id: str) -> forms.IssueStoryForm:
        """All that is known of an issue. Raises NoSuchIssue."""
        redirects, store = self._redirects(), self._store
        issue = _home(redirects, issue_id)
        ids, names = redirects.ids([issue]), redirects.names()
        (examples, passing), (form,), (traits, facets, pairs), (reports, found, events) = together(
            lambda: issue_numbers.representatives(store, issue, ids),
            lambda: self._forms(self._sized([issue], redirects), redirects),
            lambda: (
                self._traits(issue, ids),
                issue_views.facets(store, ids),
                stored.pairs(store, verdict=PairVerdict.PROPOSED, issue_id=issue.issue_id),
            ),
            lambda: (
                root_causes.find(store, issue.issue_id, limit=1),
                self._incidents(issue),
                self._events(issue, ids),
            ),
        )
        return forms.IssueStoryForm(
            **dict(form),
            background=self._around(redirects).outside.of_issue(issue),
            traits=traits,
            facets=[view(forms.FacetForm, facet) for facet in facets],
            representatives=[forms.member_form(member) for member in examples],
            neighbours=[view(NeighbourForm, each) for each in passing],
            terms=own_words(reports[0].text) if reports else [],
            incidents=found,
            parts=[
                PartForm(issue_id=part, name=names[part]) for part in ids if part != issue.issue_id
            ],
            explaining=view(
                ExplainingForm, self._explaining.limits(), is_running=self._explaining.is_running
            ),
            pairs=[forms.pair_form(pair, names) for pair in pairs],
            root_cause=forms.cause_form(reports[0]) if reports else None,
            events=[view(forms.IssueEventForm, event) for event in events],
        )

    def members(self, issue_id: str, filter_: failed.FailureFilter) -> forms.MembersForm:
        """Members that the filter leaves, newest first. Raises NoSuchIssue."""
        redirects = self._redirects()
        ids = tuple(redirects.ids([_home(redirects, issue_id)]))
        more = replace(filter_, issue_ids=ids, newest_first=True, limit=filter_.limit + 1)
        members = failed.find(self._store, more)
        return forms.members_form(members[: filter_.limit], has_more=len(members) > filter_.limit)

    def retest(self, issue_id: str, limit: int) -> forms.RetestForm:
        """The newest member of each question, with neighbours. Raises NoSuchIssue."""
        redirects, store = self._redirects(), self._store
        issue = _home(redirects, issue_id)
        members = issue_numbers.of_different_questions(store, redirects.ids([issue]), limit)
        return forms.RetestForm(
            service=issue.service,
            environment=issue.environment,
            members=[forms.member_form(member) for member in members],
            neighbours=[view(NeighbourForm, each) for each in neighbours(store, issue, members)],
        )

    def parts(self, issue_id: str) -> tuple[str, ...]:
        """The ids of an issue and of those merged into it. Raises NoSuchIssue."""
        redirects = self._redirects()
        return tuple(redirects.ids([_home(redirects, issue_id)]))

    def pairs(self) -> forms.PairsForm:
        """Proposed merges, the most alike first."""
        names = self._redirects().names()
        pairs = stored.pairs(self._store, verdict=PairVerdict.PROPOSED)
        return forms.PairsForm(pairs=[forms.pair_form(pair, names) for pair in pairs])

    def act(
        self, issue_id: str, verb: IssueVerb, actor: str, post: forms.IssueActPost
    ) -> forms.IssueForm:
        """Applies a person's verb. Raises NoSuchIssue or VerbRefused."""
        try:
            after = self._job.act(
                issue_id,
                verb,
                actor,
                post.text,
                until=post.until.timestamp() if post.until else 0.0,
                count=post.count,
                release=post.release,
                name=post.name,
                other=post.other,
            )
        except UnknownIssue as error:
            raise NoSuchIssue(str(error)) from error
        except VerbDoesNotFit as error:
            raise VerbRefused(str(error)) from error
        redirects = self._redirects()
        (form,) = self._forms(self._sized([after], redirects), redirects)
        return form

    def explain(self, issue_id: str, actor: str) -> forms.RootCauseForm:
        """Looks for the root cause now. Raises NoSuchIssue or VerbRefused."""
        issue = _home(self._redirects(), issue_id)
        with _explaining_errors(issue_id):
            return forms.cause_form(self._explaining.explain_now(issue.issue_id, actor))

    def begin_explaining(self, issue_id: str, actor: str) -> None:
        """Begins to look for the root cause. Raises NoSuchIssue or VerbRefused."""
        with _explaining_errors(issue_id):
            self._explaining.begin(issue_id, actor)

    def _redirects(self) -> IssueRedirects:
        return IssueRedirects(self._job.issues())

    def _sized(self, issues: Sequence[Issue], redirects: IssueRedirects) -> list[_SizedIssue]:
        now = self._clock()
        return [
            _SizedIssue(issue=issue, samples=samples, harmed=harmed(samples), now=now)
            for issue, samples in sampled_members(self._store, issues, redirects, now)
        ]

    def _around(self, redirects: IssueRedirects) -> Traffic:
        heads = redirects.find(stored.IssueFilter())
        return self._traffic.of(issue.issue_id for issue in heads)

    def _forms(
        self, sized: Sequence[_SizedIssue], redirects: IssueRedirects
    ) -> list[forms.IssueForm]:
        answers, retired = self._around(redirects).answers, self._retired()
        return [
            forms.issue_form(
                each.issue,
                count=view(forms.CountForm, count(each.samples)),
                days=days(each.samples),
                message=lines(message(each.issue, count(each.samples), self._url, retired)),
                harmed_per_day=each.harmed_per_day,
                traffic=traffic(each.harmed.about, answers.get(each.issue.issue_id, 0)),
            )
            for each in sized
        ]

    def _traits(self, issue: Issue, ids: Sequence[str]) -> list[forms.TraitForm]:
        """Traits of its members, beside how many other answers of its time have them."""
        traits = issue_views.traits(self._store, ids)
        others = issue_views.elsewhere(self._store, issue, ids, traits, causes.since(issue))
        return [
            view(forms.TraitForm, trait, elsewhere=elsewhere, of_elsewhere=of)
            for trait, (elsewhere, of) in zip(traits, others, strict=True)
        ]

    def _incidents(self, issue: Issue) -> list[IncidentLinkForm]:
        since = max(0, issue.first_unix_nano // 10**9 - 3600)
        filter_ = IncidentFilter(service=issue.service, since=since)
        return list(incident_links(issue, incidents.find(self._store, filter_)))

    def _events(self, issue: Issue, ids: Sequence[str]) -> list[IssueEvent]:
        """What was done to an issue and its merged issues, oldest first; a merge once."""
        events = [event for name in ids for event in stored.events(self._store, name)]
        once = (
            event
            for event in events
            if event.issue_id == issue.issue_id or event.verb not in MERGING
        )
        return sorted(once, key=lambda event: event.time_unix_nano)


def _home(redirects: IssueRedirects, issue_id: str) -> Issue:
    """The issue that has the members of this id now. Raises NoSuchIssue."""
    issue = redirects.home(issue_id)
    if issue is None:
        raise NoSuchIssue(f"there is no issue {issue_id}")
    return issue


@contextmanager
def _explaining_errors(issue_id: str) -> Iterator[None]:
    try:
        yield
    except explaining.NoSuchIssue as error:
        raise NoSuchIssue(f"there is no issue {issue_id}") from error
    except explaining.Busy as error:
        raise VerbRefused(str(error)) from error


def _urgency(sized: _SizedIssue) -> tuple[bool, float, str]:
    return (sized.issue.state in SETTLED, -sized.surely_harmed_per_day, sized.issue.issue_id)


def _page(ids: Sequence[str], after: str, limit: int) -> tuple[slice, str | None]:
    """The page behind an issue, and the id that leads on from it. Raises NotListed."""
    if after and after not in ids:
        raise NotListed(f"query.cursor: issue {after} is not in this list; begin it again")
    start = ids.index(after) + 1 if after else 0
    end = start + limit
    return slice(start, end), ids[end - 1] if end < len(ids) else None
