"""The API's issues: lists, stories, members, and people's verbs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from clustering.issues.job import IssueJob
from clustering.issues.message import lines, message
from clustering.issues.metrics import URGENT
from clustering.issues.redirects import IssueRedirects
from clustering.issues.verbs import UnknownIssue, VerbDoesNotFit
from clustering.rca import job as explaining
from clustering.rca.job import RootCauseJob
from ragvigil.app.sources import issue_numbers
from ragvigil.app.sources.issue_numbers import FailuresOutside, count, days, sampled_members
from ragvigil.model.issue import Issue, IssueEvent, IssueState, IssueVerb, PairVerdict
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues import root_causes
from ragvigil.store.issues import views as issue_views
from ragvigil.web.api.issues import NoSuchIssue, VerbRefused
from ragvigil.web.views import issues as forms
from ragvigil.web.views.values import view

ORDER = (
    *URGENT,
    IssueState.ONGOING,
    IssueState.ACKNOWLEDGED,
    IssueState.STALE,
    IssueState.RESOLVED,
    IssueState.IGNORED,
)
"""The most urgent first."""
MERGING = (IssueVerb.MERGE, IssueVerb.UNMERGE)
"""Verbs of two issues: each of them has an event."""


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
    ) -> None:
        self._store, self._job, self._explaining = store, job, explaining
        self._url, self._clock = external_url, clock

    def find(self, filter_: stored.IssueFilter) -> forms.IssuesForm:
        """Issues that match, the most urgent first, then the largest."""
        redirects = self._redirects()
        found = redirects.find(filter_)
        found.sort(key=lambda issue: (ORDER.index(issue.state), -issue.members, issue.issue_id))
        shown = found[: filter_.limit]
        background = FailuresOutside(self._store, self._clock()).of(filter_)
        return forms.IssuesForm(
            issues=self._forms(shown, redirects),
            found=len(found),
            not_grouped=sum(family.failing for family in background),
            pending_minutes=self._job.pending_minutes,
            background=background,
        )

    def story(self, issue_id: str) -> forms.IssueStoryForm:
        """All that is known of an issue. Raises NoSuchIssue."""
        redirects = self._redirects()
        issue = _home(redirects, issue_id)
        ids = redirects.ids([issue])
        pairs = stored.pairs(self._store, verdict=PairVerdict.PROPOSED, issue_id=issue.issue_id)
        causes = root_causes.find(self._store, issue.issue_id, limit=1)
        (form,) = self._forms([issue], redirects)
        return forms.issue_story(
            form,
            background=FailuresOutside(self._store, self._clock()).of_issue(issue),
            traits=issue_views.traits(self._store, ids),
            representatives=issue_numbers.representatives(self._store, issue, ids),
            pairs=[forms.pair_form(pair, redirects.names()) for pair in pairs],
            root_cause=causes[0] if causes else None,
            events=self._events(issue, ids),
        )

    def members(self, issue_id: str, until: int, limit: int) -> forms.MembersForm:
        """Members that failed before the minute `until`, newest first. Raises NoSuchIssue."""
        redirects = self._redirects()
        ids = tuple(redirects.ids([_home(redirects, issue_id)]))
        filter_ = failed.FailureFilter(issue_ids=ids, until=until, limit=limit, newest_first=True)
        members = failed.find(self._store, filter_)
        return forms.MembersForm(members=[forms.member_form(member) for member in members])

    def pairs(self) -> forms.PairsForm:
        """Proposed merges, the most alike first."""
        names = self._redirects().names()
        pairs = stored.pairs(self._store, verdict=PairVerdict.PROPOSED)
        return forms.PairsForm(pairs=[forms.pair_form(pair, names) for pair in pairs])

    def act(self, issue_id: str, verb: IssueVerb, post: forms.IssueActPost) -> forms.IssueForm:
        """Applies a person's verb. Raises NoSuchIssue or VerbRefused."""
        try:
            after = self._job.act(
                issue_id,
                verb,
                post.actor,
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
        (form,) = self._forms([after], self._redirects())
        return form

    def explain(self, issue_id: str, actor: str) -> forms.RootCauseForm:
        """Looks for the root cause now. Raises NoSuchIssue or VerbRefused."""
        issue = _home(self._redirects(), issue_id)
        try:
            return forms.cause_form(self._explaining.explain_now(issue.issue_id, actor))
        except explaining.NoSuchIssue as error:
            raise NoSuchIssue(f"there is no issue {issue_id}") from error
        except explaining.Busy as error:
            raise VerbRefused(str(error)) from error

    def _redirects(self) -> IssueRedirects:
        return IssueRedirects(self._job.issues())

    def _forms(self, issues: Sequence[Issue], redirects: IssueRedirects) -> list[forms.IssueForm]:
        return [
            forms.issue_form(
                issue,
                count=view(forms.CountForm, count(samples)),
                days=days(samples),
                message=lines(message(issue, count(samples), self._url)),
            )
            for issue, samples in sampled_members(self._store, issues, redirects, self._clock())
        ]

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
