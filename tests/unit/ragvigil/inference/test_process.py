"""The real child with the real model: what it answers, and how it comes back from every end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragvigil.inference import weights
from ragvigil.inference.metrics import (
    CACHE_HITS,
    CPU_SECONDS,
    MEMORY_BYTES,
    RESTARTS,
    SHED,
    STARTS,
    TEXTS,
    UNAVAILABLE,
)
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import BATCH, Inference
from ragvigil.inference.settings import InferenceSettings
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

for package in ("sentence_transformers", weights.PACKAGE):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

TEXTS_OF_CATS = ("a cat sat on the mat", "the kitten was sitting on a rug", "quarterly earnings")


class Clock:
    """The real time, and what a test adds to it."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead

    def hurry(self, seconds: float) -> None:
        self.ahead += seconds


@pytest.fixture(scope="module")
def shared() -> Iterator[Inference]:
    """One child for all tests that leave it as it was."""
    inference = Inference(InferenceSettings())
    yield inference
    inference.close()


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def fragile(clock: Clock) -> Iterator[Inference]:
    """A child that tests may end; nothing is kept of its answers, and its share is tiny."""
    settings = InferenceSettings(cache_entries=0, cpu_share=0.001)
    inference = Inference(settings, clock=clock)
    yield inference
    inference.close()


def vectors(answer: object) -> np.ndarray:
    assert isinstance(answer, np.ndarray), answer
    return answer


def reason(answer: object) -> Reason:
    assert isinstance(answer, Unavailable)
    return answer.reason


def revived(inference: Inference, clock: Clock) -> np.ndarray:
    """The answer once a lost child may start again."""
    clock.hurry(120)
    return vectors(inference.embed(TEXTS_OF_CATS))


def pid_of(inference: Inference) -> int:
    pid = inference.child_pid
    assert pid is not None
    return pid


def count(counter: object, *labels: str) -> float:
    metric = counter.labels(*labels) if labels else counter  # type: ignore[attr-defined]
    return float(metric._value.get())


def test_rows_are_unit_vectors_that_tell_what_texts_mean(shared: Inference) -> None:
    rows = vectors(shared.embed(TEXTS_OF_CATS))
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    cats, _, earnings = rows @ rows[1]
    assert cats > 0.5 > 0.2 > earnings


def test_rows_stand_in_the_order_of_the_texts_however_long_and_often(
    shared: Inference, fragile: Inference, clock: Clock
) -> None:
    texts = [f"{'word ' * (40 - place % 40)}{place}" for place in range(2 * BATCH)]
    texts += texts
    rows = vectors(shared.embed(texts))
    revived(fragile, clock)
    for place in (0, BATCH - 1, BATCH, 2 * BATCH - 1, 2 * BATCH):
        alone = vectors(fragile.embed([texts[place]]))
        assert int(np.argmax(rows @ alone[0])) == place % (2 * BATCH)
        assert np.allclose(rows[place], alone[0], atol=1e-5)


def test_a_text_that_came_before_costs_no_child(shared: Inference) -> None:
    first = vectors(shared.embed(["a text that comes again"]))
    read, hits = count(TEXTS, "embed"), count(CACHE_HITS)
    os.kill(pid_of(shared), signal.SIGSTOP)
    try:
        again = vectors(shared.embed(["a text that comes again"]))
    finally:
        os.kill(pid_of(shared), signal.SIGCONT)
    assert np.array_equal(first, again)
    assert (count(TEXTS, "embed"), count(CACHE_HITS)) == (read, hits + 1)


def test_no_text_is_no_row_and_starts_nothing() -> None:
    inference = Inference(InferenceSettings())
    assert vectors(inference.embed([])).shape == (0, 0)
    assert inference.child_pid is None


def test_texts_that_no_tokenizer_takes_are_embedded_all_the_same(shared: Inference) -> None:
    rows = vectors(
        shared.embed(["half a \ud800 pair", "", "\x00", "\u202e\ufeff", "語" * 50_000_000])
    )
    assert np.isfinite(rows).all()
    assert rows.shape == (5, 384)


