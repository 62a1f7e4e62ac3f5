"""Which pairs of verdicts are worth a person's time, and in which order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scorers.calibration.disagreements import Dispute, Opinion, Voice, disagreements

BARS = {"groundedness": 0.8, "context_relevance": 0.5, "answer_relevance": 0.5}
PERSON, JUDGE, SCORER = Voice.PERSON, Voice.JUDGE, Voice.SCORER


def opinion(trace: str, rubric: str, voice: Voice, value: float, time: int = 0) -> Opinion:
    return Opinion(
        trace_id=trace,
        record_id="r",
        rubric=rubric,
        voice=voice,
        value=value,
        name=voice.value,
        time_unix_nano=time,
    )


def test_people_come_first_then_scorers_then_rubrics_each_by_the_gap() -> None:
    disputes = disagreements(
        [
            opinion("a", "groundedness", JUDGE, 1.0),
            opinion("a", "groundedness", SCORER, 0.3),
            opinion("b", "groundedness", JUDGE, 1.0),
            opinion("b", "groundedness", SCORER, 0.0),
            opinion("c", "groundedness", JUDGE, 0.0),
            opinion("c", "groundedness", PERSON, 0.9),
            opinion("d", "groundedness", JUDGE, 1.0),
            opinion("d", "context_relevance", JUDGE, 0.0),
            opinion("e", "groundedness", JUDGE, 0.1),
            opinion("e", "answer_relevance", JUDGE, 0.9),
        ],
        BARS,
    )
    kinds = [(dispute.first.trace_id, dispute.kind) for dispute in disputes]
    assert kinds == [
        ("c", Dispute.PERSON),
        ("b", Dispute.SCORER),
        ("a", Dispute.SCORER),
        ("d", Dispute.RUBRICS),
        ("e", Dispute.RUBRICS),
    ]
    assert disputes[0].why == "groundedness: the judge says 0.00, a person 0.90"
    assert disputes[1].why == "groundedness: the judge says 1.00, scorer 0.00"
    assert disputes[3].why == "groundedness 1.00, yet context_relevance 0.00"
    assert disputes[4].why == "answer_relevance 0.90, yet groundedness 0.10"


def test_verdicts_on_one_side_of_the_bar_or_close_to_it_are_no_dispute() -> None:
    assert not disagreements(
        [
            opinion("a", "groundedness", JUDGE, 0.0),
            opinion("a", "groundedness", SCORER, 0.7),
            opinion("b", "groundedness", JUDGE, 0.75),
            opinion("b", "groundedness", SCORER, 0.85),
        ],
        BARS,
    )


def test_rubrics_with_labels_are_not_listed_again() -> None:
    judged = [
        opinion("a", "groundedness", JUDGE, 1.0),
        opinion("a", "groundedness", SCORER, 0.0),
        opinion("a", "context_relevance", JUDGE, 0.0),
    ]
    labels = [
        opinion("a", "groundedness", PERSON, 1.0),
        opinion("a", "context_relevance", PERSON, 0.0),
    ]
    assert len(disagreements(judged, BARS)) == 2
    assert not disagreements([*judged, *labels], BARS)


def test_the_newest_value_counts() -> None:
    judged = opinion("a", "groundedness", JUDGE, 1.0)
    first = opinion("a", "groundedness", PERSON, 0.0, time=1)
    second = opinion("a", "groundedness", PERSON, 1.0, time=2)
    assert len(disagreements([judged, first], BARS)) == 1
    assert not disagreements([judged, second, first], BARS)


@given(
    st.lists(
        st.builds(
            opinion,
            st.sampled_from("ab"),
            st.sampled_from(sorted(BARS)),
            st.sampled_from(Voice),
            st.floats(0, 1),
        ),
        max_size=30,
        unique_by=lambda opinion: (opinion.trace_id, opinion.rubric, opinion.voice),
    )
)
def test_the_list_does_not_depend_on_the_order_and_has_a_bound(all_said: list[Opinion]) -> None:
    disputes = disagreements(all_said, BARS)
    assert disagreements(all_said[::-1], BARS) == disputes
    assert disagreements(all_said, BARS, most=1) == disputes[:1]
    for dispute in disputes:
        assert dispute.first.voice is JUDGE
        assert dispute.gap > 0
