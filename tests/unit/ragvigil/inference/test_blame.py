"""A text that ends the model process costs itself alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragvigil.inference.blame import Blame
from ragvigil.inference.metrics import GIVEN_UP
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings

CHILD_THAT_EXITS = """
import os
from ragvigil.inference import models

def embed(texts):
    import numpy as np
    if any("poison" in text for text in texts):
        os._exit(9)
    return np.ones((len(texts), 3), np.float32)

models.LOADERS = {"embed": lambda place: models.Model(embed, "1")}
"""
"""Run by the child before anything else: its model ends the process on one word."""
GOOD = [f"text {number}" for number in range(30)]


class Clock:
    """The real time, and what a test adds to it."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fragile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[Inference]:
    (tmp_path / "sitecustomize.py").write_text(CHILD_THAT_EXITS, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)
    inference = Inference(InferenceSettings(), clock=clock)
    yield inference
    inference.close()


def test_texts_beside_one_that_ends_the_process_get_their_vectors(
    fragile: Inference, clock: Clock
) -> None:
    texts = [*GOOD, "poison"]
    given_up = GIVEN_UP._value.get()
    answers = []
    for _ in range(4):
        answers.append(fragile.embed(texts))
        clock.ahead += 120
    assert [_reason(answer) for answer in answers] == [Reason.CRASHED] * 3 + [None]
    assert np.array_equal(answers[-1], [[1.0] * 3] * len(GOOD) + [[0.0] * 3])
    assert GIVEN_UP._value.get() == given_up + 1


def test_the_model_is_not_asked_again_where_it_failed_on_every_text(
    fragile: Inference, clock: Clock
) -> None:
    for _ in range(2):
        assert _reason(fragile.embed(["poison"])) == Reason.CRASHED
        clock.ahead += 120
    assert _reason(fragile.embed(["poison"])) == Reason.FAILED
    assert fragile.child_pid is None


def test_suspects_are_asked_alone_and_cleared_by_an_answer() -> None:
    blame = Blame()
    a, b, c = b"a", b"b", b"c"
    assert blame.failed([a, b]) == []
    assert list(blame.batches([a, b, c], 8)) == [[c], [a], [b]]
    blame.answered([b])
    assert list(blame.batches([a, b, c], 8)) == [[b, c], [a]]


def test_a_text_is_given_up_after_it_failed_twice_alone() -> None:
    blame = Blame()
    assert blame.failed([b"a"]) == []
    assert blame.failed([b"a", b"b"]) == []
    assert not blame.is_given_up(b"a")
    assert blame.failed([b"a"]) == [b"a"]
    assert list(blame.batches([b"a", b"b"], 8)) == [[b"b"]]


def _reason(answer: object) -> Reason | None:
    return answer.reason if isinstance(answer, Unavailable) else None
