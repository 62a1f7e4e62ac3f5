"""A run as one HTML file that opens from disk: no script, no other host. Pure.

Its style sheet is named by its hash in the page's own content security policy, so that nothing in
an answer can load or run anything.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragvigil.model.figures import score

FOLDER = Path(__file__).parent
MOST_SLICES = 24
MOST_FAILURES = 200
WIDTH = 200
"""Units of a drawn scale from 0 to 1."""
DEPTHS = (1, 3, 5, 10, 50)
SHOWN = (
    "recall@5", "ndcg@10", "gold_precision", "facts_stated", "equivalence", "groundedness",
    "citation_validity", "refusal_answerable", "refusal_unanswerable", "perturbation",
)  # fmt: skip
"""Values drawn by slice; the table has all."""


def as_page(document: Mapping[str, Any]) -> str:
    """The page of `as_document`'s object."""
    from jinja2 import Environment, StrictUndefined

    style = (FOLDER / "page.css").read_text("utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template = environment.from_string((FOLDER / "page.html").read_text("utf-8"))
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return template.render(
        document=document,
        style=style,
        style_hash=f"sha256-{digest}",
        whole=[part for part in document["parts"] if not part["slice"]],
        drawn=list(_drawn(document["parts"])),
        curves=list(_curves(document["parts"])),
        failures=document["failures"][:MOST_FAILURES],
        score=score,
        width=WIDTH,
        words=_words,
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _drawn(parts: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One picture a value: a row for everything and for each slice, with its interval."""
    for name in SHOWN:
        rows = [_row(part, part["means"][name]) for part in parts if name in part["means"]]
        if rows:
            yield {"name": name, "rows": rows[:MOST_SLICES], "left_out": len(rows[MOST_SLICES:])}


def _row(part: Mapping[str, Any], mean: Mapping[str, Any]) -> dict[str, Any]:
    low = mean["mean"] if mean["low"] is None else mean["low"]
    high = mean["mean"] if mean["high"] is None else mean["high"]
    return {
        "name": _slice_name(part),
        "n": mean["n"],
        "mean": mean["mean"],
        "x": _x(mean["mean"]),
        "low": _x(low),
        "high": _x(high),
    }


def _slice_name(part: Mapping[str, Any]) -> str:
    of = "".join(f"{name}: {value}" for name, value in part["slice"].items()) or "all"
    return of if part["condition"] == "retrieved" else f"{of}, {part['condition']} context"


def _x(share: float) -> float:
    return round(WIDTH * min(1.0, max(0.0, share)), 1)


def _curves(parts: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Recall by depth, of everything."""
    for part in parts:
        known = [(k, part["means"].get(f"recall@{k}")) for k in DEPTHS]
        if not part["slice"] and all(mean for _, mean in known):
            step = WIDTH / (len(DEPTHS) - 1)
            yield {
                "points": [
                    {"k": k, "x": round(place * step, 1), "y": 100 - _x(mean["mean"]) / 2,
                     "mean": mean["mean"]}
                    for place, (k, mean) in enumerate(known) if mean
                ]
            }  # fmt: skip
