"""What began one incident is no evidence on another, and one fault that shows twice is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from alerts.signals.catalogue import number
from ragvigil.model.audit import Audit, AuditResult, AuditState
from ragvigil.model.finding import FindingKind
from ragvigil.model.notice import AS_BEFORE, Cause, ChangeKind
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import at, finding, folded, moved, notice

GONE = {"evidence": {"gone_documents": ["a", "b"]}, "after": "2 gone"}
CUT = finding(
    "cut",
    5,
    signal="answer_complete_text:truncated",
    layer=Layer.GENERATION,
    causes=(Cause.GENERATION,),
    value=0.4,
    reference=0.1,
)
RERANKED = notice("r", 0, ChangeKind.RERANKED, before="as usual", after="others")
REFUSED = finding(
    "refused",
    30,
    signal="refusal:refused",
    layer=Layer.GENERATION,
    causes=tuple(Cause),
    value=0.4,
    reference=0.15,
)


def dropped(rubric: str, change: float) -> AuditResult:
    return AuditResult(
        rubric=rubric, layer=Layer.RETRIEVAL, state=AuditState.DROPPED, n=200,
        before=0.8, after=0.8 + change, change=change, low=change - 0.05, high=change + 0.05,
    )  # fmt: skip


def audit_of_reranker(*results: AuditResult) -> Audit:
    return Audit(
        audit_id="a", service="desk", environment="prod", anchor_unix_nano=at(0),
        started_unix_nano=at(5), routes=("/ask",), since_unix_nano=(at(0),), sources=("r",),
        causes=(Cause.RETRIEVAL,), results=results,
    )  # fmt: skip


def test_a_second_fault_on_the_route_of_a_changed_reranker_has_its_own_layer() -> None:
    change = finding(
        "c", 0, kind=FindingKind.CHANGED, signal="reranked_otherwise", layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL,),
    )  # fmt: skip
    audit = audit_of_reranker(dropped("prompt_relevance", -0.3), dropped("rerank_gain", -0.3))
    found, _ = folded((), [change, CUT], 20, (RERANKED,), (audit,))
    causes = {incident.findings[0].finding_id: incident.cause for incident in found}
    assert causes == {"c": Cause.RETRIEVAL, "cut": Cause.GENERATION}


def test_what_held_in_an_audit_beside_an_incident_tells_of_it() -> None:
    held = [
        replace(dropped(rubric, 0.02), state=AuditState.STEADY)
        for rubric in ("context_relevance", "prompt_relevance")
    ]
    other = replace(audit_of_reranker(*held), anchor_unix_nano=at(40), sources=("other",))
    worse = replace(other, results=(dropped("context_relevance", -0.3),))
    (alone,), _ = folded((), [REFUSED], 60)
    (beside,), _ = folded((), [REFUSED], 60, (), (other,))
    (after_a_drop,), _ = folded((), [REFUSED], 60, (), (worse,))
    assert alone.cause is None
    assert beside.cause is Cause.GENERATION
    assert after_a_drop.verdict.likely == alone.verdict.likely


@pytest.mark.parametrize(("share", "apart", "incidents"), [(0.6, 8, 1), (1.0, 8, 2), (0.6, 40, 2)])
def test_documents_that_are_gone_may_show_as_other_chunks_on_a_further_route(
    share: float, apart: float, incidents: int
) -> None:
    gone = notice("d", 0, ChangeKind.DOCUMENTS, route="/a", **GONE)
    others = notice("o", apart, ChangeKind.OTHER_CHUNKS, route="/b", share=share, after="others")
    findings = [
        finding("fd", 0, kind=FindingKind.CHANGED, routes=("/a",), signal="documents_changed",
                causes=(Cause.CORPUS,)),
        finding("fo", apart, kind=FindingKind.CHANGED, routes=("/b",), signal="other_chunks",
                layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,)),
    ]  # fmt: skip
    found, _ = folded((), findings, apart + 10, (gone, others))
    assert len(found) == incidents


@pytest.mark.parametrize(("first", "incidents"), [("documents", 2), ("others", 1)])
def test_documents_that_are_gone_explain_no_other_chunks_on_their_route_later(
    first: str, incidents: int
) -> None:
    """Few requests may name a loss as other chunks first; named as it is, it is no second one."""
    since = {"documents": 0, "others": 5} if first == "documents" else {"documents": 5, "others": 0}
    gone = notice("d", since["documents"], ChangeKind.DOCUMENTS, **GONE)
    others = notice("o", since["others"], ChangeKind.OTHER_CHUNKS, share=0.3, after="others")
    findings = [
        finding("fd", since["documents"], kind=FindingKind.CHANGED, signal="documents_changed",
                causes=(Cause.CORPUS,)),
        finding("fo", since["others"], kind=FindingKind.CHANGED, signal="other_chunks",
                layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,)),
    ]  # fmt: skip
    found, _ = folded((), findings, 15, (gone, others))
    assert len(found) == incidents


@pytest.mark.parametrize("onset", [1, 4, 8])
def test_a_number_dated_between_two_changes_makes_them_no_single_one(onset: float) -> None:
    gone = notice("d", 0, ChangeKind.DOCUMENTS, **GONE)
    others = notice("o", 6, ChangeKind.OTHER_CHUNKS, share=0.3, after="others")
    first = finding(
        "d", 0, kind=FindingKind.CHANGED, signal="documents_changed", causes=(Cause.CORPUS,)
    )
    number = moved("m", onset, signal="context_relevance", layer=Layer.RETRIEVAL,
                   causes=(Cause.RETRIEVAL, Cause.CORPUS))  # fmt: skip
    second = finding(
        "o", 6, kind=FindingKind.CHANGED, signal="other_chunks", layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL,),
    )  # fmt: skip
    opened, _ = folded((), [first, number], 12, (gone,))
    found, _ = folded(opened, [first, number, second], 15, (gone, others))
    assert [each.cause for each in found] == [Cause.CORPUS, Cause.RETRIEVAL]


@pytest.mark.parametrize(
    ("apart", "is_return", "incidents"), [(4, False, 1), (30, False, 2), (30, True, 1)]
)
def test_a_second_change_of_one_kind_on_a_route_is_another_one_unless_it_leads_back(
    apart: float, is_return: bool, incidents: int
) -> None:
    changes = (
        notice("a", 0, ChangeKind.OTHER_CHUNKS, after="the same 3 chunks for every question"),
        notice("b", apart, ChangeKind.OTHER_CHUNKS, share=0.3, after="on 30 % of requests",
               evidence={AS_BEFORE: is_return}),
    )  # fmt: skip
    findings = [
        finding(f"f{change.notice_id}", since, kind=FindingKind.CHANGED, signal="other_chunks",
                layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,))
        for change, since in zip(changes, (0, apart), strict=True)
    ]  # fmt: skip
    found, _ = folded((), findings, apart + 10, changes)
    assert len(found) == incidents


@pytest.mark.parametrize(("since", "incidents"), [(1.0, 1), (6.0, 2)])
def test_another_language_is_copied_from_its_context_only_if_it_begins_with_it(
    since: float, incidents: int
) -> None:
    chunks = finding(
        "m", 0, signal="context_relevance:none_relevant", layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL, Cause.CORPUS),
    )  # fmt: skip
    language = finding(
        "l", since, signal="answer_language:failed", layer=Layer.GENERATION,
        causes=(Cause.GENERATION,), value=1.0, reference=0.2, low=0.7, high=0.8,
    )  # fmt: skip
    found, _ = folded((), [chunks, language], 10)
    assert len(found) == incidents


@pytest.mark.parametrize(("change", "incidents"), [(12.0, 1), (29.0, 2)])
def test_what_was_seen_before_a_change_did_not_begin_with_it(change: float, incidents: int) -> None:
    """A weak signal's onset may be off by much, but not beyond what it has shown by then."""
    weak = replace(REFUSED, since_unix_nano=at(2), seen_unix_nano=at(31), low=0.08, high=0.33)
    cut = notice("n", change, ChangeKind.RECHUNKED, before="200", after="100")
    later = finding(
        "c", change, kind=FindingKind.CHANGED, signal="re-chunked", layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL,),
    )  # fmt: skip
    opened, _ = folded((), [weak], 31)
    found, _ = folded(opened, [weak, later], 33, (cut,))
    assert len(found) == incidents


