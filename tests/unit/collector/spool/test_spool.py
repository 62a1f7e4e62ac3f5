"""The spool on a real disk: append, read, drop, full disks, failed syncs, damage."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.spool.directory import FrameGone
from collector.spool.files import AppendFile, RealFiles
from collector.spool.frames import Frame
from collector.spool.reader import SpoolReader
from collector.spool.recovery import SEQ_GAP
from collector.spool.spool import SpoolError, SpoolFull, SpoolWriter
from ragvigil.model.span import Signal
from tests.patience import PATIENCE_SECONDS

Append = Callable[..., "asyncio.Future[int]"]


async def put(spool: SpoolWriter, payload: bytes, *, items: int = 1, backfill: str = "") -> int:
    return await spool.append(
        payload, signal=Signal.TRACES, items=items, received_unix_nano=7, backfill=backfill
    )


def payloads(reader: SpoolReader, from_seq: int = 0) -> list[bytes]:
    return [frame.payload for frame in reader.read(from_seq)]


def segment_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.seg"))


async def test_a_frame_comes_back_as_it_was_appended(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await spool.append(b"one", signal=Signal.TRACES, items=4, received_unix_nano=11)
    await spool.append(b"two", signal=Signal.LOGS, items=2, received_unix_nano=12)
    seq = await spool.append(
        b"three", signal=Signal.TRACES, items=5, received_unix_nano=13, backfill="läuft"
    )
    assert SpoolReader(tmp_path).get(seq) == Frame(
        seq=seq,
        signal=Signal.TRACES,
        items=5,
        spans_before=4,
        logs_before=2,
        received_unix_nano=13,
        backfill="läuft",
        payload=b"three",
    )
    await spool.close()


async def test_appends_at_the_same_time_share_a_sync(tmp_path: Path) -> None:
    syncs = 0

    class Counting(RealFiles):
        def create(self, path: Path) -> AppendFile:
            opened = super().create(path)
            sync = opened.sync

            def counted() -> None:
                nonlocal syncs
                syncs += 1
                sync()

            opened.sync = counted  # type: ignore[method-assign]
            return opened

    spool = await SpoolWriter.open(tmp_path, files=Counting())
    seqs = await asyncio.gather(*(put(spool, b"%d" % number) for number in range(100)))
    await spool.close()
    assert seqs == sorted(set(seqs))
    assert syncs <= 5
    assert payloads(SpoolReader(tmp_path)) == [b"%d" % number for number in range(100)]


async def test_lingering_ends_when_a_group_is_full(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path, linger_seconds=3600, group_bytes=10)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(put(spool, b"123456"), put(spool, b"123456"))
    await spool.close()


async def test_a_reader_follows_the_writer_over_segments(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path, segment_bytes=300)
    reader = SpoolReader(tmp_path)
    seen: list[bytes] = []
    last = 0
    for number in range(20):
        await put(spool, b"x%d" % number * 20)
        for frame in reader.read(last + 1):
            seen.append(frame.payload)
            last = frame.seq
    await spool.close()
    assert seen == [b"x%d" % number * 20 for number in range(20)]
    assert last == reader.durable_seq
    assert len(segment_files(tmp_path)) > 5


async def test_reading_again_gives_the_same_frames(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path, segment_bytes=300)
    for number in range(20):
        await put(spool, b"%d" % number)
    await spool.close()
    reader = SpoolReader(tmp_path)
    assert payloads(reader) == payloads(reader) == [b"%d" % number for number in range(20)]


async def test_the_reader_knows_how_much_was_acknowledged(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"a", items=3)
    await put(spool, b"b", items=4)
    await spool.close()
    mark = SpoolReader(tmp_path).mark()
    assert (mark.spans, mark.logs) == (7, 0)


async def test_a_restart_goes_on_with_higher_seqs_and_the_same_totals(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    first = await put(spool, b"a", items=3)
    await spool.close()
    spool = await SpoolWriter.open(tmp_path)
    second = await put(spool, b"b", items=4)
    await spool.close()
    assert second > first
    assert second >= SEQ_GAP
    reader = SpoolReader(tmp_path)
    assert [frame.spans_before for frame in reader.read(0)] == [0, 3]
    assert reader.mark().spans == 7


async def test_an_empty_directory_has_nothing_to_read(tmp_path: Path) -> None:
    reader = SpoolReader(tmp_path / "new")
    assert payloads(reader) == []
    assert reader.durable_seq == 0
    with pytest.raises(FrameGone):
        reader.get(1)


async def test_foreign_empty_and_garbage_files_do_not_stop_a_start(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000003-00000000.seg").write_bytes(b"")
    (tmp_path / "00000000000000000005-0000ffff.seg").write_bytes(b"\xf5RV1" * 500)
    (tmp_path / "99999999999999999999-0000ffff.seg").write_bytes(b"x")
    (tmp_path / "checkpoint-core").write_bytes(b"\xff\xfe")
    (tmp_path / "durable.mark").write_bytes(b"short")
    (tmp_path / "notes.txt").write_bytes(b"hello")
    (tmp_path / "folder.seg").mkdir()
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"kept")
    await spool.close()
    assert spool.recovery.foreign == 2
    reader = SpoolReader(tmp_path)
    assert payloads(reader) == [b"kept"]
    assert reader.checkpoint_of("core").seq == 0


async def test_a_torn_tail_is_cut_off(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"kept")
    await spool.close()
    (path,) = segment_files(tmp_path)
    intact = path.read_bytes()
    path.write_bytes(intact + intact[:30])
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"next")
    await spool.close()
    assert (spool.recovery.torn_bytes, spool.recovery.damaged) == (30, 0)
    assert path.read_bytes() == intact
    assert payloads(SpoolReader(tmp_path)) == [b"kept", b"next"]


async def test_a_damaged_frame_is_set_aside_and_its_spans_counted(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    for payload in (b"first", b"second", b"third"):
        await put(spool, payload, items=2)
    await spool.close()
    (path,) = segment_files(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"second", b"sec0nd"))
    spool = await SpoolWriter.open(tmp_path)
    await spool.close()
    assert (spool.recovery.damaged, spool.recovery.lost_spans) == (1, 2)
    (copy,) = (tmp_path / "quarantine").iterdir()
    assert copy.read_bytes().endswith(b"sec0nd")
    assert payloads(SpoolReader(tmp_path)) == [b"first", b"third"]


async def test_a_damaged_last_frame_that_was_acknowledged_is_counted_as_lost(
    tmp_path: Path,
) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"first", items=2)
    await put(spool, b"second", items=3)
    await spool.close()
    (path,) = segment_files(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"second", b"sec0nd"))
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"third", items=1)
    await spool.close()
    assert (spool.recovery.damaged, spool.recovery.lost_spans) == (1, 3)
    assert SpoolReader(tmp_path).mark().spans == 6


async def test_a_frame_planted_in_a_payload_is_never_read_as_one(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"first")
    await spool.close()
    planted = segment_files(tmp_path)[0].read_bytes()
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"carrier:" + planted)
    await put(spool, b"last")
    await spool.close()
    path = segment_files(tmp_path)[1]
    path.write_bytes(path.read_bytes().replace(b"carrier:", b"carrier;"))
    assert payloads(SpoolReader(tmp_path)) == [b"first", b"last"]


class FailingFiles(RealFiles):
    """Fails writes or syncs with `code` while it is set."""

    def __init__(self) -> None:
        self.write_code = self.sync_code = 0

    def create(self, path: Path) -> AppendFile:
        return _Failing(self, super().create(path))


class _Failing:
    def __init__(self, files: FailingFiles, opened: AppendFile) -> None:
        self._files, self._opened = files, opened

    def write(self, data: bytes) -> None:
        if self._files.write_code:
            self._opened.write(data[: len(data) // 2])
            raise OSError(self._files.write_code, "injected")
        self._opened.write(data)

    def sync(self) -> None:
        if self._files.sync_code:
            raise OSError(self._files.sync_code, "injected")
        self._opened.sync()

    def close(self) -> None:
        self._opened.close()


async def test_a_full_disk_refuses_and_goes_on_by_itself(tmp_path: Path) -> None:
    files = FailingFiles()
    spool = await SpoolWriter.open(tmp_path, files=files)
    await put(spool, b"before")
    files.write_code = errno.ENOSPC
    for _ in range(5):
        with pytest.raises(SpoolFull):
            await put(spool, b"refused")
    files.write_code = 0
    await put(spool, b"after")
    await spool.close()
    assert payloads(SpoolReader(tmp_path)) == [b"before", b"after"]
    assert len(segment_files(tmp_path)) == 2


async def test_after_a_failed_sync_everything_that_waited_is_refused_and_a_new_segment_begins(
    tmp_path: Path,
) -> None:
    files = FailingFiles()
    spool = await SpoolWriter.open(tmp_path, files=files)
    first = await put(spool, b"before")
    files.sync_code = errno.EIO
    answers = await asyncio.gather(*(put(spool, b"no") for _ in range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [SpoolError] * 3
    files.sync_code = 0
    later = await put(spool, b"after")
    await spool.close()
    assert later > first + 3
    assert payloads(SpoolReader(tmp_path)) == [b"before", b"after"]
    assert len(segment_files(tmp_path)) == 2


async def test_refused_frames_that_stay_on_the_disk_are_never_read(tmp_path: Path) -> None:
    class Stubborn(FailingFiles):
        def truncate(self, path: Path, size: int) -> None:
            raise OSError(errno.EIO, f"{path.name} is not cut at {size}")

    files = Stubborn()
    spool = await SpoolWriter.open(tmp_path, files=files)
    await put(spool, b"before")
    files.sync_code = errno.EIO
    with pytest.raises(SpoolError):
        await put(spool, b"refused")
    files.sync_code = 0
    await put(spool, b"after")
    await spool.close()
    assert b"refused" in segment_files(tmp_path)[0].read_bytes()
    assert payloads(SpoolReader(tmp_path)) == [b"before", b"after"]
    spool = await SpoolWriter.open(tmp_path)
    await spool.close()
    assert payloads(SpoolReader(tmp_path)) == [b"before", b"after"]


async def test_a_sender_that_went_away_does_not_disturb_the_others(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    gone = asyncio.create_task(put(spool, b"gone"))
    stays = asyncio.create_task(put(spool, b"stays"))
    await asyncio.sleep(0)
    gone.cancel()
    await stays
    await spool.close()
    assert b"stays" in payloads(SpoolReader(tmp_path))


async def test_a_checkpoint_survives_and_is_per_consumer(tmp_path: Path) -> None:
    reader = SpoolReader(tmp_path)
    reader.checkpoint("core", 5)
    reader.checkpoint("audit", 3)
    reader.checkpoint("core", 9)
    again = SpoolReader(tmp_path)
    assert [again.checkpoint_of(name).seq for name in ("core", "audit", "new")] == [9, 3, 0]


async def test_consumed_segments_go_after_a_while_and_the_open_one_stays(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path, segment_bytes=100)
    seqs = [await put(spool, b"x" * 100) for _ in range(4)]
    reader = SpoolReader(tmp_path)
    assert reader.drop_consumed(seqs[2], older_than_seconds=300, now=1000.0) == 0
    assert reader.drop_consumed(seqs[2], older_than_seconds=300, now=1299.0) == 0
    assert reader.drop_consumed(seqs[2], older_than_seconds=300, now=1300.0) == 2
    assert reader.drop_consumed(seqs[3] + 1, older_than_seconds=0, now=1300.0) == 1
    assert len(segment_files(tmp_path)) == 1
    with pytest.raises(FrameGone):
        reader.get(seqs[0])
    assert reader.get(seqs[3]).payload == b"x" * 100
    assert reader.usage().oldest_seq == seqs[3] - 1
    await spool.close()


async def test_a_segment_that_was_ended_goes_too_and_the_totals_go_on(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    seq = await put(spool, b"x", items=3)
    reader = SpoolReader(tmp_path)
    reader.checkpoint("core", seq, 3)
    assert reader.drop_consumed(seq + 1, older_than_seconds=0, now=0.0) == 0
    await spool.end_segment()
    assert reader.drop_consumed(seq, older_than_seconds=0, now=0.0) == 0
    assert reader.drop_consumed(seq + 1, older_than_seconds=0, now=0.0) == 1
    assert segment_files(tmp_path) == []
    await put(spool, b"y", items=2)
    assert reader.drop_consumed(seq + 99, older_than_seconds=0, now=0.0) == 0
    (tmp_path / "durable.mark").unlink()
    await spool.end_segment()
    later = next(reader.read(seq + 1))
    reader.checkpoint("core", later.seq, 5)
    reader.drop_consumed(later.seq + 1, older_than_seconds=0, now=0.0)
    await spool.close()
    (tmp_path / "durable.mark").unlink()
    spool = await SpoolWriter.open(tmp_path)
    last = await put(spool, b"z")
    await spool.close()
    assert later.spans_before == 3
    assert SpoolReader(tmp_path).get(last).spans_before == 5


async def test_a_dropped_segment_keeps_no_descriptor_open(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path, segment_bytes=100)
    seqs = [await put(spool, b"x" * 100) for _ in range(4)]
    reader, other = SpoolReader(tmp_path), SpoolReader(tmp_path)
    assert len(payloads(other)) == 4
    reader.drop_consumed(seqs[-1], older_than_seconds=0, now=0.0)
    links = Path("/proc/self/fd")
    assert [link for link in _targets(links) if "(deleted)" in link and str(tmp_path) in link]
    other.release_dropped()
    assert not [link for link in _targets(links) if "(deleted)" in link and str(tmp_path) in link]
    await spool.close()


def _targets(folder: Path) -> list[str]:
    """Where the links of a folder lead."""
    return [str(link.readlink()) for link in folder.iterdir() if link.is_symlink()]


async def test_seqs_rise_even_when_only_a_checkpoint_is_left(tmp_path: Path) -> None:
    SpoolReader(tmp_path).checkpoint("core", 5_000_000)
    spool = await SpoolWriter.open(tmp_path)
    assert await put(spool, b"new") > 5_000_000
    await spool.close()


async def test_a_crash_loop_leaves_one_empty_segment_at_most(tmp_path: Path) -> None:
    for _ in range(5):
        await (await SpoolWriter.open(tmp_path)).close()
    assert len(segment_files(tmp_path)) == 0


async def test_what_fits_no_frame_is_refused_alone(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    answers = await asyncio.gather(
        put(spool, b"x", backfill="r" * 257),
        put(spool, b"x", items=-1),
        put(spool, b"kept"),
        return_exceptions=True,
    )
    await spool.close()
    assert [type(answer) for answer in answers] == [ValueError, ValueError, int]
    assert payloads(SpoolReader(tmp_path)) == [b"kept"]


async def test_an_append_after_the_end_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await spool.close()
    with pytest.raises(SpoolError):
        await put(spool, b"late")


async def test_a_segment_that_began_and_ended_between_two_looks_is_read(tmp_path: Path) -> None:
    spool = await SpoolWriter.open(tmp_path)
    first = await put(spool, b"x")
    reader = SpoolReader(tmp_path)
    assert [frame.seq for frame in reader.read(1)] == [first]
    await spool.end_segment()
    assert list(reader.read(first + 1)) == []
    second = await put(spool, b"y")
    await spool.end_segment()
    assert [frame.seq for frame in reader.read(first + 1)] == [second]
    await spool.close()
