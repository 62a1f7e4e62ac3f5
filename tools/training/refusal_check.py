"""Checks what the model of refusals holds for: `python -m tools.training.refusal_check FOLDER`.

Trains without each set of wordings, and without each group of languages, and prints how what was
left out is classified. What falls far behind the model of everything was learned by heart. Patterns
and word lists are not left out: who wrote them had read the sets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.refusal import LEARNED, RIG, figures_of
from scorers.text import refusal_model
from scorers.text.stance import classify
from tools.training.refusal import train
from tools.training.refusal_examples import Answer, known_answers

GROUPS = (
    ("en", "pl", "ja", "fi", "id"),
    ("de", "es", "tr", "cs", "ko"),
    ("fr", "nl", "zh", "ru", "he"),
    ("it", "pt", "ar", "sv", "hi", "uk"),
)
"""Languages that are left out together; no two of a group are kin."""


def written() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of the sets of wordings, each with the name of its set."""
    for name in LEARNED:
        for line in (RIG / name).read_text("utf-8").splitlines():
            yield name, json.loads(line)


def checked(known: Iterable[Answer], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How a model of the known answers classifies the rows."""
    model = refusal_model.from_json(train(list(known)))
    refusal_model.weigh.cache_clear()
    classify.cache_clear()
    with patch.object(refusal_model, "shipped_model", lambda: model):
        return figures_of(rows)


def main() -> None:
    """Prints a line of JSON for each set, and for each group of languages."""
    known = list(known_answers(Path(sys.argv[1])))
    rows = list(written())
    for name in LEARNED:
        own = [row for origin, row in rows if origin == name]
        figures = checked([each for each in known if each.origin != name], own)
        print(json.dumps({"without": name, **figures}), flush=True)
    for group in GROUPS:
        own = [row for _, row in rows if row["language"] in group]
        figures = checked([each for each in known if each.language not in group], own)
        print(json.dumps({"without": group, **figures}), flush=True)


if __name__ == "__main__":
    main()
