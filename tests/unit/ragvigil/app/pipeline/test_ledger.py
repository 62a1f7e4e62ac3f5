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
    row = FrameRow(seq=7, edge=Edge(7, 0), received_unix_nano=7000, spans=3, stored=2, duplicate=1)
    assert ledger.settled() == [row]
    assert ledger.settled() == []


def test_the_edge_is_the_first_frame_that_is_not_settled() -> None:
    ledger = FrameLedger(settled={4: 2})
    assert ledger.edge() is None
    opened(ledger, 4, 2, 10)
    assert ledger.edge() == Edge(5, 12)
    opened(ledger, 6, 1, 14)  # the frame between them held 2 spans
    opened(ledger, 7, 1, 15)
    assert ledger.edge() == Edge(5, 12)
    ledger.settled()
    assert ledger.edge() == Edge(6, 14)
    ledger.count(stored=[6])
    ledger.settled()
    assert ledger.edge() == Edge(7, 15)
    ledger.count(stored=[7])
    ledger.settled()
    assert ledger.edge() == Edge(8, 16)


def test_spans_of_a_frame_that_vanished_are_lost() -> None:
    ledger = FrameLedger()
    opened(ledger, 1, 2, 0)
    opened(ledger, 3, 2, 7)  # the frame between them held 5 spans
    ledger.count(stored=[1, 1, 3, 3])
    rows = [(row.seq, row.spans, row.stored, row.lost) for row in ledger.settled()]
    assert rows == [(1, 2, 2, 0), (2, 5, 0, 5), (3, 2, 2, 0)]


def test_the_first_frame_shows_what_was_lost_behind_the_checkpoint() -> None:
    ledger = FrameLedger(begin=Edge(11, 100))
    opened(ledger, 14, 1, 107)
    (row,) = ledger.settled()
    assert (row.seq, row.lost, row.edge) == (13, 7, Edge(11, 100))


def test_frames_that_were_settled_before_they_vanished_are_not_lost() -> None:
    ledger = FrameLedger(settled={11: 3, 13: 2}, begin=Edge(11, 100))
    opened(ledger, 14, 1, 107)
    (row,) = ledger.settled()
    assert (row.seq, row.lost) == (12, 2)


def test_a_replay_finds_the_row_of_a_loss_and_does_not_count_it_again() -> None:
    ledger = FrameLedger(settled={13: 7}, begin=Edge(11, 100))
    assert ledger.passed(Edge(14, 107), 0) == 0
    assert ledger.settled() == []


def test_the_end_of_the_spool_shows_what_was_lost_behind_its_last_frame() -> None:
    ledger = FrameLedger(begin=Edge(1, 0))
    opened(ledger, 1, 2, 0)
    assert ledger.passed(Edge(9, 6), 0) == 4
    assert ledger.passed(Edge(9, 6), 0) == 0
    opened(ledger, 20, 1, 6)
    assert [(row.seq, row.lost) for row in ledger.settled()] == [(8, 4)]


def test_a_frame_that_an_earlier_life_has_settled_is_not_counted_again() -> None:
    ledger = FrameLedger(settled={4: 2})
    opened(ledger, 4, 2, 0)
    ledger.count(stored=[4, 4])
    assert ledger.settled() == []
    assert ledger.waiting_spans() == 0


@given(
    st.lists(st.lists(st.sampled_from(["stored", "duplicate", "quarantined", "lost"]), min_size=1))
)
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
    placed = sum(row.stored + row.duplicate + row.quarantined + row.lost for row in rows)
    assert placed + ledger.waiting_spans() == before
    assert ledger.waiting_spans() == 0