def test_many_threads_get_their_own_rows(shared: Inference) -> None:
    texts = [f"question number {place}" for place in range(12)]
    found: dict[int, np.ndarray] = {}

    def ask(place: int) -> None:
        found[place] = vectors(shared.embed([texts[place]]))[0]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = vectors(shared.embed(texts))
    assert all(np.array_equal(found[place], together[place]) for place in range(12))


def test_the_version_is_that_of_the_files(shared: Inference) -> None:
    vectors(shared.embed(["anything"]))
    folder = Path(weights.locate(InferenceSettings().embedding_model))
    assert shared.embedding_version == weights.version_of(folder)


def test_a_spent_share_sheds_optional_work_alone(fragile: Inference, clock: Clock) -> None:
    revived(fragile, clock)  # its start alone took more than the share of many minutes
    shed = count(SHED)
    assert not fragile.has_time()
    assert count(SHED) == shed + 1
    assert vectors(fragile.embed(["this was not optional"])).shape == (1, 384)
    clock.hurry(1e6)
    assert fragile.has_time()
    assert count(SHED) == shed + 1


def test_the_time_that_the_child_takes_is_counted(fragile: Inference, clock: Clock) -> None:
    revived(fragile, clock)
    before = count(CPU_SECONDS)
    vectors(fragile.embed([f"{place} {'word ' * 200}" for place in range(BATCH)]))
    took = count(CPU_SECONDS) - before
    assert took > 0
    assert count(MEMORY_BYTES) > 100 << 20


def test_a_child_that_was_killed_comes_back_after_a_pause(fragile: Inference, clock: Clock) -> None:
    before = revived(fragile, clock)
    dead, restarts = pid_of(fragile), count(RESTARTS, Reason.CRASHED)
    os.kill(dead, signal.SIGKILL)
    lost = fragile.embed(TEXTS_OF_CATS)
    assert (reason(lost), str(lost)) == (Reason.CRASHED, "the model process ended: signal 9")
    assert count(RESTARTS, Reason.CRASHED) == restarts + 1
    assert reason(fragile.embed(TEXTS_OF_CATS)) == Reason.RESTING
    assert fragile.child_pid is None
    assert np.array_equal(revived(fragile, clock), before)
    assert pid_of(fragile) != dead


def test_a_child_that_hangs_is_ended(fragile: Inference, clock: Clock) -> None:
    revived(fragile, clock)
    hung = pid_of(fragile)
    os.kill(hung, signal.SIGSTOP)
    soon = threading.Timer(0.5, clock.hurry, args=(60,))
    soon.start()
    late = fragile.embed(TEXTS_OF_CATS)
    soon.join()
    assert (reason(late), str(late)) == (Reason.TIMED_OUT, "the model gave no answer within 60 s")
    assert not Path(f"/proc/{hung}").exists()
    assert revived(fragile, clock).shape == (3, 384)


def test_a_caller_waits_no_longer_for_others_than_for_the_child() -> None:
    impatient = Inference(InferenceSettings(cache_entries=0, timeout_seconds=0.05))
    first = threading.Thread(target=impatient.embed, args=(["while this one loads the model"],))
    first.start()
    try:
        while impatient.child_pid is None:
            time.sleep(0.01)
        busy = count(UNAVAILABLE, Reason.BUSY)
        assert reason(impatient.embed(["others wait"])) == Reason.BUSY
        assert count(UNAVAILABLE, Reason.BUSY) == busy + 1
    finally:
        impatient.close()
        first.join()


def test_a_child_that_grows_too_large_is_replaced(clock: Clock) -> None:
    inference = Inference(InferenceSettings(cache_entries=0, memory_bytes=128 << 20), clock=clock)
    restarts = count(RESTARTS, Reason.TOO_LARGE)
    try:
        lost = inference.embed(TEXTS_OF_CATS)
        assert reason(lost) == Reason.TOO_LARGE
        assert "more than the 128 MB it may" in str(lost)
        assert inference.child_pid is None
        assert count(RESTARTS, Reason.TOO_LARGE) == restarts + 1
    finally:
        inference.close()


