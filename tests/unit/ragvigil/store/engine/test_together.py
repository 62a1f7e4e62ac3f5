"""Reads side by side: in order, for one request, and never waiting for one another."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from ragvigil.store.engine.scope import QueryScope, current_scope
from ragvigil.store.engine.together import THREADS, together
from tests.patience import PATIENCE_SECONDS


def test_reads_run_at_the_same_time_and_answers_keep_their_order() -> None:
    both = threading.Barrier(2)

    def read(answer: str) -> Callable[[], str]:
        def run() -> str:
            both.wait(PATIENCE_SECONDS)
            return answer

        return run

    assert together(read("first"), read("second")) == ("first", "second")


def test_all_are_reads_of_the_same_request() -> None:
    request = QueryScope()
    with request.running():
        assert set(together(*[current_scope] * 5)) == {request}
    assert together(current_scope, current_scope) == (None, None)


def test_what_fails_is_raised() -> None:
    def fails() -> None:
        raise ValueError("no such rubric")

    for reads in ((fails, current_scope), (current_scope, fails)):
        with pytest.raises(ValueError, match="no such rubric"):
            together(*reads)


def test_reads_within_reads_wait_for_no_free_thread() -> None:
    def nested(depth: int) -> int:
        if not depth:
            return 1
        return sum(together(*[lambda: nested(depth - 1)] * THREADS))

    counted: list[int] = []
    thread = threading.Thread(target=lambda: counted.append(nested(3)), daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert counted == [THREADS**3]
