"""`/api/v1/topics`: what users ask about, where it fails, and what no golden case covers."""

from __future__ import annotations

from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.topics import CollectionForm, TopicMapForm, TopicsForm

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


class TopicSource(Protocol):
    """Knows the topics; the composition root provides it."""

    def topics(self) -> TopicsForm:
        """The newest map of each service, and how far the next ones are. Raises StoreError."""
        ...


@router.get(
    "/topics",
    summary="What users ask about: topics with their share, failures, thumbs-down, golden cases",
    dependencies=[Depends(Requires(Permission.READ))],
)
def topics(request: Request, service: Name = "", environment: Name = "") -> TopicsForm:
    """The newest maps; a map is made weekly, sooner while questions are still few."""
    source: TopicSource | None = request.app.state.topics
    found = source.topics() if source else TopicsForm()

    def is_of(part: TopicMapForm | CollectionForm) -> bool:
        return service in ("", part.service) and environment in ("", part.environment)

    return found.model_copy(
        update={
            "maps": [part for part in found.maps if is_of(part)],
            "collecting": [part for part in found.collecting if is_of(part)],
        }
    )
