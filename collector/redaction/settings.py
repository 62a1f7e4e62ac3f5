"""Settings of `[collector.redact]`; the descriptions are the documentation."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


class Action(StrEnum):
    """What happens to a value that a pattern recognises."""

    OFF = "off"
    MASK = "mask"
    HASH = "hash"


class RedactSettings(BaseModel):
    """What is taken out of every text before it touches the disk."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    secrets: Action = Field(
        default=Action.MASK,
        description="keys, tokens, passwords and payment cards: off, mask (leaves kind, length and "
        "a short keyed hash) or hash (leaves a long keyed hash)",
    )
    personal: Action = Field(
        default=Action.OFF,
        description="e-mail addresses, phone numbers, IBANs and US social security numbers",
    )
    patterns: dict[str, str] = Field(
        default={},
        description="your own patterns: a name and an RE2 expression; if it has a group, only the "
        "group is taken out",
    )
    actions: dict[str, Action] = Field(
        default={}, description="a different action for a pattern, by its name"
    )

    @field_validator("patterns")
    @classmethod
    def _patterns_compile(cls, patterns: dict[str, str]) -> dict[str, str]:
        for name, expression in patterns.items():
            _require_pattern(name, expression)
        return patterns

    @field_validator("actions")
    @classmethod
    def _actions_name_patterns(
        cls, actions: dict[str, Action], info: ValidationInfo
    ) -> dict[str, Action]:
        from collector.redaction.patterns import NAMES

        known = NAMES | set(info.data.get("patterns", ()))
        for name in actions:
            if name not in known and "patterns" in info.data:
                raise ValueError(f"{name} is no pattern; there are {', '.join(sorted(known))}")
        return actions


def _require_pattern(name: str, expression: str) -> None:
    import re2

    if not name.isidentifier():
        raise ValueError(f"{name} is not a name of letters, digits and underscores")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(expression, options)
    except re2.error as error:
        why = error.args[0].decode()
        raise ValueError(f"{name}: {expression} is not an RE2 expression: {why}") from error
    if compiled.groups > 1:
        raise ValueError(f"{name}: {expression} has more than one group; write (?:...)")
    if compiled.search("") is not None:
        raise ValueError(f"{name}: {expression} matches the empty text")
