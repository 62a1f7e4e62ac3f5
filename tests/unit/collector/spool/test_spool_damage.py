"""A spool that somebody damaged starts, goes on, and its totals say what is missing."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from collector.spool.directory import HIGHEST_SEQ
from collector.spool.files import ReadFile, RealFiles
from collector.spool.reader import READS_OF_A_SEGMENT, SpoolReader
from collector.spool.spool import SpoolError, SpoolWriter
from ragvigil.model.span import Signal
from tests.faults.spool_damages import DAMAGES, Damage, in_its_place

FRAMES, SPANS = 40, 3
EVERY = {b"%03d" % number * 40 for number in range(FRAMES)}


async def fill(directory: Path) -> list[Path]:
    """Forty frames of three spans over many segments; returns the segments."""
    spool = await SpoolWriter.open(directory, segment_bytes=1000)
    for number in range(FRAMES):
        await put(spool, b"%03d" % number * 40)
    await spool.close()
    return sorted(directory.glob("*.seg"))


async def put(spool: SpoolWriter, payload: bytes) -> int:
    return await spool.append(payload, signal=Signal.TRACES, items=SPANS, received_unix_nano=7)


def missing(reader: SpoolReader, from_seq: int = 1, spans: int = 0) -> tuple[list[bytes], int]:
    """The payloads that can be read, and the spans that the totals count and no frame brought."""
    payloads, lost = [], 0
    for frame in reader.read(from_seq):
        lost += frame.spans_before - spans
        spans = frame.spans_after
        payloads.append(frame.payload)
    assert reader.caught_up is not None
    return payloads, lost + reader.caught_up.spans - spans


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
async def test_a_damaged_spool_starts_and_every_missing_span_is_in_its_totals(
    tmp_path: Path, damage: Damage
) -> None:
    damage(tmp_path, await fill(tmp_path))
    spool = await SpoolWriter.open(tmp_path)
    reader = SpoolReader(tmp_path)
    reader.checkpoint("core", 0, 0)
    before, lost = missing(reader)
    assert len(before) == len(set(before)), "no frame comes twice"
    assert set(before) <= EVERY
    assert len(before) * SPANS + lost == FRAMES * SPANS, "what is missing is counted, exactly"
    await put(spool, b"after")
    after, lost_then = missing(SpoolReader(tmp_path))
    assert (after[-1], lost_then) == (b"after", lost)
    await spool.close()


@pytest.mark.parametrize("kind", ["removed", "renamed", "cut", "lengthened", "replaced"])
async def test_a_segment_that_changes_under_the_writer_takes_no_more_frames(
    tmp_path: Path, kind: str
) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"before")
    (path,) = tmp_path.glob("*.seg")
    if kind == "removed":
        path.unlink()
    elif kind == "renamed":
        path.rename(path.with_suffix(".bak"))
    elif kind == "cut":
        path.write_bytes(path.read_bytes()[:60])
    elif kind == "lengthened":
        path.write_bytes(path.read_bytes() + b"x" * 10)
    else:
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)
    with pytest.raises(SpoolError):
        await put(spool, b"refused")
    await put(spool, b"after")
    payloads, lost = missing(SpoolReader(tmp_path))
    is_there = kind in ("lengthened", "replaced")
    assert payloads == ([b"before"] if is_there else []) + [b"after"]
    assert lost == (0 if is_there else SPANS)
    await spool.close()


@pytest.mark.parametrize("kind", ["removed", "emptied", "a folder"])
async def test_both_processes_find_the_mark_again(tmp_path: Path, kind: str) -> None:
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"first")
    reader = SpoolReader(tmp_path)
    mark = tmp_path / "durable.mark"
    if kind == "removed":
        mark.unlink()
    elif kind == "emptied":
        mark.write_bytes(b"")
    else:
        in_its_place(mark)
    assert missing(reader)[1] == 0
    SpoolReader(tmp_path).close()  # a core that restarts makes the file
    await put(spool, b"second")
    assert missing(reader) == ([b"first", b"second"], 0)
    assert missing(SpoolReader(tmp_path)) == ([b"first", b"second"], 0)
    await spool.close()


async def test_a_checkpoint_that_is_ahead_of_everything_is_set_aside(tmp_path: Path) -> None:
    await fill(tmp_path)
    for seq in (10**7, HIGHEST_SEQ):
        SpoolReader(tmp_path).checkpoint("core", seq, 10**9)
        spool = await SpoolWriter.open(tmp_path)
        await spool.close()
        assert spool.recovery.set_aside == 1
        reader = SpoolReader(tmp_path)
        assert reader.checkpoint_of("core").seq == 0
        assert missing(reader) == (sorted(EVERY), 0)


async def test_the_totals_go_on_where_only_the_checkpoint_knows_them(tmp_path: Path) -> None:
    last = (await fill(tmp_path))[-1]
    reader = SpoolReader(tmp_path)
    reader.checkpoint("core", reader.durable_seq, FRAMES * SPANS)
    shutil.copy(tmp_path / "checkpoint-core", tmp_path.parent / "kept")
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    shutil.copy(tmp_path.parent / "kept", tmp_path / "checkpoint-core")
    assert not last.exists()
    spool = await SpoolWriter.open(tmp_path)
    await put(spool, b"new")
    await spool.close()
    (frame,) = SpoolReader(tmp_path).read(1)
    assert frame.spans_before == FRAMES * SPANS


async def test_seqs_of_an_earlier_spool_never_come_again(tmp_path: Path) -> None:
    first = await fill(tmp_path)
    shutil.rmtree(tmp_path)
    spool = await SpoolWriter.open(tmp_path, least_seq=int(first[-1].name[:20]) + 100)
    assert await put(spool, b"x") > int(first[-1].name[:20]) + FRAMES
    await spool.close()


async def test_a_segment_that_cannot_be_read_is_given_up_after_a_while(tmp_path: Path) -> None:
    class Unreadable(RealFiles):
        def open(self, path: Path) -> ReadFile:
            if path.name == unreadable.name:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return super().open(path)

    segments = await fill(tmp_path)
    unreadable = segments[2]
    reader = SpoolReader(tmp_path, files=Unreadable())
    for _ in range(READS_OF_A_SEGMENT - 1):
        list(reader.read(1))
        assert reader.caught_up is None, "what may still be read is not lost"
    payloads, lost = missing(reader)
    assert len(payloads) * SPANS + lost == FRAMES * SPANS
    assert lost > 0
    assert (tmp_path / "quarantine" / unreadable.name).exists(), "a person may still mend it"
