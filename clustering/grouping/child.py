"""Clusters in a one-shot process: vectors come in a file, clusters go out in another.

Started as `python -m clustering.grouping.child FOLDER SEED`; the child ends at once when its parent
is gone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from clustering.grouping.cluster import Clustering, clusters
from clustering.grouping.vectors import Vectors
from ragvigil.extras import CLUSTERING, missing
from ragvigil.inference.memory import resident_bytes
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process_priority import lower_priority, run_when_idle, thread_limits

CHECK_SECONDS = 0.25
"""How often the child's time and memory are checked."""
SHOWN = 300
"""Characters of a failed child's last line of output."""


def cluster_in_child(
    vectors: Vectors,
    *,
    seed: int,
    timeout_seconds: float,
    memory_bytes: int,
    compiled: Path,
    strata: Sequence[int] | None = None,
    stopping: threading.Event | None = None,
) -> Clustering | Unavailable:
    """Runs `clusters(vectors)` in a child with one thread on idle CPU; blocks until it ends.

    The child is killed when it exceeds its time or its resident memory, or when `stopping` is set.
    (An address space limit would kill it at the start: libraries reserve far more than they use.)
    `compiled` is a folder in which machine code is kept: it saves the next child 15 s of compiling.
    """
    if why := missing(CLUSTERING):
        return Unavailable(reason=Reason.NO_MODEL, detail=why)
    try:
        with TemporaryDirectory(prefix="ragvigil-clustering-") as name:
            folder = Path(name)
            np.save(folder / "vectors.npy", vectors)
            if strata is not None:
                np.save(folder / "strata.npy", np.asarray(strata, np.int64))
            compiled.mkdir(parents=True, exist_ok=True)
            with (folder / "output").open("wb") as output:
                child = _started(folder, seed, compiled, output.fileno())
            failure = _watched(child, timeout_seconds, memory_bytes, stopping)
            return failure or _result(folder, child.returncode)
    except OSError as error:
        return Unavailable(reason=Reason.CRASHED, detail=f"clustering does not start: {error}")


def main() -> None:
    """The child: clusters the vectors in the folder and writes the clusters beside them."""
    lower_priority()
    run_when_idle()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    strata = folder / "strata.npy"
    clustering = clusters(
        np.load(folder / "vectors.npy", mmap_mode="r"),
        seed=seed,
        strata=np.load(strata).tolist() if strata.exists() else None,
    )
    np.savez(
        folder / "clusters.npz",
        labels=clustering.labels,
        strengths=clustering.strengths,
        memberships=clustering.memberships,
    )


def _started(folder: Path, seed: int, compiled: Path, output: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (sys.executable, "-m", "clustering.grouping.child", str(folder), str(seed)),
        env=os.environ | thread_limits(1) | {"NUMBA_CACHE_DIR": str(compiled)},
        stdin=subprocess.PIPE,  # closes when the parent is gone, which ends the child
        stdout=subprocess.DEVNULL,
        stderr=output,
        start_new_session=True,
    )


def _watched(
    child: subprocess.Popen[bytes],
    timeout_seconds: float,
    memory_bytes: int,
    stopping: threading.Event | None,
) -> Unavailable | None:
    """Waits for the child; why it was killed, None where it ended by itself."""
    deadline = time.monotonic() + timeout_seconds
    with child:
        while True:
            try:
                child.wait(CHECK_SECONDS)
            except subprocess.TimeoutExpired:
                failure = _too_large(child.pid, memory_bytes)
                if time.monotonic() > deadline:
                    late = f"clustering took more than {timeout_seconds:g} s"
                    failure = Unavailable(reason=Reason.TIMED_OUT, detail=late)
                if stopping is not None and stopping.is_set():
                    failure = Unavailable(reason=Reason.CLOSED, detail="the daemon is stopping")
                if failure is not None:
                    child.kill()
                    return failure
            else:
                return None


def _too_large(pid: int, memory_bytes: int) -> Unavailable | None:
    resident = resident_bytes(pid)
    if resident <= memory_bytes:
        return None
    detail = f"clustering took {resident >> 20} MB, more than the {memory_bytes >> 20} MB it may"
    return Unavailable(reason=Reason.TOO_LARGE, detail=detail)


def _result(folder: Path, status: int) -> Clustering | Unavailable:
    if status < 0:
        return Unavailable(reason=Reason.CRASHED, detail=f"clustering ended by signal {-status}")
    if status:
        output = (folder / "output").read_text(encoding="utf-8", errors="replace").strip()
        last = output.splitlines()[-1][:SHOWN] if output else f"status {status}"
        return Unavailable(reason=Reason.FAILED, detail=f"clustering failed: {last}")
    with np.load(folder / "clusters.npz") as arrays:
        return Clustering(**{name: arrays[name] for name in arrays.files})


def _end_with_parent() -> None:
    os.read(0, 1)  # nothing is ever sent: it returns when the parent is gone
    os._exit(1)


if __name__ == "__main__":
    main()