@pytest.mark.parametrize(("apart", "incidents"), [(3, 1), (40, 2)])
def test_chunks_that_are_cut_otherwise_on_every_route_at_once_are_one_change(
    apart: float, incidents: int
) -> None:
    """Texts of other routes, or in other languages, have other lengths before and after."""
    kind = ChangeKind.RECHUNKED
    cuts = (
        notice("a", 0, kind, route="/a", before="chunks of 194", after="chunks of 108"),
        notice("b", apart, kind, route="/b", before="chunks of 300", after="chunks of 120"),
    )
    findings = [
        finding(f"f{cut.route}", since, kind=FindingKind.CHANGED, routes=(cut.route,),
                signal=str(kind), layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,))
        for cut, since in zip(cuts, (0, apart), strict=True)
    ]  # fmt: skip
    found, _ = folded((), findings, apart + 5, cuts)
    assert len(found) == incidents


@pytest.mark.parametrize(
    ("signals", "incidents"),
    [
        (("top_score", "context_tokens"), 2),  # nothing says that both routes have one fault
        (("context_tokens", "context_tokens"), 1),  # what moves with the change moves there, too
    ],
)
def test_a_change_takes_in_what_moves_alike_on_another_route_and_nothing_else(
    signals: tuple[str, str], incidents: int
) -> None:
    causes = (Cause.RETRIEVAL, Cause.CORPUS)
    change = finding(
        "c", 1, kind=FindingKind.CHANGED, routes=("/a",), signal="re-chunked",
        layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,),
    )  # fmt: skip
    here, there = (
        moved(route, 0, routes=(route,), signal=signal, causes=causes)
        for route, signal in zip(("/a", "/b"), signals, strict=True)
    )
    cut = notice("n", 1, ChangeKind.RECHUNKED, route="/a", before="200", after="100")
    found, _ = folded((), [change, here, there], 10, (cut,))
    assert len(found) == incidents


