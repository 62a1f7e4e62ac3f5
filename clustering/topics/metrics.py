"""Prometheus metrics of topics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

QUESTIONS = Counter("ragvigil_topic_questions", "Questions that were embedded for topics.")
WAITING = Gauge(
    "ragvigil_topic_questions_waiting",
    "Sampled questions that had no vector yet at the last turn.",
)
TOPICS = Gauge(
    "ragvigil_topics", "Topics of the newest map of a service.", ["service", "environment"]
)
GAPS = Gauge(
    "ragvigil_topic_gaps", "Large topics without a golden case.", ["service", "environment"]
)
FAILURES = Counter("ragvigil_topic_map_failures", "Maps that could not be made.", ["reason"])
