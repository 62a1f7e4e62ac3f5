"""Of several scores of a rubric a person's counts, then a judge's, then a local one."""

from __future__ import annotations

from itertools import permutations

from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.web.views.verdict.own_scores import own_score
from ragvigil.web.views.verdict.scores import ScoreForm


def score(kind: Kind, value: float | None, stream: Stream = Stream.BASE) -> ScoreForm:
    return ScoreForm(
        rubric="groundedness", layer=Layer.GENERATION, value=value, label="", explanation="",
        scorer=kind.value, version="1", segment=f"r1 {kind}", kind=kind.value,
        stream=stream.value, failed=False, absent="",
    )  # fmt: skip


PERSON, JUDGE, LOCAL = score(Kind.HUMAN, 0.0), score(Kind.JUDGE, 0.4), score(Kind.MODEL, 0.9)


def test_the_order_in_which_scores_are_stored_says_nothing() -> None:
    for scores in permutations((PERSON, JUDGE, LOCAL)):
        assert own_score(scores, "groundedness") == PERSON
    for scores in permutations((JUDGE, LOCAL)):
        assert own_score(scores, "groundedness") == JUDGE


def test_a_judge_without_a_value_leaves_the_word_to_the_local_model() -> None:
    silent = score(Kind.JUDGE, None)
    assert own_score([silent, LOCAL], "groundedness") == LOCAL
    assert own_score([silent], "groundedness") == silent
    assert own_score([score(Kind.JUDGE, 0.1, Stream.AUDIT), LOCAL], "groundedness") == LOCAL
