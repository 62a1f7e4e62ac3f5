"""Reads that do not need each other, side by side: a page has several connections."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar, overload

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

THREADS = 8
"""They wait for the store: what they ask for is made on its own threads."""
_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="together")


@overload
def together(first: Callable[[], A], second: Callable[[], B], /) -> tuple[A, B]: ...
@overload
def together(
    first: Callable[[], A], second: Callable[[], B], third: Callable[[], C], /
) -> tuple[A, B, C]: ...
@overload
def together(
    first: Callable[[], A],
    second: Callable[[], B],
    third: Callable[[], C],
    fourth: Callable[[], D],
    /,
) -> tuple[A, B, C, D]: ...
@overload
def together(*reads: Callable[[], Any]) -> tuple[Any, ...]: ...
def together(*reads: Callable[[], Any]) -> tuple[Any, ...]:
    """What each of these returns, made at the same time and for the same request.

    Raises what the first of them raises that fails. The caller makes those itself for which no
    thread is free, so reads that ask for others together never wait for one another.
    """
    first, *others = reads
    started = [_threads.submit(copy_context().run, read) for read in others]
    try:
        answers = [first()]
        for read, future in zip(others, started, strict=True):
            answers.append(read() if future.cancel() else future.result())
    finally:
        for future in started:
            future.cancel()
    return tuple(answers)
