"""Settings of `[scorers]`; the descriptions are the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from scorers.golden import read_golden
from scorers.rubric import read_files
from scorers.text.language import known_languages

Share = Annotated[float, Field(ge=0, le=1)]
LABELLED = ("citation_support", "contradiction", "groundedness", "sentence_support")
"""Rubrics whose label a local model gives under a bar, as `scorers/label_bars.py` has them."""


class AnswerLanguageSettings(BaseModel):
    """Which languages an answer may be in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    languages: tuple[str, ...] = Field(
        default=(),
        description="ISO 639 codes of the languages that the service answers in (`en`, `de`): a "
        "question in another language may be answered in any of these; by default an answer is in "
        "the language of its question",
    )

    @field_validator("languages")
    @classmethod
    def _languages_known(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        for code in codes:
            if code not in known_languages():
                allowed = ", ".join(sorted(known_languages()))
                raise ValueError(f"{code!r} is not one of {allowed}")
        return codes


class ScorersSettings(BaseModel):
    """Which rubrics are scored on every record, and when a record fails one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    disabled: tuple[str, ...] = Field(
        default=(), description="names of rubrics that are not scored"
    )
    fails_below: dict[str, Share] = Field(
        default={},
        description="by rubric, the value under which a record fails; instead of the rubric's own",
    )
    label_below: dict[str, Share] = Field(
        default={},
        description="by rubric (`groundedness`, `sentence_support`, `contradiction`, "
        "`citation_support`), the value under which a local model's score has its label; instead "
        "of the one learned from the route's own answers",
    )
    label_days: int = Field(
        default=7,
        ge=0,
        le=60,
        description="days of answers, without those of incidents, that these values are learned "
        "from: 5 % of a route's answers lie under them; 0 keeps the shipped ones",
    )
    rubrics: tuple[Path, ...] = Field(
        default=(),
        description="your own rubric files, or folders of them, for the judge or with a "
        "pattern; "
        "`ragvigil rubric check FILE` checks one",
    )
    processes: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="most processes that score beside the core while it is behind; by default one "
        "per CPU but one, as far as memory allows, at most 8",
    )
    answer_language: AnswerLanguageSettings = AnswerLanguageSettings()
    seconds_a_record: float = Field(
        default=1.0,
        gt=0,
        description="seconds of CPU that the scorers of a record may take; those that have not run "
        "by then are not applicable: took too long",
    )
    stall_seconds: float = Field(
        default=30.0,
        ge=5,
        description="a core that gets no further for this long is started again; a record in which "
        "that happens twice is quarantined. Keep it far above `seconds_a_record`",
    )
    golden: Path | None = Field(
        default=None,
        description="JSONL file of golden cases: questions with the chunks that hold the answers",
    )

    @field_validator("label_below")
    @classmethod
    def _labelled_known(cls, bars: dict[str, float]) -> dict[str, float]:
        for name in bars:
            if name not in LABELLED:
                raise ValueError(f"{name} is not one of {', '.join(LABELLED)}")
        return bars

    @field_validator("rubrics")
    @classmethod
    def _rubrics_read(cls, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        for name, rubric in read_files(paths).items():
            if not (rubric.judge or rubric.pattern or rubric.derived_from):
                raise ValueError(f"{name}: needs a [judge] or [pattern] table, or derived_from")
        return paths

    @field_validator("golden")
    @classmethod
    def _golden_reads(cls, path: Path | None) -> Path | None:
        if path is not None:
            read_golden(path)
        return path
