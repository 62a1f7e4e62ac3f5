"""Keeps what a former leader still writes out of the leader's tables."""

from __future__ import annotations

from ragvigil.store.fleet.lease import Lease

OF_LEADER = frozenset(
    {
        "audit_scores",
        "audits",
        "canary_members",
        "canary_scores",
        "checkpoints",
        "delta_changes",
        "drift_states",
        "failures",
        "findings",
        "incident_events",
        "incidents",
        "issue_events",
        "issue_pairs",
        "issues",
        "label_bars",
        "memberships",
        "notices",
        "questions",
        "root_causes",
        "rubric_deltas",
        "sampling_overrides",
        "topics",
    }
)
"""Tables that only the leader writes. Roll-ups and counts are not among them: they are computed
again from what is stored, whoever asks. Nor is what people told: labels, acts, feedback, deploys,
golden cases and erasures stay, whoever took them down."""


class Fence:
    """The condition of a write, by table: a guard of the store."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    def __call__(self, table: str) -> str:
        """SQL that throws where we do not lead; empty for tables that are anybody's.

        Raises Fenced if we know already.
        """
        return self._lease.condition() if table in OF_LEADER else ""
