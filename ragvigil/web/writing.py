"""From posts of the API to rows of the store."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ragvigil.store import deploys
from ragvigil.store import feedback as stored
from ragvigil.web.posts import Accepted, DeployPost, FeedbackPost, post_id

if TYPE_CHECKING:
    from ragvigil.store.store import Store


def feedback(store: Store, post: FeedbackPost, now: datetime) -> Accepted:
    """Stores feedback; returns when it is durable."""
    time = post.time or now
    told = stored.Told(
        feedback_id=post_id(post, time),
        kind=post.kind,
        time_unix_nano=_nanos(time),
        value=post.value,
        comment=post.comment,
        source=post.source,
        trace_id=post.trace_id,
        span_id=post.span_id,
        session_id=post.session_id,
        response_id=post.response_id,
    )
    store.write(stored.batch([told], _nanos(now), replica=store.replica, epoch=store.epoch))
    return Accepted(id=told.feedback_id, matched=stored.matches(store, told))


def deploy(store: Store, post: DeployPost, now: datetime) -> Accepted:
    """Stores a deploy mark; returns when it is durable."""
    time = post.time or now
    mark = deploys.Deploy(
        deploy_id=post_id(post, time),
        service=post.service,
        time_unix_nano=_nanos(time),
        environment=post.environment,
        version=post.version,
        kind=post.kind,
        description=post.description,
        source=post.source,
    )
    store.write(deploys.batch([mark], _nanos(now), replica=store.replica, epoch=store.epoch))
    return Accepted(id=mark.deploy_id, matched=True)


def _nanos(time: datetime) -> int:
    return int(time.timestamp()) * 10**9 + time.microsecond * 1000
