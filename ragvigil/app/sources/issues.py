"""What the API knows of issues: counts, stories, and people's verbs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

from clustering.issues.job import IssueJob
from clustering.issues.message import lines, message
from clustering.issues.metrics import URGENT
from clustering.issues.redirects import IssueRedirects
from clustering.issues.verbs import UnknownIssue, VerbDoesNotFit
from clustering.rca import job as explaining
from clustering.rca.job import RootCauseJob
from ragvigil.app.sources import issue_numbers
from ragvigil.app.sources.issue_numbers import Around, count, days, looked_of
from ragvigil.model.issue import Issue, IssueEvent, IssueState, IssueVerb, PairVerdict
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues import root_causes
from ragvigil.store.issues import views as issue_views
from ragvigil.web.api.issues import NoSuchIssue, VerbRefused
from ragvigil.web.views import issues as forms

ORDER = (
    *URGENT,
    IssueState.ONGOING,
    IssueState.ACKNOWLEDGED,
    IssueState.STALE,
    IssueState.RESOLVED,
    IssueState.IGNORED,
)
"""What needs somebody first."""
MERGING = (IssueVerb.MERGE, IssueVerb.UNMERGE)
"""Both issues have an event of these."""


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

    def find(self, wanted: stored.IssueFilter) -> forms.IssuesForm:
        """Issues that match, what needs somebody first, then the largest."""
        parts = self._parts()
        found = parts.find(wanted)
        found.sort(key=lambda one: (ORDER.index(one.state), -one.members, one.issue_id))
        shown = found[: wanted.limit]
        background = Around(self._store, self._clock()).of(wanted)
        return forms.IssuesForm(
            issues=[forms.IssueForm.model_validate(one) for one in self._values(shown, parts)],
            found=len(found),
            not_grouped=sum(one.failing for one in background),
            pending_minutes=self._job.pending_minutes,
            background=background,
        )

    def story(self, issue_id: str) -> forms.IssueStoryForm:
        """All that is known of an issue. Raises NoSuchIssue."""
        parts = self._parts()
        issue = _home(parts, issue_id)
        ids = parts.ids([issue])
        pairs = stored.pairs(self._store, verdict=PairVerdict.PROPOSED, issue_id=issue.issue_id)
        causes = root_causes.find(self._store, issue.issue_id, limit=1)
        typical = issue_numbers.representatives(self._store, issue, ids)
        (values,) = self._values([issue], parts)
        more = {
            "background": Around(self._store, self._clock()).of_issue(issue),
            "traits": [forms.trait_form(one) for one in issue_views.traits(self._store, ids)],
            "representatives": [forms.member_form(one) for one in typical],
            "pairs": [forms.pair_form(one, parts.names()) for one in pairs],
            "root_cause": forms.cause_form(causes[0]) if causes else None,
            "events": [forms.event_form(one) for one in self._events(issue, ids)],
        }
        return forms.IssueStoryForm.model_validate({**values, **more})

    def members(self, issue_id: str, until: int, limit: int) -> forms.MembersForm:
        """Members of the minutes before one, the newest first. Raises NoSuchIssue."""
        parts = self._parts()
        ids = tuple(parts.ids([_home(parts, issue_id)]))
        wanted = failed.FailureFilter(issue_ids=ids, until=until, limit=limit, newest_first=True)
        found = failed.find(self._store, wanted)
        return forms.MembersForm(members=[forms.member_form(one) for one in found])

    def pairs(self) -> forms.PairsForm:
        """Proposed merges, the likest first."""
        names = self._parts().names()
        found = stored.pairs(self._store, verdict=PairVerdict.PROPOSED)
        return forms.PairsForm(pairs=[forms.pair_form(one, names) for one in found])

    def act(self, issue_id: str, verb: IssueVerb, post: forms.IssueActPost) -> forms.IssueForm:
        """Does what a person says. Raises NoSuchIssue or VerbRefused."""
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
        (values,) = self._values([after], self._parts())
        return forms.IssueForm.model_validate(values)

    def explain(self, issue_id: str, actor: str) -> forms.RootCauseForm:
        """Looks for the root cause now. Raises NoSuchIssue or VerbRefused."""
        issue = _home(self._parts(), issue_id)
        try:
            return forms.cause_form(self._explaining.explain_now(issue.issue_id, actor))
        except explaining.NoSuchIssue as error:
            raise NoSuchIssue(f"there is no issue {issue_id}") from error
        except explaining.Busy as error:
            raise VerbRefused(str(error)) from error

    def _parts(self) -> IssueRedirects:
        return IssueRedirects(self._job.issues())

    def _values(self, issues: Sequence[Issue], parts: IssueRedirects) -> list[dict[str, object]]:
        """The values of `IssueForm`."""
        return [
            {
                **forms.issue_values(issue),
                "count": asdict(count(looked)),
                "days": days(looked),
                "message": lines(message(issue, count(looked), self._url)),
            }
            for issue, looked in looked_of(self._store, issues, parts, self._clock())
        ]

    def _events(self, issue: Issue, ids: Sequence[str]) -> list[IssueEvent]:
        """What was done to an issue and its parts, oldest first; a merge is told once."""
        found = [event for name in ids for event in stored.events(self._store, name)]
        told = (one for one in found if one.issue_id == issue.issue_id or one.verb not in MERGING)
        return sorted(told, key=lambda one: one.time_unix_nano)


def _home(parts: IssueRedirects, issue_id: str) -> Issue:
    issue = parts.home(issue_id)
    if issue is None:
        raise NoSuchIssue(f"there is no issue {issue_id}")
    return issue
