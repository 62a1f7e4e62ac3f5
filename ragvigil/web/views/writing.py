"""From posts of the API to rows of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ragvigil.model.deploy import Deploy
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.store.records import feedback as stored
from ragvigil.store.records import traces
from ragvigil.store.scores import labels as labelled
from ragvigil.store.watch import deploys
from ragvigil.web.views.posts import (
    Accepted,
    DeployPost,
    FeedbackPost,
    LabelPost,
    label_id,
    post_id,
)

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


def feedback(store: Store, post: FeedbackPost, now: datetime) -> Accepted:
    """Stores feedback; returns when it is durable."""
    time = post.time or now
    event = FeedbackEvent(
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
    store.write(stored.batch([event], _nanos(now), replica=store.replica, epoch=store.epoch))
    return Accepted(id=event.feedback_id, matched=stored.matches(store, event))


def deploy(store: Store, post: DeployPost, now: datetime) -> Accepted:
    """Stores a deploy mark; returns when it is durable."""
    time = post.time or now
    mark = Deploy(
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


def labels(
    store: Store, posts: Sequence[LabelPost], labeller: str, now: datetime
) -> list[Accepted]:
    """Stores a person's labels together; returns when they are durable.

    Of equal ids the last counts.
    """
    listed = [
        labelled.Label(
            label_id=label_id(post, labeller),
            rubric=post.rubric,
            trace_id=post.trace_id.lower(),
            record_id=post.record_id.lower(),
            time_unix_nano=_nanos(post.time or now),
            value=post.value,
            label=post.label,
            labeller=labeller,
            source=post.source,
            comment=post.comment,
        )
        for post in posts
    ]
    by_id = {label.label_id: label for label in listed}
    batch = labelled.batch(
        list(by_id.values()), _nanos(now), replica=store.replica, epoch=store.epoch
    )
    store.write(batch)
    stored_traces = traces.lookup(store, {label.trace_id for label in listed})
    return [
        Accepted(id=label.label_id, matched=_is_stored(label, stored_traces)) for label in listed
    ]


def take_back(store: Store, label: labelled.Label, now: datetime) -> None:
    """Takes a label back; returns when that is durable."""
    empty = labelled.taken_back(label, _nanos(now))
    store.write(labelled.batch([empty], _nanos(now), replica=store.replica, epoch=store.epoch))


def _is_stored(label: labelled.Label, stored_traces: Mapping[str, traces.StoredTrace]) -> bool:
    trace = stored_traces.get(label.trace_id)
    return trace is not None and label.record_id in ("", *trace.record_ids)


def _nanos(time: datetime) -> int:
    return int(time.timestamp()) * 10**9 + time.microsecond * 1000
