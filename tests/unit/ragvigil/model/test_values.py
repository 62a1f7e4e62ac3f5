"""Values cost what plain objects do, and are the values that frozen ones would be."""

from __future__ import annotations

import pickle
from dataclasses import replace

from ragvigil.model.record import Document, Retrieval
from ragvigil.model.span import Span


def test_equal_values_have_one_hash_and_travel() -> None:
    one, same = (Retrieval(query="a", documents=(), span_id="b") for _ in range(2))
    assert (one, hash(one)) == (same, hash(same))
    assert pickle.loads(pickle.dumps(one)) == one
    assert replace(one, query="c") != one


def test_a_value_has_no_room_for_what_it_does_not_declare() -> None:
    assert not hasattr(Document(chunk_id="a"), "__dict__")
    assert not hasattr(Span(trace_id="a", span_id="b"), "__dict__")
