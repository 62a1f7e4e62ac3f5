"""Metrics of the local models."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

TEXTS = Counter("ragvigil_inference_texts", "Texts or pairs that a local model read.", ["task"])
CACHE_HITS = Counter("ragvigil_inference_cache_hits", "Texts whose vector was in the cache.")
UNAVAILABLE = Counter(
    "ragvigil_inference_unavailable",
    "Calls without an answer, by reason.",
    ["reason"],
)
GIVEN_UP = Counter(
    "ragvigil_inference_given_up",
    "Texts that are not embedded any more: the model failed twice on each of them alone.",
)
STARTS = Counter("ragvigil_inference_starts", "Starts of the model process, the first included.")
RESTARTS = Counter(
    "ragvigil_inference_restarts", "Unexpected ends of the model process.", ["reason"]
)
CPU_SECONDS = Counter("ragvigil_inference_cpu_seconds", "CPU time of the model process.")
MEMORY_BYTES = Gauge("ragvigil_inference_memory_bytes", "Resident memory of the model process.")
SHED = Counter(
    "ragvigil_inference_shed",
    "Times that optional work waited or was left out, to stay within the share of the CPU.",
)
