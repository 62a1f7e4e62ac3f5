"""The core's process.

Processes that it starts import the main module once more: this one imports the core only where it
is run, so that they begin with what they need.
"""

from __future__ import annotations

import socket
import sys

if __name__ == "__main__":
    from ragvigil.app.core import main
    from ragvigil.inference.courtesy import let_the_intake_first

    let_the_intake_first()
    main(socket.socket(fileno=int(sys.argv[1])))
