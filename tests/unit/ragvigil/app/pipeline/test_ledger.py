"""Every span of a frame ends in exactly one column of the books."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.app.pipeline.ledger import Edge, FrameLedger, FrameRow


def opened(ledger: FrameLedger, seq: int, spans: int, before: int) -> None:
    ledger.opened(seq, spans=spans, spans_before=before, received_unix_nano=seq * 1000)


def test_a_frame_is_settled_once_when_its_last_span_is_placed() -> None:
    ledger = FrameLedger()
    opened(ledger, 7, 3, 0)
    ledger.count(stored=[7, 7])
    assert ledger.settled() == []
    ledger.count(duplicate=[7])
    row = FrameRow(
        edge=Edge(7, 0), received_unix_nano=7000, spans=3, stored=2, duplicate=1, quarantined=0
    )
    assert ledger.settled() == [row]
    assert ledger.settled() == []


def test_the_edge_is_the_first_frame_that_is_not_settled() -> None:
    ledger = FrameLedger(settled={4})
    assert ledger.edge() is None
    opened(ledger, 4, 2, 10)
    assert ledger.edge() == Edge(5, 12)
    opened(ledger, 6, 1, 14)  # the frame between them held 2 spans
    opened(ledger, 7, 1, 15)
    assert ledger.edge() == Edge(6, 12)
    ledger.count(stored=[6])
    ledger.settled()
    assert ledger.edge() == Edge(7, 15)
    ledger.count(stored=[7])
    ledger.settled()
    assert ledger.edge() == Edge(8, 16)


def test_spans_of_a_frame_that_vanished_are_quarantined() -> None:
    ledger = FrameLedger()
    opened(ledger, 1, 2, 0)
    opened(ledger, 3, 2, 7)  # the frame between them held 5 spans
    ledger.count(stored=[1, 1, 3, 3])
    assert [(row.spans, row.quarantined) for row in ledger.settled()] == [(2, 0), (7, 5)]


def test_a_frame_that_an_earlier_life_has_settled_is_not_counted_again() -> None:
    ledger = FrameLedger(settled={4})
    opened(ledger, 4, 2, 0)
    ledger.count(stored=[4, 4])
    assert ledger.settled() == []
    assert ledger.waiting_spans() == 0


@given(st.lists(st.lists(st.sampled_from(["stored", "duplicate", "quarantined"]), min_size=1)))
def test_acknowledged_is_the_sum_of_what_was_placed(frames: list[list[str]]) -> None:
    ledger = FrameLedger()
    before = 0
    for seq, fates in enumerate(frames, start=1):
        opened(ledger, seq, len(fates), before)
        before += len(fates)
    rows: list[FrameRow] = []
    for seq, fates in enumerate(frames, start=1):
        for fate in fates:
            ledger.count(**{fate: [seq]})
        rows += ledger.settled()
    placed = sum(row.stored + row.duplicate + row.quarantined for row in rows)
    assert placed + ledger.waiting_spans() == before
    assert ledger.waiting_spans() == 0
