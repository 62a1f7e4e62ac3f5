"""What an installation can do only with an extra: one table, and one sentence for what is missing.

Libraries of extras are imported only behind `missing`, in the function that starts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """What ragvigil can do if all of `modules` are installed, which `extra` brings."""

    name: str
    extra: str
    modules: tuple[str, ...]


EMBEDDED_STORE = Ability(name="the embedded store", extra="embedded", modules=("chdb",))
CLUSTERING = Ability(name="clustering of issues", extra="local", modules=("hdbscan", "umap"))
EMBEDDING = Ability(
    name="embedding by a local model, which issues, topics and relevance build on,",
    extra="local",
    modules=("sentence_transformers",),
)
ENTAILMENT = Ability(
    name="the entailment model",
    extra="local",
    modules=("onnxruntime", "tokenizers"),
)
JUDGES: Mapping[str, Ability] = {
    provider: Ability(name=name, extra=extra, modules=("pydantic_ai", module))
    for provider, name, extra, module in (
        ("openai", "a judge that speaks OpenAI's protocol", "judge", "openai"),
        ("anthropic", "a judge of Anthropic", "judge", "anthropic"),
        ("bedrock", "a judge on Bedrock", "bedrock", "boto3"),
    )
}
"""By provider, as it stands before the colon of `[judge] model`."""
MCP = Ability(name="the MCP server", extra="mcp", modules=("mcp",))
PARQUET = Ability(name="reading Parquet", extra="parquet", modules=("pyarrow",))
DEMO = Ability(
    name="the demo",
    extra="all",
    modules=(
        "chdb",
        "openinference.instrumentation",
        "opentelemetry.instrumentation.fastapi",
        "sentence_transformers",
    ),
)


class NotInstalled(Exception):
    """Something asked for needs an extra; `str(error)` says which."""


def require(ability: Ability) -> None:
    """Raises NotInstalled if something is missing."""
    if why := missing(ability):
        raise NotInstalled(why)


def missing(ability: Ability) -> str:
    """A sentence that names the extra to install; empty if nothing is missing. Imports nothing."""
    if all(_is_installed(module) for module in ability.modules):
        return ""
    extra = f"ragvigil[{ability.extra}]"
    return f"{ability.name} needs {extra}, which is not installed: pip install '{extra}'"


def has_local_models() -> bool:
    """Whether any local model could run here."""
    return not (missing(EMBEDDING) and missing(ENTAILMENT))


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # the package around it is missing
        return False
