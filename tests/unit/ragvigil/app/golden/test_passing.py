"""Cases that passed, run again after a deploy mark by a real service: failing, flaky, mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from ragvigil.app.golden.job import GoldenJob
from ragvigil.model.deploy import Deploy
from ragvigil.model.golden import CaseState, CaseVerb, GoldenCase
from ragvigil.model.issue import IssueVerb
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden, issues
from ragvigil.store.watch import deploys
from tests.flow.test_golden import RIGHT, WRONG, Service
from tests.golden_sets import Hands, job_of, work_tree

NANOS, MINUTE, DAY = 10**9, 60, 86_400
TARGET = {"answer": "reply.text", "chunk_ids": "reply.chunks[*].id"}


class InTurn(Service):
    """Gives its replies in turn, the last one for ever."""

    replies: list[Any]

    @property
    def reply(self) -> Any:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    @reply.setter
    def reply(self, reply: Any) -> None:
        self.replies = [reply]


@pytest.fixture
def service() -> Iterator[InTurn]:
    made = InTurn()
    made.reply = RIGHT
    yield made
    made.server.shutdown()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def job(store: Store, tmp_path: Path, service: InTurn, hands: Hands) -> GoldenJob:
    target = {**TARGET, "url": service.url}
    return job_of(store, work_tree(tmp_path / "set"), hands, target=target)[0]


@pytest.fixture
def case(store: Store, job: GoldenJob) -> GoldenCase:
    """A case of the issue i1 that was signed and passes."""
    made = GoldenCase(
        case_id="",
        question="How long do refunds take?",
        gold_chunk_ids=("refund-02",),
        gold_answer="5 to 7 days.",
        service="desk",
        environment="prod",
        route="/refunds",
        issue_id="i1",
    )
    added = job.add(made, "ada")
    added = job.edit(added.case_id, {"expected_facts": ["Refunds take 5 to 7 days."]}, "ada")
    job.sign(added.case_id, "bob", added.content_hash)
    found = golden.get(store, added.case_id)
    assert found is not None
    assert found.state is CaseState.PASSING
    return found


def deploy(store: Store, hands: Hands) -> None:
    mark = Deploy(
        deploy_id="d1",
        time_unix_nano=int(hands.now * NANOS),
        service="desk",
        environment="prod",
        version="2.4.2",
    )
    store.write(deploys.batch([mark], int(hands.now * NANOS)))


def last_verb(store: Store, case: GoldenCase) -> CaseVerb:
    return golden.events(store, case.case_id)[-1].verb


def gauge(name: str) -> float | None:
    place = {"service": "desk", "environment": "prod"}
    return REGISTRY.get_sample_value(f"ragvigil_golden_{name}", place)


def test_a_fault_that_comes_back_with_a_deploy_is_a_ticket_and_an_event_of_its_issue(
    store: Store, job: GoldenJob, case: GoldenCase, service: InTurn, hands: Hands
) -> None:
    job.watch()
    assert len(golden.runs(store, case.case_id)) == 1
    hands.now += MINUTE
    deploy(store, hands)
    service.reply = WRONG
    hands.now += 2 * MINUTE
    job.watch()
    assert gauge("failing_again") == 1
    assert last_verb(store, case) is CaseVerb.FAILED
    (event,) = issues.events(store, "i1")
    assert event.verb is IssueVerb.CASE_FAILED
    assert "does not state: Refunds take 5 to 7 days." in event.text
    assert (event.time_unix_nano - int(hands.now * NANOS)) / NANOS < 10 * MINUTE
    assert job.passing.standings() == {case.case_id: "fails_again"}
    hands.now += 2 * MINUTE
    asked = len(service.asked)
    job.watch()
    assert len(service.asked) == asked
    hands.now += DAY
    service.reply = RIGHT
    job.watch()
    assert gauge("failing_again") == 0
    assert [event.verb for event in issues.events(store, "i1")][-1] is IssueVerb.CASE_PASSED


def test_a_case_that_fails_now_and_then_is_marked_and_no_ticket(
    store: Store, job: GoldenJob, case: GoldenCase, service: InTurn, hands: Hands
) -> None:
    hands.now += DAY
    service.replies = [WRONG, RIGHT]
    job.watch()
    assert (gauge("failing_again"), gauge("flaky")) == (0, 1)
    assert last_verb(store, case) is CaseVerb.PASSED
    assert not issues.events(store, "i1")


def test_a_service_that_does_not_answer_says_nothing_of_a_case(
    store: Store, job: GoldenJob, case: GoldenCase, service: InTurn, hands: Hands
) -> None:
    hands.now += DAY
    service.status = 503
    job.watch()
    assert golden.runs(store, case.case_id)[0].is_pass is None
    assert gauge("failing_again") == 0
    assert golden.get(store, case.case_id) == case
