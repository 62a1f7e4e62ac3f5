"""The tables of the READMEs and of docs/instrumentation.md, generated from the code.

python -m tests.house.tables --write      writes them into these files
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from collector.doctor.stacks import FIELDS, Stack, stacks
from ragvigil.app.cli.help_tables import METRIC_MODULES, SECTIONS, metrics_of, settings_of
from scorers.rubric import load_rubrics

ROOT = Path(__file__).resolve().parents[2]

INSTRUMENTATION = "docs/instrumentation.md"
# README -> sections of the settings, modules that declare metrics
READMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    f"{stage}/README.md": (SECTIONS[stage], METRIC_MODULES[stage]) for stage in SECTIONS
}


def settings_table(sections: tuple[str, ...]) -> str:
    """A markdown table of every key of these sections."""
    lines = ["| key | default | what it does |", "|---|---|---|"]
    for row in settings_of(sections):
        default = row.default.replace("|", "\\|")
        lines.append(f"| `[{row.section}] {row.key}` | `{default}` | {row.text} |")
    return "\n".join(lines)


def metrics_table(modules: tuple[str, ...]) -> str:
    """A markdown table of every metric that these modules declare."""
    lines = ["| metric | type | labels | what it counts |", "|---|---|---|---|"]
    for row in metrics_of(modules):
        lines.append(f"| `{row.name}` | {row.kind} | {', '.join(row.labels)} | {row.text} |")
    return "\n".join(lines)


def stacks_table() -> str:
    """A markdown table of what arrives of each stack, and of what to switch on for the rest."""
    lines = [
        "| stack | instrumentation | arrives | rubrics it feeds | what brings the rest |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_stack_row(one) for one in stacks())])


def _stack_row(stack: Stack) -> str:
    arrives = [field for field in (*FIELDS, "reranked") if field in stack.arrives] or ["nothing"]
    switches = "<br>".join(
        f"{', '.join(fields)}: `{line.replace('|', chr(92) + '|')}`"
        for line, fields in stack.lines().items()
    )
    cells = (
        stack.name,
        stack.instrumentation,
        f"{', '.join(arrives)}. {stack.remark}".strip(),
        _fed(stack),
        switches or "nothing is missing",
    )
    return f"| {' | '.join(cells)} |"


def _fed(stack: Stack) -> str:
    """The rubrics that what arrives feeds, or those that it does not, whichever are fewer."""
    needs = {name: rubric.needs for name, rubric in load_rubrics().items()}
    arrived = set(stack.arrives)
    if "document_texts" in arrived:  # of all chunks, also of those that no prompt shows
        arrived.add("retrieved_texts")
    fed = [name for name, fields in needs.items() if arrived.issuperset(fields)]
    rest = [name for name in needs if name not in fed]
    if len(rest) < len(fed):
        return f"all but {_codes(rest)}" if rest else "all"
    return _codes(fed)


def _codes(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def rendered_instrumentation() -> str:
    """docs/instrumentation.md with its table as the facts say it is."""
    text = (ROOT / INSTRUMENTATION).read_text(encoding="utf-8")
    block = f"<!-- stacks -->\n{stacks_table()}\n<!-- /stacks -->"
    return re.sub(r"<!-- stacks -->.*?<!-- /stacks -->", lambda _: block, text, flags=re.S)


def rendered(readme: str) -> str:
    """The README's text with its tables as the code says they are."""
    sections, modules = READMES[readme]
    text = (ROOT / readme).read_text(encoding="utf-8")
    for mark, table in (
        ("settings", settings_table(sections)),
        ("metrics", metrics_table(modules)),
    ):
        block = f"<!-- {mark} -->\n{table}\n<!-- /{mark} -->"
        text = re.sub(
            rf"<!-- {mark} -->.*?<!-- /{mark} -->", lambda _, b=block: b, text, flags=re.S
        )
    return text


if __name__ == "__main__" and "--write" in sys.argv:
    for name in READMES:
        (ROOT / name).write_text(rendered(name), encoding="utf-8")
    (ROOT / INSTRUMENTATION).write_text(rendered_instrumentation(), encoding="utf-8")
