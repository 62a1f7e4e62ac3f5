"""The canary in the embedded store: frozen records and runs."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

from hypothesis import given

from ragvigil.model.record import Document, Latencies, RagRecord, Retrieval
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import canary, judged
from tests.contract.test_scorers import records
from tests.judged import JUDGE, RUBRICS, ids, keep_judged, verdict
from tests.outcomes import NOW, SECOND


@given(records)
def test_a_frozen_record_thaws_to_itself(record: RagRecord) -> None:
    thawed = canary.thaw(canary.freeze(record))
    # A number that JSON cannot hold is unknown; all else is the same.
    assert finite(thawed) == finite(record)
    assert canary.freeze(canary.thaw(canary.freeze(thawed))) == canary.freeze(thawed)


def finite(record: RagRecord) -> RagRecord:
    def known(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    def documents(found: tuple[Document, ...]) -> tuple[Document, ...]:
        return tuple(replace(document, score=known(document.score)) for document in found)

    times = {name: known(value) for name, value in asdict(record.latencies).items()}
    return replace(
        record,
        latencies=Latencies(**times),
        cost_usd=known(record.cost_usd),
        retrieved=documents(record.retrieved),
        reranked=documents(record.reranked),
        context=documents(record.context),
        dimensions=replace(record.dimensions, temperature=known(record.dimensions.temperature)),
    )


def a_set(store: Store, name: str, *numbers: int, at: int = NOW) -> canary.CanarySet:
    keep_judged(store, {number: [verdict(0.9)] for number in numbers})
    found = judged.read(store, [ids(number) for number in numbers])
    members = tuple(
        canary.CanaryRecord(record=found[ids(number)].record, kind="good") for number in numbers
    )
    return canary.CanarySet(set_id=name, chosen_unix_nano=at, members=members)


def test_the_current_set_is_the_last_chosen_with_its_records_whole(store: Store) -> None:
    assert canary.current(store) is None
    first, second = a_set(store, "b", 1, 2), a_set(store, "a", 2, 3, at=NOW + SECOND)
    for chosen in (first, second, second):
        store.write(canary.members_batch(chosen))
    assert canary.current(store) == second


def test_a_frozen_record_outlives_its_rows(store: Store) -> None:
    chosen = a_set(store, "a", 1)
    (member,) = chosen.members
    retrieval = Retrieval(query="q", documents=member.record.retrieved, span_id="s")
    whole = replace(member, record=replace(member.record, retrievals=(retrieval,)))
    store.write(canary.members_batch(replace(chosen, members=(whole,))))
    store.change("TRUNCATE TABLE records")
    store.change("TRUNCATE TABLE documents")
    found = canary.current(store)
    assert found is not None
    assert found.members == (whole,)
    assert found.members[0].record.context[0].content


def test_runs_are_the_first_and_the_last_and_a_repeated_one_is_one(store: Store) -> None:
    chosen = a_set(store, "a", 1, 2)
    for run in range(5):
        at = NOW + run * SECOND
        scores = [
            score
            for member in chosen.members
            for score in canary.scores_of_run(
                f"run-{run}", at, member.record, [verdict(0.1 * run)], RUBRICS
            )
        ]
        for received in (at, at + 1):
            store.write(canary.scores_batch("a", scores, received))
    found = canary.runs(store, "a", last=2)
    assert [run[0].run_id for run in found] == ["run-0", "run-3", "run-4"]
    assert [len(run) for run in found] == [2, 2, 2]
    assert found[-1][0].segment == f"r1 {JUDGE}1"
    assert [score.value for score in found[-1]] == [0.4, 0.4]
    assert [len(run) for run in canary.runs(store, "a", last=9)] == [2] * 5
    assert canary.runs(store, "other") == []


def test_a_missing_verdict_stays_missing(store: Store) -> None:
    chosen = a_set(store, "a", 1)
    scores = canary.scores_of_run("run", NOW, chosen.members[0].record, [verdict(None)], RUBRICS)
    store.write(canary.scores_batch("a", scores, NOW))
    ((found,),) = canary.runs(store, "a")
    assert (found.value, found.absent) == (None, "judge")
