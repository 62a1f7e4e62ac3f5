"""What may be posted, and under which id."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from ragvigil.web.views.posts import DeployPost, FeedbackPost, post_id

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize(("said", "value"), [("up", 1.0), ("down", 0.0), (True, 1.0), (0.25, 0.25)])
def test_thumbs_come_as_words_booleans_or_numbers(said: object, value: float) -> None:
    post = FeedbackPost.model_validate({"trace_id": TRACE, "kind": "thumbs", "value": said})
    assert post.value == value


@pytest.mark.parametrize(
    ("post", "reason"),
    [
        ({"kind": "retry"}, "one of trace_id, span_id, session_id and response_id is needed"),
        ({"kind": "thumbs", "trace_id": TRACE}, "thumbs needs a value"),
        ({"kind": "thumbs", "trace_id": TRACE, "value": 2}, "less than or equal to 1"),
        ({"kind": "thumbs", "trace_id": TRACE, "value": "nan"}, "equal to"),
        ({"kind": "applause", "trace_id": TRACE}, "Input should be"),
        ({"kind": "retry", "trace_id": "xyz"}, "match pattern"),
        ({"kind": "retry", "session_id": "a\x00b"}, "NUL"),
        ({"kind": "retry", "session_id": "a", "time": "1999-01-01T00:00:00Z"}, "outside the years"),
        ({"kind": "retry", "session_id": "a", "who": "me"}, "Extra inputs"),
    ],
)
def test_what_cannot_be_meant_is_refused(post: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        FeedbackPost.model_validate(post)


def test_equal_posts_have_equal_ids() -> None:
    post = FeedbackPost(trace_id=TRACE, kind="retry")
    assert post_id(post, NOW) == post_id(FeedbackPost(trace_id=TRACE, kind="retry", time=NOW), NOW)
    assert post_id(post, NOW) != post_id(post, NOW.replace(hour=13))
    assert post_id(post, NOW) != post_id(DeployPost(service="desk"), NOW)
