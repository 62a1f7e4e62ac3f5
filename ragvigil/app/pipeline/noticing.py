"""What the pipeline needs of the stage that notices changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from alerts.notices.fingerprint import Place


class Noticing(Protocol):
    """Where the pipeline says whether older answers may still come, and learns index epochs."""

    is_held: bool

    def epochs(self) -> Mapping[Place, str]:
        """The name of each route's index since its last change."""
        ...
