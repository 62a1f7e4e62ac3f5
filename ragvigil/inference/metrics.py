"""What is counted about the local models."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

TEXTS = Counter("ragvigil_inference_texts", "Texts or pairs that a local model read.", ["task"])
CACHE_HITS = Counter("ragvigil_inference_cache_hits", "Texts whose vector was kept from before.")
UNAVAILABLE = Counter(
    "ragvigil_inference_unavailable",
    "Calls without an answer, by what stood in the way.",
    ["reason"],
)
STARTS = Counter("ragvigil_inference_starts", "Starts of the model process, the first included.")
RESTARTS = Counter(
    "ragvigil_inference_restarts", "Ends of the model process that were not asked for.", ["reason"]
)
CPU_SECONDS = Counter("ragvigil_inference_cpu_seconds", "CPU time that the model process took.")
MEMORY_BYTES = Gauge("ragvigil_inference_memory_bytes", "Resident memory of the model process.")
SHED = Counter(
    "ragvigil_inference_shed",
    "Times that optional work had to wait or was left out, to stay in the share of the CPU.",
)
