"""What the API asks of the golden set, in its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from clustering.golden.case import BadCase, as_json, parse
from clustering.golden.composition import composition
from clustering.golden.git import RepositoryRefuses
from clustering.golden.set_file import InvalidCase, is_as_signed
from clustering.golden.verbs import Refused
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.trace import NotStored
from ragvigil.model.golden import CaseRun, GoldenCase
from ragvigil.web.api.golden import CaseRefused, NoSuchCase, WrongCase
from ragvigil.web.views.golden import ChecksForm, EditPost, ProposePost, RejectPost, SignPost

Answer = TypeVar("Answer")


class Golden:
    """The API's `GoldenSource`."""

    def __init__(self, job: GoldenJob) -> None:
        self._job = job

    def set_values(self) -> Mapping[str, Any]:
        """The set as it is committed; its composition is that of the cases as they were signed."""
        found = self._job.read_set()
        return {
            "cases": [as_json(one) for one in found.cases],
            "broken": [_broken(one) for one in found.broken],
            "problem": found.problem,
            "mix": asdict(composition([one for one in found.cases if is_as_signed(one)])),
        }

    def checks(self, case: GoldenCase) -> ChecksForm:
        """What must be known before a case is signed."""
        found = self._job.checks(case)
        return ChecksForm(blocking=found.blocking, warnings=found.warnings, unseen=found.unseen)

    def propose(self, post: ProposePost) -> GoldenCase:
        """Makes a stored record a proposed case."""
        return _said(
            lambda: self._job.propose(post.trace_id, post.record_id, post.issue_id, post.actor)
        )

    def add(self, line: Mapping[str, Any], actor: str) -> GoldenCase:
        """Makes an imported line a proposed case."""
        return _said(lambda: self._job.add(parse(line), actor))

    def edit(self, case_id: str, post: EditPost) -> GoldenCase:
        """Changes a case."""
        given = post.model_dump(mode="json", exclude={"actor", "revision"}, exclude_none=True)
        return _said(lambda: self._job.edit(case_id, given, post.actor, post.revision))

    def sign(self, case_id: str, post: SignPost) -> CaseRun:
        """Commits a case and runs it."""
        return _said(
            lambda: self._job.sign(
                case_id, post.actor, post.content_hash, despite_warnings=post.despite_warnings
            )
        )

    def reject(self, case_id: str, post: RejectPost) -> GoldenCase:
        """Declines a proposal."""
        return _said(lambda: self._job.reject(case_id, post.actor, post.text))

    def run(self, case_id: str) -> CaseRun:
        """Runs a case now."""
        return _said(lambda: self._job.run(case_id))


def _said(verb: Callable[[], Answer]) -> Answer:
    try:
        return verb()
    except NotStored as error:
        raise NoSuchCase(str(error)) from error
    except (Refused, RepositoryRefuses) as error:
        raise CaseRefused(str(error)) from error
    except BadCase as error:
        raise WrongCase(str(error)) from error


def _broken(one: InvalidCase) -> dict[str, Any]:
    return {"case_id": one.case_id, "line": one.number, "why": one.why}
