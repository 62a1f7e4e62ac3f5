"""Whether a judge may judge a model: not itself, nor a stronger one of its family. Pure.

>>> warning("openai:gpt-4.1-mini", ["gpt-4.1-2025-04-14"])
'the judge openai:gpt-4.1-mini is a weaker relative of gpt-4.1-2025-04-14, which it judges'
>>> warning("anthropic:claude-sonnet-4-5", ["gpt-4o"])
''

A model favours its own answers (Panickssery et al. 2024), and a weaker one misses the mistakes of a
stronger. Strength is read from names alone: a size in words (mini, haiku, flash, pro, opus), one in
billions of parameters, and a version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

FAMILIES = {
    "gpt": "gpt", "chatgpt": "gpt", "o1": "o", "o3": "o", "o4": "o",
    "claude": "claude", "gemini": "gemini", "gemma": "gemma", "llama": "llama",
    "mistral": "mistral", "ministral": "mistral", "mixtral": "mistral", "magistral": "mistral",
    "qwen": "qwen", "qwq": "qwen", "deepseek": "deepseek", "command": "command", "nova": "nova",
    "grok": "grok", "phi": "phi", "jamba": "jamba", "granite": "granite",
}  # fmt: skip
"""Family by the first word of a model's name that is known."""
SIZES = {
    "nano": 0, "micro": 0, "tiny": 0, "ministral": 0,
    "mini": 1, "lite": 1, "haiku": 1, "small": 1, "fast": 1,
    "flash": 2, "medium": 2, "sonnet": 2, "turbo": 2,
    "pro": 3, "large": 3, "opus": 3, "plus": 3, "max": 4, "ultra": 4, "premier": 4,
}  # fmt: skip
USUAL = 2
"""The size of a model whose name says none."""
PROVIDER = re.compile(r"^[a-z_-]+:")
DATE = re.compile(r"[-@]?(?:20\d{2}-?\d{2}-?\d{2}|\d{2}-\d{2}$|\d{4}$)|-latest|-preview|-v\d+:\d+$")
PARAMETERS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z])")
VERSION = re.compile(r"(?<![\d.])(\d{1,2}(?:[.-]\d{1,2})?)(?![\d.]*b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a name says of a model; `parameters` are in billions, None where it does not say."""

    name: str
    family: str
    size: int
    parameters: float | None
    version: tuple[int, ...]

    def is_weaker_than(self, other: Model) -> bool:
        """Whether the name says so: smaller and no newer, or older and no larger."""
        if self.family != other.family or not self.family:
            return False
        if self.parameters is not None and other.parameters is not None:
            sizes = self.parameters, other.parameters
        else:
            sizes = float(self.size), float(other.size)
        is_dominated = sizes[0] <= sizes[1] and self.version <= other.version
        return is_dominated and (sizes[0] < sizes[1] or self.version < other.version)


def model_of(name: str) -> Model:
    """Reads a model's name, with or without its provider.

    >>> model_of("openai:gpt-4o-mini-2024-07-18")
    Model(name='gpt-4o-mini', family='gpt', size=1, parameters=None, version=(4,))
    """
    plain = DATE.sub("", PROVIDER.sub("", name.lower()).rpartition("/")[2])
    words = re.findall(r"\bo\d|[a-z]+", plain)
    family = next((FAMILIES[word] for word in words if word in FAMILIES), "")
    sizes = [SIZES[word] for word in words if word in SIZES]
    billions = PARAMETERS.search(plain)
    version = VERSION.search(re.sub(r"[a-z]+(?=\d)", "", plain))
    return Model(
        name=plain,
        family=family,
        size=min(sizes, default=USUAL),
        parameters=float(billions[1]) if billions else None,
        version=tuple(map(int, re.split(r"[.-]", version[1]))) if version else (),
    )


def warning(judge: str, answering: Iterable[str]) -> str:
    """Why the judge's verdicts on these models are not to be trusted; empty if none is known."""
    judging = model_of(judge)
    for name in sorted(set(filter(None, answering))):
        judged = model_of(name)
        if judging.name == judged.name:
            return f"the judge {judge} is the model whose answers it judges"
        if judging.is_weaker_than(judged):
            return f"the judge {judge} is a weaker relative of {name}, which it judges"
    return ""
