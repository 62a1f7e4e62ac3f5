"""`ragvigil evaluate --issue`: the issue's own questions, asked again of a release."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragvigil.app.cli.input.options import stop

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.case import Case
    from ragvigil.evaluation.case_set import CaseSet
    from ragvigil.evaluation.result import Result

MENDED, NOT_MENDED, CANNOT_SAY = 0, 1, 3
HASH_LETTERS = 16


class IssueQuestions:
    """The questions of an issue, from the daemon. Raises Refused or Unreachable."""

    def __init__(self, typed: str, config: Path | None) -> None:
        from ragvigil.app.cli.input import triage

        self.issue_id = triage.whole_id(config, "issues", typed)
        self._config = config
        self._retest: dict[str, Any] = triage.fetch(config, f"issues/{self.issue_id}/retest")
        if not self._retest["members"]:
            stop(f"issue {self.issue_id} has no member with a question")

    def cases(self, set_: CaseSet | None) -> CaseSet:
        """Members, neighbours, and the cases that must pass: of the set, else of the daemon's."""
        from ragvigil.evaluation.case_set import CaseSet
        from ragvigil.evaluation.proof import issue_cases

        known = set_.cases if set_ else self._golden_cases()
        cases = issue_cases(self._retest, [case for case in known if case.must_pass])
        content = "\n".join(f"{case.case_id} {case.question}" for case in cases)
        digest = sha256(content.encode("utf-8", "replace")).hexdigest()[:HASH_LETTERS]
        return CaseSet(name=f"issue {self.issue_id}", hash=digest, cases=tuple(cases))

    def conclude(
        self, results: Sequence[Result], settings: Settings, release: str, *, as_json: bool
    ) -> int:
        """Says what is mended and what broke; resolves the issue in `release`, if one is named.

        Only what is mended is resolved. Returns the exit status. With `as_json` it says so on
        standard error: a document is on the other.
        """
        from ragvigil.app.cli.output.console import print_text
        from ragvigil.app.client import api
        from ragvigil.evaluation.proof import prove, sentences

        proof = prove(self._retest, results)
        said, to = sentences(proof), sys.stderr if as_json else sys.stdout
        for sentence in said:
            print_text(sentence, to=to)
        if release and proof.is_mended:
            body = {"text": " ".join(said), "release": release}
            api.post(settings, f"issues/{self.issue_id}/resolve", body, role="triager")
            print_text(f"Resolved in {release}.", to=to)
        elif release:
            print_text(f"Not resolved in {release}.", to=to)
        if not proof.can_say:
            return CANNOT_SAY
        return MENDED if proof.is_mended else NOT_MENDED

    def _golden_cases(self) -> list[Case]:
        from clustering.golden.case import BadCase
        from ragvigil.app.cli.input import triage
        from ragvigil.app.client.api import Refused
        from ragvigil.evaluation.case_line import case_of

        try:
            rows = triage.fetch(self._config, "golden-set")["cases"]
            return [case_of(row, number) for number, row in enumerate(rows, start=1)]
        except Refused:  # a daemon that keeps no golden set
            return []
        except BadCase as error:
            stop(f"the daemon's golden set: {error}")
