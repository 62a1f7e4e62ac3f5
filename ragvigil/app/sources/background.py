"""What fails outside of issues, for the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clustering.issues.background_list import TooFew
from ragvigil.web.api.background import (
    BackgroundGroupForm,
    BackgroundKindForm,
    ExampleForm,
    NotGrouped,
)
from ragvigil.web.views.issues import CountForm
from ragvigil.web.views.values import view

if TYPE_CHECKING:
    from clustering.issues.job import IssueJob


class IssueBackground:
    """The API's `BackgroundSource`."""

    def __init__(self, job: IssueJob) -> None:
        self._job = job

    def kinds(self) -> Sequence[BackgroundKindForm]:
        """By rubric and label, the most first."""
        return [
            BackgroundKindForm(
                service=kind.key.service,
                environment=kind.key.environment,
                family=kind.key.family,
                rubric=kind.key.rubric,
                label=kind.key.label,
                name=kind.name,
                routes=list(kind.routes),
                count=view(CountForm, kind.count),
                last_day=kind.last_day,
                answers=kind.answers,
                rate=kind.rate,
            )
            for kind in self._job.background()
        ]

    def groups(self) -> Sequence[BackgroundGroupForm]:
        """Clusters, made now. Raises NotGrouped."""
        try:
            groups = self._job.background_groups()
        except TooFew as error:
            raise NotGrouped(str(error)) from error
        return [
            BackgroundGroupForm(
                name=group.name,
                failures=group.failures,
                examples=[
                    ExampleForm(
                        trace_id=row.failure.trace_id,
                        record_id=row.failure.record_id,
                        question=row.failure.question or "",
                        reason=row.failure.reason,
                    )
                    for row in group.examples
                ],
            )
            for group in groups
        ]
