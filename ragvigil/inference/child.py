"""The child process: reads texts from its parent, answers with numbers, ends with its parent.

Started as `python -m ragvigil.inference.child FD`, where FD is its end of a socket pair.
"""

from __future__ import annotations

import math
import os
import queue
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from ragvigil.inference.memory import give_back, resident_bytes
from ragvigil.inference.models import MODEL_ERRORS, Model, load
from ragvigil.inference.process_priority import lower_priority
from ragvigil.inference.weights import NoModel
from ragvigil.model.wire import BadFrame, pack, reader_of, unpack

if TYPE_CHECKING:
    from ragvigil.inference.models import Numbers

QUIET = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
}
"""No downloads and no progress bars, unless the environment sets these."""

HOLES_BYTES = 64 << 20
"""Growth after which the process returns free memory to the system, which takes 10 ms."""

Request = dict[str, Any]


def main() -> None:
    """Answers requests one after the other, until the parent closes the socket or ends."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    lower_priority()
    os.environ.update({key: value for key, value in QUIET.items() if key not in os.environ})
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    # A thread reads, so that the end of the parent is seen while a model computes.
    threading.Thread(target=_listen, args=(channel, requests), daemon=True).start()
    models: dict[tuple[str, str], Model | NoModel] = {}
    trimmed = 0
    while True:
        channel.sendall(_answer(requests.get(), models))
        if resident_bytes(os.getpid()) > trimmed + HOLES_BYTES:
            give_back()
            trimmed = resident_bytes(os.getpid())


def _listen(channel: socket.socket, requests: queue.SimpleQueue[Request]) -> None:
    """Queues requests; ends the process with the parent, in the middle of a request if need be."""
    read = reader_of(channel.makefile("rb"))
    try:
        while True:
            head, _ = unpack(read)
            requests.put(head)
    except (EOFError, OSError, BadFrame):
        os._exit(0)


def _answer(request: Request, models: dict[tuple[str, str], Model | NoModel]) -> bytes:
    key = str(request["task"]), str(request["model"])
    if key not in models:
        models[key] = _loaded(*key)
    model = models[key]
    if isinstance(model, NoModel):
        return pack({"missing": str(model), **_used()})
    try:
        numbers = model.run(request["texts"])
    except MODEL_ERRORS as error:
        return pack({"failed": f"{type(error).__name__}: {error}", **_used()})
    if not math.isfinite(numbers.sum()):
        return pack({"failed": "its numbers are not finite", **_used()})
    return _packed(numbers, model.version)


def _loaded(task: str, name: str) -> Model | NoModel:
    """The model, or why it does not load; not tried again until the process is restarted."""
    try:
        return load(task, name)
    except NoModel as error:
        return error


def _packed(numbers: Numbers, version: str) -> bytes:
    head = {"width": numbers.shape[1], "version": version, **_used()}
    return pack(head, numbers.astype("<f4", order="C").tobytes())


def _used() -> dict[str, object]:
    """CPU time since the start, and resident memory now."""
    return {"cpu_seconds": time.process_time(), "memory_bytes": resident_bytes(os.getpid())}


if __name__ == "__main__":
    main()
