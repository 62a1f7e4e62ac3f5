"""Who may erase, and what the command says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragvigil.store.engine.erased import Subject
from ragvigil.store.engine.store import Store
from ragvigil.web.api.erasures import ErasureForm
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.served_api import commands

TOKENS = {"admin_token": "admin-0123456789", "approver_token": "approver-0123456789"}
TRACE = "ab" * 16


class Eraser:
    """Ends at the second question."""

    def __init__(self, state: str = "done") -> None:
        self.asked: list[tuple[Subject, str]] = []
        self._last = state

    def begin(self, subject: Subject, id_: str) -> ErasureForm:
        self.asked.append((subject, id_))
        return self._form("running", "looking for traces")

    def find(self, erasure_id: str) -> ErasureForm | None:
        return self._form(self._last, "the disk is full") if erasure_id == "1" * 16 else None

    def newest(self, limit: int) -> list[ErasureForm]:
        return [self._form(self._last, "")][:limit]

    def _form(self, state: str, step: str) -> ErasureForm:
        return ErasureForm.model_validate(
            {
                "id": "1" * 16, "kind": "user", "state": state, "step": step, "traces": 2,
                "rows": {"spans": 9, "records": 2, "judge_replies": 0},
                "golden_cases": ["c-17"], "is_in_spool": True,
            }
        )  # fmt: skip


@pytest.fixture
def eraser() -> Eraser:
    return Eraser()


def test_the_command_waits_and_says_what_is_gone_and_what_is_not(
    store: Store, tmp_path: Path, eraser: Eraser
) -> None:
    web = api(store, Quiet(), WebSettings.model_validate(TOKENS), erasing=eraser)
    with commands(web, tmp_path, TOKENS) as line:
        said = line.say("erase", "--user", "ada", typed="y\n")
        for words in ("looking for traces", "2 traces", "spans", "9", "spool", "c-17"):
            assert words in said
        assert "judge_replies" not in said
        assert eraser.asked == [(Subject.USER, "ada")]
        assert "erase" in line.say("acts", "--thing", "erasures/" + "1" * 16)


def test_nothing_is_erased_without_a_yes_an_admin_and_one_whole_id(
    store: Store, tmp_path: Path, eraser: Eraser
) -> None:
    web = api(store, Quiet(), WebSettings.model_validate(TOKENS), erasing=eraser)
    with commands(web, tmp_path, TOKENS) as line:
        line.say("erase", "--user", "ada", typed="n\n", status=1)
        line.say("erase", "--user", "ada", "--trace", TRACE, "--yes", status=2)
        line.say("erase", "--yes", status=2)
        with pytest.raises(Exception, match="32 hexadecimal digits"):
            line.say("erase", "--trace", TRACE[:8], "--yes")
        with pytest.raises(Exception, match="the role approver may not administer"):
            line.say("erase", "--user", "ada", "--yes", token=TOKENS["approver_token"])
    assert eraser.asked == []


def test_a_failed_erasure_is_an_exit_status_and_a_reason(store: Store, tmp_path: Path) -> None:
    web = api(store, Quiet(), WebSettings.model_validate(TOKENS), erasing=Eraser("failed"))
    with commands(web, tmp_path, TOKENS) as line:
        said = line.say("erase", "--trace", TRACE, "--yes", status=1)
    assert "not erased: the disk is full" in said