def test_two_faults_five_minutes_apart_on_two_routes_are_two_incidents() -> None:
    """The onset of the first is dated late: to the minute in which the second is seen as a change.

    The answers of one route are cut off, the documents of another one are gone.
    """
    shorter = moved("m", 4, routes=("/a",), signal="answer_words", causes=(Cause.GENERATION,))
    less = moved("u", 4, routes=("/a",), signal="chunk_utilization",
                 causes=(Cause.RETRIEVAL, Cause.GENERATION))  # fmt: skip
    change = finding(
        "c", 5, kind=FindingKind.CHANGED, routes=("/b",), signal="other_chunks",
        layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,),
    )  # fmt: skip
    others = notice("n", 5, ChangeKind.OTHER_CHUNKS, route="/b", after="others")
    found, _ = folded((), [shorter, less, change], 15, (others,))
    routes = {frozenset(route for each in one.findings for route in each.routes) for one in found}
    assert routes == {frozenset({"/a"}), frozenset({"/b"})}


def test_a_context_that_is_used_less_may_be_of_documents_that_are_gone() -> None:
    """On one route the share shows later than the change, and belongs to it none the less."""
    gone = notice("d", 0, ChangeKind.DOCUMENTS, share=0.5, **GONE)
    change = finding(
        "c", 0, kind=FindingKind.CHANGED, signal="documents_changed", causes=(Cause.CORPUS,)
    )
    known = number("chunk_utilization")
    used = moved("u", 8, signal=known.signal, layer=known.layer, causes=known.causes)
    found, _ = folded((), [change, used], 30, (gone,))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("gained", "lost", "opened"),
    [(0.09, 0.08, 0), (0.06, 0.1, 0), (0.02, 0.15, 1), (-0.05, 0.08, 1)],
)
def test_a_fix_that_takes_back_what_its_change_had_gained_made_nothing_worse(
    gained: float, lost: float, opened: int
) -> None:
    """Each is known to 5 points, so that 4 points between them are no loss."""
    cut = notice("cut", 0, ChangeKind.RECHUNKED, before="chunks of 240", after="chunks of 120")
    back = notice("back", 90, ChangeKind.RECHUNKED, before="chunks of 120", after="chunks of 240")
    first = replace(dropped("context_relevance", gained), state=AuditState.STEADY)
    of_cut = replace(audit_of_reranker(first), sources=("cut",), ended_unix_nano=at(45))
    second = dropped("context_relevance", -lost)
    of_back = replace(
        audit_of_reranker(second), audit_id="b", sources=("back",), anchor_unix_nano=at(90)
    )
    drop = finding(
        "audit-b-context_relevance", 90, kind=FindingKind.AUDIT, signal="context_relevance",
        layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,), value=0.8 - lost, reference=0.8,
    )  # fmt: skip
    incidents, _ = folded((), [drop], 130, (cut, back), (of_cut, of_back))
    assert len(incidents) == opened


LATE = {"signal": "chunk_utilization", "causes": (Cause.RETRIEVAL, Cause.GENERATION)}


