"""Settings of the store: its address, its limits, how batches are written."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator


class KeptSpans(StrEnum):
    """Which spans are kept in ClickHouse. Records, texts and scores are kept with any of them."""

    ALL = "all"
    RAG = "rag"
    """What a convention reads, and the spans above."""
    NONE = "none"


class StoreSettings(BaseModel):
    """The embedded engine by default; a ClickHouse server if `url` names one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        default="",
        description="ClickHouse server, `http(s)://user:password@host:8123/database`; "
        "empty is the embedded engine in data_dir",
    )
    cluster: str = Field(
        default="", description="name of the server's cluster: tables are created replicated on it"
    )
    max_bytes: int | None = Field(
        default=20 * 1024**3,
        ge=64 * 1024**2,
        description="size of the embedded store at which the oldest days are dropped, spans first",
    )
    disk_reserve_bytes: int | None = Field(
        default=None,
        ge=0,
        description="free bytes under data_dir that only the store uses: with less, spans are "
        "refused until a tenth more is free; the default is 5 % of the disk, at least 512 MB and "
        "at most half of it",
    )
    spans: KeptSpans = Field(
        default=KeptSpans.ALL,
        description='spans that are kept: "all"; "rag", those that a convention reads and the ones '
        "above them, without what else a service does (HTTP, databases, queues); "
        '"none". Records and scores are kept with each of them. 1,000 answers of 20 KB, with four '
        "other traces beside each, take 2.3, 1.6 and 1.0 MB",
    )
    spans_days: int = Field(default=14, ge=1, le=3650, description="days that spans are kept")
    scores_days: int = Field(
        default=90, ge=1, le=3650, description="days that records, texts and scores are kept"
    )
    deltas_days: int = Field(
        default=400,
        ge=8,
        le=3650,
        description="days that roll-ups, deltas, deploys, labels and the canary are kept",
    )
    changes_days: int = Field(
        default=3,
        ge=2,
        le=3650,
        description="days that every change of a delta is kept; older ones are kept by the hour",
    )
    batch_rows: int = Field(
        default=2000,
        ge=1,
        le=100_000,
        description="spans at which a batch is written; four times as many while much waits",
    )
    batch_bytes: int = Field(
        default=16 * 1024**2,
        ge=1024,
        le=256 * 1024**2,
        description="text bytes at which a batch is written",
    )
    linger_seconds: float | None = Field(
        default=None,
        ge=0,
        le=60,
        description="age of the oldest row at which a batch is written; the default is 1, and 2 "
        "over a server, which several daemons may write to",
    )
    memory_bytes: int = Field(
        default=700 * 1024**2,
        ge=128 * 1024**2,
        description="memory of the embedded engine, caches included",
    )
    query_memory_bytes: int = Field(
        default=400 * 1024**2, ge=32 * 1024**2, description="memory of one query"
    )
    query_seconds: float = Field(
        default=20.0,
        gt=0,
        le=3600,
        description="time of one query of a page; jobs get three times that",
    )
    query_rows: int = Field(
        default=200_000, ge=100, le=10_000_000, description="rows that one query may return"
    )
    threads: int = Field(default=2, ge=1, le=256, description="threads of one query")
    page_connections: int = Field(
        default=2, ge=1, le=32, description="queries of pages and the API that run at once"
    )
    timeout_seconds: float = Field(
        default=30.0, gt=0, le=600, description="longest wait for a server's answer to one insert"
    )
    retry_seconds: float = Field(
        default=30.0, gt=0, le=600, description="longest pause between two attempts to write"
    )

    @property
    def linger(self) -> float:
        """Seconds that a row waits for others.

        Over a server twice as long: there each insert is a request, and a part to merge.
        """
        if self.linger_seconds is not None:
            return self.linger_seconds
        return 2.0 if self.url else 1.0

    @field_validator("url")
    @classmethod
    def _has_a_host(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("must be http://host:8123/database, https://..., or empty")
        return url
