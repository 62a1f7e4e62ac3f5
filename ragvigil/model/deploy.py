"""Marks that say what of a service changed, and when."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """A change of a service; the same `deploy_id` again replaces the first.

    `kind` says what changed: deploy, prompt, index, model.
    """

    deploy_id: str
    service: str
    time_unix_nano: int
    environment: str = ""
    version: str = ""
    kind: str = "deploy"
    description: str = ""
    source: str = "api"