@pytest.mark.parametrize(("earliest", "incidents"), [(-5, 1), (100, 2), (None, 2)])
def test_a_finding_that_may_have_begun_with_an_incident_is_of_it(
    earliest: float | None, incidents: int
) -> None:
    """Answers came late, so that a number is dated 133 minutes after the change that moved it."""
    change = notice("n", 0, ChangeKind.PROMPT, before="v3", after="v5")
    broken = finding("b", 1, layer=Layer.GENERATION, causes=(Cause.GENERATION,))
    bounds = {} if earliest is None else {
        "earliest_unix_nano": at(earliest), "latest_unix_nano": at(134)
    }  # fmt: skip
    opened, _ = folded((), [broken], 10, (change,))
    late = moved("u", 133, **LATE, **bounds)
    found, _ = folded(opened, [broken, late], 140, (change,))
    assert len(found) == incidents
    audit = replace(
        moved("a", 133, **LATE, **bounds), kind=FindingKind.AUDIT, signal="groundedness"
    )
    paged, _ = folded(found, [broken, late, audit], 160, (change,))
    assert len(paged) == incidents


@pytest.mark.parametrize(("earliest", "incidents"), [(21, 1), (30, 2)])
def test_a_further_number_is_of_the_fault_unless_it_surely_began_apart(
    earliest: float, incidents: int
) -> None:
    """Few answers refuse at first: of dozens of numbers some miss their 95 % interval."""
    change = notice("n", 2, ChangeKind.OTHER_CHUNKS)
    low = finding("b", 4, signal="context_relevance:none_relevant", causes=(Cause.RETRIEVAL,))
    opened, _ = folded((), [low], 10, (change,))
    refusals = finding(
        "r", 35, signal="refusal:refused", causes=tuple(Cause),
        earliest_unix_nano=at(earliest), latest_unix_nano=at(36),
    )  # fmt: skip
    found, _ = folded(opened, [low, refusals], 65, (change,))
    assert len(found) == incidents


@pytest.mark.parametrize(
    ("number", "kind", "since", "incidents"),
    [
        ("context_order", ChangeKind.OTHER_ORDER, 2.6, 1),
        ("context_chunks", ChangeKind.TOP_K, 2.6, 1),
        ("chunk_characters", ChangeKind.RECHUNKED, 2.6, 1),
        ("context_chunks", ChangeKind.TOP_K, 20, 2),
        ("context_chunks", ChangeKind.OTHER_ORDER, 2.6, 2),
    ],
)
def test_a_number_and_the_change_that_it_measures_are_one_fault(
    number: str, kind: ChangeKind, since: float, incidents: int
) -> None:
    """The number shows on some routes before the change is named on another."""
    of: dict[str, Any] = {"layer": Layer.RETRIEVAL, "causes": (Cause.RETRIEVAL,)}
    measured = moved("m", 2, signal=number, routes=("/facts",), **of)
    opened, _ = folded((), [measured], 6)
    change = notice("n", since, kind, route="/town")
    named = finding("c", since, kind=FindingKind.CHANGED, signal=str(kind), routes=("/town",), **of)
    found, _ = folded(opened, [measured, named], 30, (change,))
    assert len(found) == incidents


@pytest.mark.parametrize("causes", [(Cause.GENERATION,), (Cause.CORPUS,)])
def test_a_second_fault_on_other_routes_is_its_own_whatever_bounds_its_onset(
    causes: tuple[Cause, ...],
) -> None:
    change = notice("n", 0, ChangeKind.RECHUNKED, route="/a", before="200", after="100")
    first = finding(
        "c", 0, kind=FindingKind.CHANGED, routes=("/a",), signal="re-chunked",
        layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,),
    )  # fmt: skip
    second = finding(
        "s", 14, routes=("/b",), causes=causes, earliest_unix_nano=at(-30),
        latest_unix_nano=at(15),
    )  # fmt: skip
    found, _ = folded((), [first, second], 20, (change,))
    assert {each.findings[0].finding_id for each in found} == {"c", "s"}
    assert len(found) == 2


@pytest.mark.parametrize(("since", "count"), [(1, 1), (7, 2)])
def test_citations_that_chunks_cut_anew_tear_belong_to_the_cut(since: float, count: int) -> None:
    cut = notice("cut", 0, ChangeKind.RECHUNKED, before="chunks of 240", after="chunks of 120")
    shorter = moved(
        "m", 0, signal="chunk_characters", layer=Layer.RETRIEVAL, causes=(Cause.RETRIEVAL,)
    )
    torn = finding(
        "t", since, signal="citation_validity:failed", causes=(Cause.GENERATION,), value=0.24,
        reference=0.2,
    )  # fmt: skip
    incidents, _ = folded((), [shorter, torn], 20, (cut,))
    assert len(incidents) == count
    assert Cause.RETRIEVAL in {incident.cause for incident in incidents}
