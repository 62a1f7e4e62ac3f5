"""The tables of the READMEs and of docs/instrumentation.md, generated from the code.

python -m tests.house.tables --write      writes them into these files
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from prometheus_client.metrics import MetricWrapperBase
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from collector.doctor.stacks import FIELDS, Stack, stacks
from ragvigil.app.settings import Settings
from scorers.rubric import load_rubrics

ROOT = Path(__file__).resolve().parents[2]

INSTRUMENTATION = "docs/instrumentation.md"
# README -> sections of the settings, modules that declare metrics
READMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "collector/README.md": (("collector",), ("collector.metrics", "collector.record.feedback")),
    "scorers/README.md": (
        ("scorers", "judge", "export"),
        (
            "scorers.metrics",
            "scorers.judge.metrics",
            "scorers.calibration.metrics",
            "scorers.export.metrics",
        ),
    ),
    "alerts/README.md": (
        ("alerts", "metrics"),
        ("alerts.deltas.metrics", "alerts.notices.metrics", "alerts.watch.families"),
    ),
    "clustering/README.md": (
        ("clustering", "golden"),
        ("clustering.metrics", "clustering.issues.metrics", "clustering.topics.metrics"),
    ),
    "ragvigil/README.md": (
        ("store", "inference", "web", "client"),
        (
            "ragvigil.store.metrics",
            "ragvigil.llm.metrics",
            "ragvigil.inference.metrics",
            "scorers.local.job",
            "scorers.calibration.canary_job",
            "ragvigil.web.metrics",
            "ragvigil.app.process.supervise",
            "ragvigil.app.process.disk_metrics",
            "ragvigil.app.process.exposition",
            "ragvigil.app.pipeline.metrics",
            "ragvigil.app.process.jobs",
            "ragvigil.app.plugins",
        ),
    ),
}


def settings_table(sections: tuple[str, ...]) -> str:
    """A markdown table of every key of these sections."""
    lines = ["| key | default | what it does |", "|---|---|---|"]
    for section in sections:
        model = Settings.model_fields[section].annotation
        assert isinstance(model, type)
        assert issubclass(model, BaseModel)
        lines += [
            f"| `[{place}] {key}` | `{_default(field)}` | {field.description or ''} |"
            for place, key, field in _keys(model, section)
        ]
    return "\n".join(lines)


def _keys(model: type[BaseModel], place: str) -> Iterator[tuple[str, str, FieldInfo]]:
    for key, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _keys(field.annotation, f"{place}.{key}")
        else:
            yield place, key, field


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    return "" if value is None else str(value).replace("|", "\\|")


def metrics_table(modules: tuple[str, ...]) -> str:
    """A markdown table of every metric that these modules declare."""
    lines = ["| metric | type | labels | what it counts |", "|---|---|---|---|"]
    for name in modules:
        lines += [
            f"| `{metric}` | {kind} | {', '.join(labels)} | {text} |"
            for metric, kind, labels, text in _metrics(name)
        ]
    return "\n".join(lines)


def _metrics(module: str) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    declared = vars(importlib.import_module(module))
    for value in declared.values():
        if isinstance(value, MetricWrapperBase):
            suffix = "_total" if value._type == "counter" else ""
            yield value._name + suffix, value._type, tuple(value._labelnames), value._documentation
    for family in declared.get("FAMILIES", ()):
        yield family.name, family.kind, family.labels, family.help


def stacks_table() -> str:
    """A markdown table of what arrives of each stack, and of what to switch on for the rest."""
    lines = [
        "| stack | instrumentation | arrives | rubrics it feeds | to switch on | then also |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_stack_row(one) for one in stacks())])


def _stack_row(stack: Stack) -> str:
    needs = {name: set(rubric.needs) for name, rubric in load_rubrics().items()}
    fed = [name for name, fields in needs.items() if fields <= stack.arrives]
    rest = [name for name in needs if name not in fed]
    arrives = [field for field in (*FIELDS, "reranked") if field in stack.arrives] or ["nothing"]
    switches = "<br>".join(
        f"{', '.join(fields)}: `{line.replace('|', chr(92) + '|')}`"
        for line, fields in stack.lines().items()
    )
    cells = (
        stack.name,
        stack.instrumentation,
        f"{', '.join(arrives)}. {stack.remark}".strip(),
        _codes(fed),
        switches or "nothing",
        _codes(rest),
    )
    return f"| {' | '.join(cells)} |"


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
