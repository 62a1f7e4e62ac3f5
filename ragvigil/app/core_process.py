"""The core's process.

Spawned children import the main module again. This one imports the core only when it is run as
main, so that they start with only what they need.
"""

from __future__ import annotations

import socket
import sys

if __name__ == "__main__":
    import ragvigil.app.process.plain_structlog  # noqa: F401
    from ragvigil.app.process.memory import share_one_heap
    from ragvigil.app.process.parent import end_with_parent

    end_with_parent(int(sys.argv[2]))
    share_one_heap()
    from ragvigil.app.core import main

    main(socket.socket(fileno=int(sys.argv[1])))
