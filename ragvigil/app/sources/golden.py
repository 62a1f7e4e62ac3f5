"""The API's golden set: the job's values as forms, its errors as the API's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

from clustering.golden.case import BadCase, as_json, parse
from clustering.golden.composition import composition
from clustering.golden.git import RepositoryRefuses
from clustering.golden.set_file import is_as_signed
from clustering.golden.verbs import Refused
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.trace import NotStored
from ragvigil.model.golden import CaseRun, GoldenCase
from ragvigil.web.api.golden import CaseRefused, NoSuchCase, WrongCase
from ragvigil.web.views.golden import (
    BrokenForm,
    ChecksForm,
    EditPost,
    Line,
    MixForm,
    ProposePost,
    RejectPost,
    SetForm,
    SignPost,
)

Result = TypeVar("Result")


class Golden:
    """The API's `GoldenSource`."""

    def __init__(self, job: GoldenJob) -> None:
        self._job = job

    def golden_set(self) -> SetForm:
        """The set as it is committed; only cases that are as they were signed count in its mix."""
        committed = self._job.read_set()
        mix = composition([case for case in committed.cases if is_as_signed(case)])
        return SetForm(
            cases=[as_json(case) for case in committed.cases],
            broken=[
                BrokenForm(case_id=line.case_id, line=line.number, why=line.why)
                for line in committed.broken
            ],
            problem=committed.problem,
            mix=MixForm.model_validate(asdict(mix)),
        )

    def checks(self, case: GoldenCase) -> ChecksForm:
        """What must be known before a case is signed."""
        checks = self._job.checks(case)
        return ChecksForm(blocking=checks.blocking, warnings=checks.warnings, unseen=checks.unseen)

    def propose(self, post: ProposePost) -> GoldenCase:
        """Makes a stored record a proposed case."""
        return _checked(
            lambda: self._job.propose(post.trace_id, post.record_id, post.issue_id, post.actor)
        )

    def add(self, line: Line, actor: str) -> GoldenCase:
        """Makes an imported line a proposed case."""
        return _checked(lambda: self._job.add(parse(line), actor))

    def edit(self, case_id: str, post: EditPost) -> GoldenCase:
        """Changes a case."""
        changes = post.model_dump(mode="json", exclude={"actor", "revision"}, exclude_none=True)
        return _checked(lambda: self._job.edit(case_id, changes, post.actor, post.revision))

    def sign(self, case_id: str, post: SignPost) -> CaseRun:
        """Commits a case and runs it."""
        return _checked(
            lambda: self._job.sign(
                case_id, post.actor, post.content_hash, despite_warnings=post.despite_warnings
            )
        )

    def reject(self, case_id: str, post: RejectPost) -> GoldenCase:
        """Declines a proposal."""
        return _checked(lambda: self._job.reject(case_id, post.actor, post.text))

    def run(self, case_id: str) -> CaseRun:
        """Runs a case now."""
        return _checked(lambda: self._job.run(case_id))


def _checked(verb: Callable[[], Result]) -> Result:
    """Calls a verb of the job. Raises NoSuchCase, CaseRefused or WrongCase."""
    try:
        return verb()
    except NotStored as error:
        raise NoSuchCase(str(error)) from error
    except (Refused, RepositoryRefuses) as error:
        raise CaseRefused(str(error)) from error
    except BadCase as error:
        raise WrongCase(str(error)) from error
