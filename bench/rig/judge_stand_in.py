"""A judge that reads texts, as a process of its own: it prints its address and serves until ended.

    python bench/rig/judge_stand_in.py [--seconds 0.2] [--log FILE] [--gives-way]

The log gets a line for each call, before the reply is made: a hash of the prompt without its
delimiter. A call that is repeated writes the same line again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ragvigil.app.process.tied import start_tied
from tests.content_judge import ContentJudge, read_prompt
from tests.llm_server import LlmServer

LEAST_URGENT = 19


@contextlib.contextmanager
def standing_in(
    *, seconds: float = 0.0, log: Path | None = None, gives_way: bool = False
) -> Iterator[str]:
    """The address of a stand-in in a process of its own, ended on the way out.

    `gives_way`: it stands for somebody else's machine, and takes only processors that are idle.
    """
    command = [sys.executable, str(Path(__file__)), "--seconds", str(seconds)]
    command += ["--log", str(log)] if log else []
    command += ["--gives-way"] if gives_way else []
    process = start_tied(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def prompt_hash(prompt: str) -> str:
    """What is asked, whatever the delimiter of the call."""
    return hashlib.sha256(prompt.replace(read_prompt(prompt).delimiter, "").encode()).hexdigest()


async def _serve(seconds: float, log: Path | None) -> None:
    judge = ContentJudge()
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(log.open("a", buffering=1)) if log else None

        def answer(prompt: str) -> str:
            server.calls.clear()  # it would keep every prompt
            if lines is not None:
                lines.write(prompt_hash(prompt) + "\n")
            return judge.answer(prompt)

        async with LlmServer(answer, seconds=seconds) as server:
            print(server.anthropic, flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--gives-way", action="store_true")
    options = parser.parse_args()
    if options.gives_way:
        os.nice(LEAST_URGENT)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options.seconds, options.log))
