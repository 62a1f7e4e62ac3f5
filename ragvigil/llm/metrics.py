"""Metrics of calls to language models."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

CALLS = Counter("ragvigil_llm_calls", "Questions asked of a language model.", ["purpose"])
FAILURES = Counter(
    "ragvigil_llm_failures", "Questions without an answer, by kind of failure.", ["purpose", "kind"]
)
ATTEMPTS = Counter("ragvigil_llm_attempts", "Requests sent, by result.", ["result"])
REPAIRS = Counter(
    "ragvigil_llm_repairs", "Replies that were not in the asked form and were asked for again."
)
FORMS_REFUSED = Counter(
    "ragvigil_llm_forms_refused",
    "Requests refused for their form of reply; they are retried in a looser form.",
    ["form"],
)
CACHE_HITS = Counter("ragvigil_llm_cache_hits", "Questions answered without a call.", ["purpose"])
CACHE_ERRORS = Counter("ragvigil_llm_cache_errors", "Errors of the cache of replies.")
TOKENS = Counter(
    "ragvigil_llm_tokens",
    "Tokens paid for: input, output, or assumed if the provider did not report them.",
    ["purpose", "kind"],
)
MONEY = Counter("ragvigil_llm_dollars", "US dollars spent, by the known prices.", ["purpose"])
BUDGET_WAITS = Counter(
    "ragvigil_llm_budget_waits",
    "Calls that waited because others under way had reserved the rest of the budget.",
)
BOOK_ERRORS = Counter("ragvigil_llm_book_errors", "Errors while the day's spending was written.")
IN_FLIGHT = Gauge("ragvigil_llm_in_flight", "Calls under way.")
BREAKER_OPEN = Gauge("ragvigil_llm_breaker_open", "1 while the API gets no calls.")
FAILING = Gauge("ragvigil_llm_failing", "1 while most of the newest questions fail.")
SECONDS = Histogram(
    "ragvigil_llm_seconds",
    "Time of a question from its first attempt to its answer or failure.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300),
)
