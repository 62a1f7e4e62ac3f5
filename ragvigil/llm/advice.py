"""The way out of each kind of failure, in one clause for the log and the command line."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.llm.outcome import FailureKind

WAYS_OUT: Mapping[FailureKind, str] = {
    FailureKind.TIMEOUT: "raise [judge] timeout_seconds, or lower concurrency if the model is "
    "overloaded",
    FailureKind.RATE_LIMITED: "lower [judge] sample_rate or concurrency, or ask the provider for a "
    "higher limit",
    FailureKind.QUOTA: "the account's quota or credit is used up: top it up at the provider",
    FailureKind.UNAVAILABLE: "see the provider's status page, and check [judge] base_url",
    FailureKind.NO_ADDRESS: "check the host in [judge] base_url and this machine's DNS",
    FailureKind.TLS: "check that [judge] base_url has the right scheme and host; name a private "
    "authority in the environment as SSL_CERT_FILE",
    FailureKind.WRONG_KEY: "check the key in [judge] key_file, or OPENAI_API_KEY or "
    "ANTHROPIC_API_KEY in the daemon's environment, then restart it",
    FailureKind.NO_MODEL: "check the name in [judge] model and the path in base_url",
    FailureKind.REJECTED: "the server does not take such requests: check [judge] model, base_url "
    "and reply_form",
    FailureKind.UNPARSEABLE: "the model does not reply in the asked form: set [judge] reply_form, "
    "or take a model that keeps to a JSON schema",
    FailureKind.OTHER_WORDS: "the model replies with words that it was not offered, such as grades "
    "in another language: take a model that keeps to a JSON schema",
    FailureKind.CUT_OFF: "raise [judge] max_output_tokens",
    FailureKind.REFUSED: "the model or the provider's filter declines these texts: take another "
    "model, or have the filter changed",
    FailureKind.INVALID: "the model grades off the scale: take a model that keeps to a JSON schema",
    FailureKind.CONTEXT: "lower [judge] max_characters to what the model reads",
    FailureKind.TOO_LARGE: "raise [judge] max_reply_bytes",
    FailureKind.BUDGET: "raise [judge] daily_money or daily_tokens, or lower sample_rate; "
    "`ragvigil judge cost` says what a day costs",
    FailureKind.BREAKER_OPEN: "the API is asked again once the pause is over",
}
