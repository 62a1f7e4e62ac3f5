"""Conflicting versions: a newer version of the gold chunk states another fact.

The answer states that of the newer, or names the conflict.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.perturb.conflict import naming_conflict
from ragvigil.evaluation.perturb.source import Source, made
from ragvigil.evaluation.perturb.versions import two_versions


class ConflictingVersions:
    """Makes `conflicting_versions`."""

    name = "conflicting_versions"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with the gold chunk as it was, dated, and a later one that says otherwise."""
        versions = two_versions(source, chance, is_newer_changed=True)
        change = versions.change
        case = made(
            source,
            self.name,
            versions.context,
            Expects.FOLLOWS,
            required=(*change.required, *naming_conflict(source.everything)),
            change=change.kind,
        )
        return replace(
            case,
            gold=(versions.newer,),
            facts=tuple(replace(fact, text=change.of(fact.text)) for fact in source.case.facts),
            answer=change.of(source.case.answer),
        )
