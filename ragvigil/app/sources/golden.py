"""The API's golden set: the job's values as forms, its errors as the API's."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict
from itertools import compress
from typing import TypeVar

from clustering.golden import verbs
from clustering.golden.case import BadCase, as_json, parse
from clustering.golden.composition import composition
from clustering.golden.git import RepositoryRefuses
from clustering.golden.set_file import is_as_signed
from clustering.golden.verbs import Refused
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.trace import NotStored
from ragvigil.model.golden import CaseRun, GoldenCase
from ragvigil.web.api.golden import CaseRefused, NoSuchCase, OutsideTags, OwnCase, WrongCase
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
    Standing,
)

Result = TypeVar("Result")


class Golden:
    """The API's `GoldenSource`."""

    def __init__(self, job: GoldenJob) -> None:
        self._job = job

    @property
    def two_people(self) -> bool:
        """Whether whoever wrote a case may not sign it."""
        return self._job.two_people

    def golden_set(self) -> SetForm:
        """The set as it is committed; only cases that are as they were signed count in its mix."""
        committed = self._job.read_set()
        is_signed = [is_as_signed(case) for case in committed.cases]
        mix = composition(list(compress(committed.cases, is_signed)))
        return SetForm(
            cases=[as_json(case) for case in committed.cases],
            unsigned=[place for place, signed in enumerate(is_signed) if not signed],
            broken=[
                BrokenForm(case_id=line.case_id, line=line.number, why=line.why)
                for line in committed.broken
            ],
            problem=committed.problem,
            mix=MixForm.model_validate(asdict(mix)),
        )

    def standings(self) -> dict[str, Standing]:
        """Whether the cases that passed still do, by id. Raises StoreError."""
        return {name: each.value for name, each in self._job.passing.standings().items()}

    def checks(self, case: GoldenCase) -> ChecksForm:
        """What must be known before a case is signed."""
        checks = self._job.checks(case)
        return ChecksForm(blocking=checks.blocking, warnings=checks.warnings, unseen=checks.unseen)

    def propose(self, post: ProposePost, actor: str) -> GoldenCase:
        """Makes a stored record a proposed case."""
        return _checked(
            lambda: self._job.propose(post.trace_id, post.record_id, post.issue_id, actor)
        )

    def add(self, line: Line, actor: str) -> GoldenCase:
        """Makes an imported line a proposed case."""
        return _checked(lambda: self._job.add(parse(line), actor))

    def edit(self, case_id: str, post: EditPost, actor: str) -> GoldenCase:
        """Changes a case."""
        changes = post.model_dump(mode="json", exclude={"revision"}, exclude_none=True)
        return _checked(lambda: self._job.edit(case_id, changes, actor, post.revision))

    def sign(self, case_id: str, post: SignPost, actor: str, tags: Collection[str]) -> CaseRun:
        """Commits a case and runs it; `tags` bound what the actor may sign, none is no bound."""
        return _checked(
            lambda: self._job.sign(
                case_id,
                actor,
                post.content_hash,
                despite_warnings=post.despite_warnings,
                tags=tags,
            )
        )

    def reject(self, case_id: str, post: RejectPost, actor: str) -> GoldenCase:
        """Declines a proposal."""
        return _checked(lambda: self._job.reject(case_id, actor, post.text))

    def run(self, case_id: str) -> CaseRun:
        """Runs a case now."""
        return _checked(lambda: self._job.run(case_id))


def _checked(verb: Callable[[], Result]) -> Result:
    """Calls a verb of the job. Raises NoSuchCase, CaseRefused or WrongCase."""
    try:
        return verb()
    except NotStored as error:
        raise NoSuchCase(str(error)) from error
    except verbs.OwnCase as error:
        raise OwnCase(str(error)) from error
    except verbs.OutsideTags as error:
        raise OutsideTags(str(error)) from error
    except (Refused, RepositoryRefuses) as error:
        raise CaseRefused(str(error)) from error
    except BadCase as error:
        raise WrongCase(str(error)) from error
