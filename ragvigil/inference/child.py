"""The child process: reads texts from its parent, answers with numbers, ends when it is left alone.

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

from ragvigil.inference.courtesy import step_back
from ragvigil.inference.memory import give_back, resident_bytes
from ragvigil.inference.models import WRONG, Model, load
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
"""No downloads and no progress bars, unless the environment says otherwise."""

HOLES_BYTES = 64 << 20
"""How far the process grows before it looks for memory to give back (10 ms)."""

Request = dict[str, Any]


def main() -> None:
    """Answers requests one after the other, until the parent hangs up or is gone."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    step_back()
    os.environ.update({key: value for key, value in QUIET.items() if key not in os.environ})
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(channel, requests), daemon=True).start()
    models: dict[tuple[str, str], Model | NoModel] = {}
    kept = 0
    while True:
        channel.sendall(_answer(requests.get(), models))
        if resident_bytes(os.getpid()) > kept + HOLES_BYTES:
            give_back()
            kept = resident_bytes(os.getpid())


def _listen(channel: socket.socket, requests: queue.SimpleQueue[Request]) -> None:
    """Passes requests on; when the parent is gone nobody waits, so what is under way is left."""
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
    texts = request["texts"]
    try:
        numbers = model.run(texts)
    except WRONG as error:
        return pack({"failed": f"{type(error).__name__}: {error}", **_used()})
    if not math.isfinite(numbers.sum()):
        return pack({"failed": "its numbers are not finite", **_used()})
    return _packed(numbers, model.version)


def _loaded(task: str, name: str) -> Model | NoModel:
    """The model, or why it does not load: that stays so until the process starts anew."""
    try:
        return load(task, name)
    except NoModel as error:
        return error


def _packed(numbers: Numbers, version: str) -> bytes:
    head = {"width": numbers.shape[1], "version": version, **_used()}
    return pack(head, numbers.astype("<f4", order="C").tobytes())


def _used() -> dict[str, object]:
    """What the process has taken since it started."""
    return {"cpu_seconds": time.process_time(), "memory_bytes": resident_bytes(os.getpid())}


if __name__ == "__main__":
    main()
