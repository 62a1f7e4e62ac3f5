"""Questions and answers between the two processes."""

from __future__ import annotations

import socket
import threading
import time

from ragvigil.app.process.control import Questions, say_last_words, serve_answers


async def test_an_answer_comes_back_to_its_question() -> None:
    ours, theirs = socket.socketpair()
    answers = {"metrics": lambda: b"a 1\n", "status": lambda: b"{}"}
    thread = threading.Thread(target=serve_answers, args=(theirs, answers))
    thread.start()
    questions = await Questions.over(ours)
    assert await questions.ask("metrics") == b"a 1\n"
    assert await questions.ask("status") == b"{}"
    assert await questions.ask("no such question") == b""
    await questions.close()
    thread.join(5)
    assert not thread.is_alive(), "a core whose intake hung up must notice"
    theirs.close()


async def test_a_dead_core_answers_nothing() -> None:
    ours, theirs = socket.socketpair()
    questions = await Questions.over(ours)
    theirs.close()
    assert await questions.ask("metrics", timeout_seconds=2) is None
    await questions.close()


async def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    ours, theirs = socket.socketpair()

    def slow() -> bytes:
        time.sleep(0.3)
        return b"slow"

    answers = {"slow": slow, "quick": lambda: b"quick"}
    thread = threading.Thread(target=serve_answers, args=(theirs, answers))
    thread.start()
    questions = await Questions.over(ours)
    assert await questions.ask("slow", timeout_seconds=0.05) is None
    assert await questions.ask("quick", timeout_seconds=5) == b"quick"
    await questions.close()
    thread.join(5)
    theirs.close()


async def test_a_core_that_cannot_start_says_why_before_it_ends() -> None:
    ours, theirs = socket.socketpair()
    questions = await Questions.over(ours)
    say_last_words(theirs, "the store is locked")
    theirs.close()
    assert await questions.heard_last_words() == "the store is locked"
    await questions.close()
