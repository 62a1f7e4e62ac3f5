"""Sessions where no local model is installed."""

from __future__ import annotations

from ragvigil.app.sources.reports.sessions import SameMeaning
from ragvigil.inference.outcome import Reason, Unavailable

NO_MODEL = SameMeaning(lambda _: Unavailable(reason=Reason.OFF, detail="no model here"))
