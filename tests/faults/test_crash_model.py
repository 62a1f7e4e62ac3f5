"""Spool, consumer and power cuts as one stateful model, on a disk that forgets."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from collector.spool.directory import SpoolError
from collector.spool.frames import Frame
from collector.spool.journal import Journal
from collector.spool.reader import SpoolReader
from ragvigil.model.span import Signal
from tests.faults.crash_files import Crashed, CrashFiles, EagerFiles

DIRECTORY = Path("/spool")


class SpoolUnderCrashes(RuleBasedStateMachine):
    """A writer, a consumer, and at any time a power cut in the middle of an operation."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = random.Random(0)
        self.files = CrashFiles(self.rng, self.at)
        self.countdown = 0
        self.fault = 0
        self.number = 0
        self.acknowledged: dict[int, bytes] = {}
        self.refused: set[bytes] = set()
        self.stored: dict[int, bytes] = {}
        self.checkpoint = 0
        self.start()

    def at(self, point: str) -> None:
        self.countdown -= 1
        if self.countdown == 0:
            raise Crashed(point)
        if self.fault and point == "before_fsync":
            self.fault -= 1
            raise OSError(5, "injected")

    def start(self) -> None:
        salt: Callable[[], int] = lambda: self.rng.getrandbits(32)  # noqa: E731
        self.journal = Journal(self.files, DIRECTORY, segment_bytes=400, salt=salt)
        self.reader = SpoolReader(DIRECTORY, files=self.files)

    def restart(self) -> None:
        self.countdown = self.fault = 0
        self.files.crash()
        self.start()
        assert self.reader.checkpoint_of("core").seq >= self.checkpoint
        self.checkpoint = self.reader.checkpoint_of("core").seq
        self.refused.clear()  # a refused frame may have reached the disk before the cut

    @rule(count=st.integers(1, 3), seed=st.integers(0, 1000))
    def append(self, count: int, seed: int) -> None:
        self.rng.seed(seed)
        frames = []
        for _ in range(count):
            self.number += 1
            payload = b"%d" % self.number * 5
            frames.append(Frame(seq=0, signal=Signal.TRACES, items=1, payload=payload))
        try:
            seqs = self.journal.commit(frames)
        except SpoolError:
            self.refused |= {frame.payload for frame in frames}
            return
        except Crashed:
            self.restart()
            return
        assert min(seqs) > max(self.acknowledged, default=0)
        self.acknowledged |= dict(zip(seqs, (frame.payload for frame in frames), strict=True))

    @rule()
    def consume(self) -> None:
        last = self.checkpoint
        for frame in self.reader.read(last + 1):
            assert frame.seq > last
            assert frame.payload not in self.refused
            assert self.acknowledged.get(frame.seq, frame.payload) == frame.payload
            assert self.stored.get(frame.seq, frame.payload) == frame.payload
            self.stored[frame.seq] = frame.payload
            last = frame.seq
        try:
            self.reader.checkpoint("core", last)
            self.checkpoint = last
            self.reader.drop_consumed(last + 1, older_than_seconds=0, now=0.0)
        except OSError:
            return
        except Crashed:
            self.restart()
            return
        assert self.acknowledged.keys() <= self.stored.keys()

    @rule(operations=st.integers(1, 12))
    def aim_a_power_cut(self, operations: int) -> None:
        self.countdown = operations

    @rule()
    def cut_the_power_between_operations(self) -> None:
        self.restart()

    @precondition(lambda self: not self.fault)
    @rule(times=st.integers(1, 2))
    def let_syncs_fail(self, times: int) -> None:
        self.fault = times

    @invariant()
    def every_acknowledged_frame_is_stored_or_can_be_read(self) -> None:
        for seq, payload in self.acknowledged.items():
            if seq > self.checkpoint:
                assert self.reader.get(seq).payload == payload


TestSpoolUnderCrashes = SpoolUnderCrashes.TestCase
TestSpoolUnderCrashes.settings = settings(
    max_examples=150, stateful_step_count=30, deadline=None, derandomize=True
)


def lost_after_a_cut(files: CrashFiles, groups: int) -> int:
    """Acknowledged frames that are gone after the power was cut behind `groups` commits."""
    journal = Journal(files, DIRECTORY)
    acknowledged = [
        journal.commit([Frame(seq=0, signal=Signal.TRACES, payload=b"x" * 200)])[0]
        for _ in range(groups)
    ]
    files.crash()
    Journal(files, DIRECTORY)
    found = {frame.seq for frame in SpoolReader(DIRECTORY, files=files).read(0)}
    return len(set(acknowledged) - found)


@pytest.mark.parametrize("seed", range(20))
def test_a_writer_that_syncs_first_loses_nothing(seed: int) -> None:
    assert lost_after_a_cut(CrashFiles(random.Random(seed)), groups=10) == 0


def test_a_writer_that_acknowledges_first_is_caught() -> None:
    lost = [lost_after_a_cut(EagerFiles(random.Random(seed)), groups=10) for seed in range(20)]
    assert any(lost)


@pytest.mark.parametrize("seed", range(20))
def test_the_seq_of_a_frame_that_was_torn_off_never_comes_again(seed: int) -> None:
    def cut(point: str) -> None:
        if point == "after_write" and armed:
            raise Crashed(point)

    armed = False
    files = CrashFiles(random.Random(seed), cut)
    frame = Frame(seq=0, signal=Signal.TRACES, payload=b"x" * 90)
    journal = Journal(files, DIRECTORY)
    (last,) = journal.commit([frame])
    armed = True
    with pytest.raises(Crashed):
        journal.commit([frame] * 50)
    armed = False
    files.crash()
    (following,) = Journal(files, DIRECTORY).commit([frame])
    assert following > last + 50


def test_a_retried_sync_reports_success_and_has_lost_the_data() -> None:
    failures = ["before_fsync"]

    def at(point: str) -> None:
        if failures and point == failures[0]:
            failures.pop()
            raise OSError(5, "injected")

    files = CrashFiles(random.Random(1), at)
    opened = files.create(DIRECTORY / "file")
    files.sync_directory(DIRECTORY)
    opened.write(b"precious")
    with pytest.raises(OSError, match="injected"):
        opened.sync()
    opened.sync()
    files.crash()
    assert files.open(DIRECTORY / "file").read_at(0, 99) == b""
