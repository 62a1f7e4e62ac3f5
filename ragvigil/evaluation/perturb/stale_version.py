"""Stale version: an older version of the gold chunk, with another fact, is in the context too.

The answer states the fact of the newer, which is the expected one, or names the conflict.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.perturb.conflict import naming_conflict
from ragvigil.evaluation.perturb.source import Source, made
from ragvigil.evaluation.perturb.versions import two_versions


class StaleVersion:
    """Makes `stale_version`."""

    name = "stale_version"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with its gold chunk, dated, and an earlier one that says otherwise."""
        versions = two_versions(source, chance, is_newer_changed=False)
        case = made(
            source,
            self.name,
            versions.context,
            Expects.FOLLOWS,
            required=(" ".join(versions.change.old), *naming_conflict(source.everything)),
            change=versions.change.kind,
        )
        return replace(case, gold=(versions.newer,))
