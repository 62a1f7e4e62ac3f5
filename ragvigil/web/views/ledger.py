"""The daemon's ledger as the API shows it: what became of every span and every trace."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SpanLedger(BaseModel):
    """What became of acknowledged spans; the other counts sum up to `acknowledged`."""

    acknowledged: int
    stored: int
    duplicate: int
    quarantined: int
    lost: int
    not_kept: int = Field(default=0, description="left out by the setting `store.spans`")
    in_spool: int


class RecordLedger(BaseModel):
    """What became of closed traces."""

    scored: int
    not_rag: int
    shed: int
    late: int
    unparseable: int
    offline: int = Field(default=0, description="asked by an evaluation: no user, no answer")


class LedgerForm(BaseModel):
    """What became of every span and every trace."""

    spans: SpanLedger
    records: RecordLedger
