"""What runs leave in a folder: stores of healthy traffic to begin from, and their results."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from bench.rig.report import progress
from bench.rig.scored_pool import ScoredPool
from bench.rig.truth_clock import fill
from bench.rig.truth_traffic import DAY, HOUR

ONSETS = (14.0, 10.5, 20.0, 3.5, 7.0)
"""Hours of the day at which faults begin."""
HISTORY_HOURS = 26.0
DAYS_HOURS = 82.0
"""Three days of each hour, without which no traffic counts as usual, and of the hours before it."""
Form = TypeVar("Form")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRuns:
    """A rerun goes on from the results that it finds."""

    pool: ScoredPool
    folder: Path
    seed: int

    def __post_init__(self) -> None:
        """Raises SystemExit for a folder with runs of others: together they would mean nothing."""
        texts = self.pool.texts
        chunks = {route: len(corpus) for route, corpus in texts.corpora.items()}
        made = {"seed": self.seed, "chunks": chunks, "questions": len(texts.questions)}
        text = json.dumps(made, sort_keys=True)
        made_of = self.folder / "made_of.json"
        if made_of.exists() and made_of.read_text("utf-8") != text:
            raise SystemExit(
                f"{self.folder} holds runs with other texts or another seed: "
                "name another --folder, or delete this one"
            )
        made_of.write_text(text, encoding="utf-8")

    def healthy(self, place: int, *, hours: float = HISTORY_HOURS) -> tuple[Path, float]:
        """The folder of a store with healthy traffic, and when that ends (seconds)."""
        name = f"healthy-{place}"
        healthy = self.folder / (name if hours == HISTORY_HOURS else f"{name}-{hours:g}-hours")
        ended_file = healthy.with_suffix(".json")
        if not ended_file.exists():
            # Yesterday: what ends in the future is no past, and old rows are dropped.
            ended = (time.time() // DAY - 1) * DAY + ONSETS[place] * HOUR
            shutil.rmtree(healthy, ignore_errors=True)  # an earlier run was stopped in it
            progress(f"filling a store with {hours:g} hours of healthy traffic")
            self.pool.prepare("")
            fill(
                self.pool,
                healthy,
                start=ended - hours * HOUR,
                end=ended,
                seed=self.seed + place,
            )
            ended_file.write_text(json.dumps(ended), encoding="utf-8")
        return healthy, float(json.loads(ended_file.read_text("utf-8")))

    def keep(self, name: str, result: Any) -> None:
        """Adds the result of a run, a dataclass."""
        self.pool.vectors.save()
        with (self.folder / f"{name}.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(result)) + "\n")

    def kept(
        self, name: str, form: type[Form], frozen: Callable[[Any], Any] = lambda value: value
    ) -> list[Form]:
        """The results so far; `frozen` makes a field's value what it was before it became JSON."""
        path = self.folder / f"{name}.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [
            form(**{key: frozen(value) for key, value in json.loads(line).items()})
            for line in lines
        ]
