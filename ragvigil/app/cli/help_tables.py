"""Every setting and every metric, read from the code: for `ragvigil help` and docs/reference."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client.metrics import MetricWrapperBase
from pydantic import BaseModel

from ragvigil.app.settings import Settings

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "collector": ("collector",),
    "scorers": ("scorers", "judge", "export"),
    "alerts": ("alerts", "metrics"),
    "clustering": ("clustering", "golden"),
    "ragvigil": ("store", "fleet", "inference", "web", "gate", "client"),
}
"""Sections of the settings file by stage."""
METRIC_MODULES: Mapping[str, tuple[str, ...]] = {
    "collector": (
        "collector.metrics",
        "collector.record.feedback",
    ),
    "scorers": (
        "scorers.metrics",
        "scorers.judge.metrics",
        "scorers.calibration.metrics",
        "scorers.export.metrics",
    ),
    "alerts": (
        "alerts.deltas.metrics",
        "alerts.notices.metrics",
        "alerts.watch.families",
    ),
    "clustering": (
        "clustering.metrics",
        "clustering.golden.metrics",
        "clustering.issues.metrics",
        "clustering.topics.metrics",
    ),
    "ragvigil": (
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
        "ragvigil.app.fleet.leading",
    ),
}
"""Modules that declare metrics by stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """A key: its section as in `judge` or `golden.target`, its default as text, what it does."""

    section: str
    key: str
    default: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """A metric as it is exposed."""

    name: str
    kind: str
    labels: tuple[str, ...]
    text: str


def settings_of(sections: Sequence[str]) -> Iterator[SettingRow]:
    """Every key of these sections, in their order."""
    for section in sections:
        model = Settings.model_fields[section].annotation
        assert isinstance(model, type)
        assert issubclass(model, BaseModel)
        yield from _keys(model, section)


def metrics_of(modules: Sequence[str]) -> Iterator[MetricRow]:
    """Every metric that these modules declare, in their order."""
    for module in modules:
        declared = vars(importlib.import_module(module))
        for value in declared.values():
            if isinstance(value, MetricWrapperBase):
                suffix = "_total" if value._type == "counter" else ""
                yield MetricRow(
                    name=value._name + suffix,
                    kind=str(value._type),
                    labels=tuple(value._labelnames),
                    text=value._documentation,
                )
        for family in declared.get("FAMILIES", ()):
            yield MetricRow(
                name=family.name, kind=family.kind, labels=family.labels, text=family.help
            )


def _keys(model: type[BaseModel], section: str) -> Iterator[SettingRow]:
    for key, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _keys(field.annotation, f"{section}.{key}")
            continue
        value = field.get_default(call_default_factory=True)
        default = "" if value is None else str(value)
        yield SettingRow(section=section, key=key, default=default, text=field.description or "")
