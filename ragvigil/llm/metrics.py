"""What is counted about calls to language models."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

CALLS = Counter("ragvigil_llm_calls", "Questions asked of a language model.", ["purpose"])
FAILURES = Counter(
    "ragvigil_llm_failures", "Questions without an answer, by what went wrong.", ["purpose", "kind"]
)
ATTEMPTS = Counter(
    "ragvigil_llm_attempts", "Requests that were sent, by what came of them.", ["result"]
)
REPAIRS = Counter(
    "ragvigil_llm_repairs", "Replies that were not in the asked form and were asked for again."
)
FORMS_REFUSED = Counter(
    "ragvigil_llm_forms_refused",
    "Requests whose form of reply the server does not know; they are asked again in a looser one.",
    ["form"],
)
CACHE_HITS = Counter("ragvigil_llm_cache_hits", "Questions answered without a call.", ["purpose"])
CACHE_ERRORS = Counter("ragvigil_llm_cache_errors", "Replies that could not be read or kept.")
TOKENS = Counter(
    "ragvigil_llm_tokens",
    "Tokens paid for: input, output, or assumed where the provider did not say how many.",
    ["purpose", "kind"],
)
MONEY = Counter("ragvigil_llm_dollars", "US dollars spent, by the known prices.", ["purpose"])
BUDGET_WAITS = Counter(
    "ragvigil_llm_budget_waits",
    "Times that a call waited because calls under way held what the budget had left.",
)
BOOK_ERRORS = Counter(
    "ragvigil_llm_book_errors", "Times that the day's spending could not be written down."
)
IN_FLIGHT = Gauge("ragvigil_llm_in_flight", "Calls under way.")
BREAKER_OPEN = Gauge("ragvigil_llm_breaker_open", "1 while the API is left alone.")
SECONDS = Histogram(
    "ragvigil_llm_seconds",
    "Time of a question from its first attempt to its answer or failure.",
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300),
)
