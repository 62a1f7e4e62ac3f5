"""The daemon's ledger as the API shows it: what became of every span and every trace."""

from __future__ import annotations

from pydantic import BaseModel


class SpanLedger(BaseModel):
    """What became of acknowledged spans; the others sum up to the first."""

    acknowledged: int
    stored: int
    duplicate: int
    quarantined: int
    in_spool: int


class RecordLedger(BaseModel):
    """What became of closed traces."""

    scored: int
    not_rag: int
    shed: int
    late: int
    unparseable: int


class LedgerForm(BaseModel):
    """The books."""

    spans: SpanLedger
    records: RecordLedger