def test_a_system_that_starts_no_process_is_a_reason_and_no_exception(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    inference = Inference(InferenceSettings(), clock=clock)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    lost = inference.embed(TEXTS_OF_CATS)
    assert reason(lost) == Reason.CRASHED
    assert "the model process does not start" in str(lost)
    assert reason(inference.embed(TEXTS_OF_CATS)) == Reason.RESTING


def test_closing_ends_the_child_in_the_middle_of_a_call() -> None:
    inference = Inference(InferenceSettings())
    answers: list[object] = []
    call = threading.Thread(target=lambda: answers.append(inference.embed(["the model loads"])))
    call.start()
    while inference.child_pid is None:
        time.sleep(0.01)
    pid = pid_of(inference)
    inference.close()
    call.join(10)
    assert [reason(answer) for answer in answers] == [Reason.CLOSED]
    assert not Path(f"/proc/{pid}").exists()
    assert reason(inference.embed(["nothing starts again"])) == Reason.CLOSED


ORPHAN = """
import os, sys
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
import threading
inference = Inference(InferenceSettings())
threading.Thread(target=inference.embed, args=(["a"],), daemon=True).start()
while inference.child_pid is None:
    pass
print(inference.child_pid, flush=True)
os.kill(os.getpid(), 9)
"""


def wait_until(is_so: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


def test_the_child_does_not_outlive_a_parent_that_was_killed() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    status = Path(f"/proc/{int(done.stdout)}/stat")
    assert wait_until(lambda: not status.exists() or ") Z " in status.read_text())


def test_the_child_is_nice_and_the_first_to_go(shared: Inference) -> None:
    vectors(shared.embed(["anything at all"]))
    pid = pid_of(shared)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"


@pytest.mark.parametrize(
    ("settings", "expected", "detail"),
    [
        ({"enabled": False}, Reason.OFF, "local models are switched off"),
        ({"embedding_model": ""}, Reason.OFF, "no local model is set for this"),
        (
            {"embedding_model": "/nowhere/model"},
            Reason.NO_MODEL,
            "/nowhere/model is not a folder with a model",
        ),
    ],
)
def test_what_cannot_be_answered_is_told_without_a_child(
    settings: dict[str, object], expected: Reason, detail: str
) -> None:
    starts, told = count(STARTS), count(UNAVAILABLE, expected)
    answer = Inference(InferenceSettings.model_validate(settings)).embed(["a"])
    assert (reason(answer), str(answer)) == (expected, detail)
    assert (count(STARTS), count(UNAVAILABLE, expected)) == (starts, told + 1)


def test_a_folder_that_is_no_model_is_told_once_it_was_tried(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    inference = Inference(InferenceSettings(embedding_model=str(tmp_path)))
    try:
        first, pid = inference.embed(["a"]), pid_of(inference)
        second = inference.embed(["a"])
    finally:
        inference.close()
    assert reason(first) == Reason.NO_MODEL
    assert str(first).startswith(f"{tmp_path} does not load: ")
    assert (str(second), pid) == (str(first), pid)


def test_vectors_of_a_model_that_was_replaced_are_forgotten(tmp_path: Path, clock: Clock) -> None:
    packaged = Path(weights.locate(InferenceSettings().embedding_model))
    model = tmp_path / "model"
    shutil.copytree(packaged, model, copy_function=os.symlink)
    inference = Inference(InferenceSettings(embedding_model=str(model)), clock=clock)
    try:
        vectors(inference.embed(TEXTS_OF_CATS))
        version, read = inference.embedding_version, count(TEXTS, "embed")
        (model / "another.json").write_text("{}")
        os.kill(pid_of(inference), signal.SIGKILL)
        assert reason(inference.embed(["new"])) == Reason.CRASHED
        clock.hurry(120)
        assert vectors(inference.embed([*TEXTS_OF_CATS, "new"])).shape == (4, 384)
    finally:
        inference.close()
    assert inference.embedding_version != version
    assert count(TEXTS, "embed") == read + 1 + len(TEXTS_OF_CATS) + 1


def test_without_a_cross_encoder_pairs_are_not_classified(shared: Inference) -> None:
    assert reason(shared.classify([("a", "b")])) == Reason.OFF
