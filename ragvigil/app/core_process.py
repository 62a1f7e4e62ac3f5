"""The core's process.

Spawned children import the main module again. This one imports the core only when it is run as
main, so that they start with only what they need.
"""

from __future__ import annotations

import socket
import sys

if __name__ == "__main__":
    from ragvigil.app.core import main
    from ragvigil.inference.courtesy import let_the_intake_first

    let_the_intake_first()
    main(socket.socket(fileno=int(sys.argv[1])))
