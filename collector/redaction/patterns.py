r"""The patterns of secrets and personal data, one line each.

Expressions are RE2 over UTF-8. `redact.py` adds a boundary in front of a token. To search a whole
body it leaves out a `\b` at the end, because a length byte may follow, and uses `detect` if there
is one: for a pattern that alone would match too much or, without a fixed first letter, would
make the automaton large. An assigned pattern gets no boundary, and its group is what is taken out.
`check` decides last, on the match and its surroundings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from collector.redaction.checks import (
    is_any,
    is_assigned,
    is_basic,
    is_card,
    is_iban,
    is_opaque,
    is_phone,
    is_quoted,
    is_random,
    is_written,
)

Check = Callable[[bytes, int, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A kind of value: its expression, and a further check."""

    name: str
    find: str
    check: Check = is_any
    is_personal: bool = False
    is_assigned: bool = False
    detect: str = ""


def _token(name: str, find: str, check: Check = is_any, *, detect: str = "") -> Pattern:
    return Pattern(name=name, find=find, check=check, detect=detect)


def _assigned(name: str, find: str, check: Check, *, detect: str = "") -> Pattern:
    return Pattern(name=name, find=find, check=check, is_assigned=True, detect=detect)


def _personal(name: str, find: str, check: Check, *, detect: str = "") -> Pattern:
    """A pattern of personal data, without a boundary: a phone number begins with a sign."""
    return Pattern(
        name=name,
        find=f"({find})",
        check=check,
        is_personal=True,
        is_assigned=True,
        detect=detect or find,
    )


_CLOUDS = (
    _token("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _token("aws_bedrock_key", r"ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    _token("google_api_key", r"AIza[0-9A-Za-z_-]{35}"),
    _token("google_oauth", r"(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}"),
    _token(
        "azure_secret",
        r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
        detect=r"[78]Q~[A-Za-z0-9_~.-]{31}",
    ),
    _token("azure_key", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}", detect=r"JQQJ99[A-Za-z0-9]{20}"),
    _token("alibaba_key", r"LTAI[A-Za-z0-9]{12,20}\b", is_random),
    _token("tencent_key", r"AKID[A-Za-z0-9]{32}\b"),
    _token("digitalocean_token", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("heroku_token", r"HRKU-[A-Za-z0-9_-]{30,}"),
    _token("databricks_token", r"dapi[0-9a-f]{32}\b"),
    _token("cloudflare_key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
)

_MODELS = (
    _token("sk_key", r"c?sk-[A-Za-z0-9_-]{18,}", is_random),
    _token("langfuse_key", r"sk-lf-[0-9a-f]{8}-[0-9a-f-]{27}"),
    _token("huggingface_token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", is_random),
    _token("groq_key", r"gsk_[A-Za-z0-9]{30,}", is_random),
    _token("replicate_token", r"r8_[A-Za-z0-9]{30,}", is_random),
    _token("perplexity_key", r"pplx-[A-Za-z0-9]{30,}", is_random),
    _token("xai_key", r"xai-[A-Za-z0-9]{30,}", is_random),
    _token("nvidia_key", r"nvapi-[A-Za-z0-9_-]{30,}"),
    _token("tavily_key", r"tvly-[A-Za-z0-9-]{20,}", is_random),
    _token("langsmith_key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("pinecone_key", r"pcsk_[A-Za-z0-9_]{30,}"),
    _token("voyage_key", r"pa-[A-Za-z0-9_-]{40,}", is_random),
    _token("jina_key", r"jina_[A-Za-z0-9_-]{30,}"),
    _token("llamacloud_key", r"llx-[A-Za-z0-9_-]{30,}", is_random),
    _token("fireworks_key", r"fw_[A-Za-z0-9]{20,}", is_random),
    _token("together_key", r"tgp_v1_[A-Za-z0-9_-]{30,}"),
    _token("e2b_key", r"e2b_[0-9a-f]{40}"),
    _token("anyscale_key", r"esecret_[A-Za-z0-9]{20,}"),
)

_SERVICES = (
    _token("github_token", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    _token("github_pat", r"github_pat_[A-Za-z0-9_]{40,}"),
    _token("gitlab_token", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt)-[A-Za-z0-9_.-]{20,}"),
    _token("slack_token", r"xox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    _token("slack_app_token", r"xapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{20,}"),
    _token("slack_webhook", r"hooks\.slack\.com\\?/services\\?/T\w+\\?/B\w+\\?/\w{16,}"),
    _token("discord_webhook", r"discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d+\\?/[\w-]{40,}"),
    _token(
        "discord_token",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        detect=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    ),
    _token(
        "telegram_token",
        r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}",
        detect=r":AA[A-Za-z0-9_-]{32}",
    ),
    _token("stripe_key", r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}"),
    _token("twilio_key", r"SK[0-9a-f]{32}\b"),
    _token("sendgrid_key", r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    _token("mailgun_key", r"key-[0-9a-f]{32}\b"),
    _token("mailchimp_key", r"[0-9a-f]{32}-us\d{1,2}\b", detect=r"-us\d"),
    _token("npm_token", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}"),
    _token("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    _token("shopify_token", r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}"),
    _token("square_token", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}|EAAA[A-Za-z0-9_-]{60}"),
    _token("facebook_token", r"EAA[A-Za-z0-9]{80,}"),
    _token("vault_token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    _token(
        "terraform_token",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
        detect=r"\.atlasv1\.",
    ),
    _token("newrelic_key", r"NRAK-[A-Z0-9]{27}"),
    _token("grafana_token", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}"),
    _token("linear_key", r"lin_api_[A-Za-z0-9]{32,}"),
    _token("notion_token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b", is_random),
    _token("airtable_token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("atlassian_token", r"ATATT3[A-Za-z0-9_=-]{50,}"),
    _token("figma_token", r"figd_[A-Za-z0-9_-]{36,}"),
    _token("postman_key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("sentry_token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    _token("planetscale_token", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,}"),
    _token("supabase_key", r"sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}"),
    _token("doppler_token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}"),
    _token("age_key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)

_NAME = (
    r"(?i:pass(?:word|wd|phrase|code)|pwd|secret|api[_ .-]?key|(?:access|account|private|signing"
    r"|encryption|secret|subscription|master)[_ -]?key|(?:auth|access|refresh|bearer|id|session|api"
    r"|security|personal)[_ -]?token|credential)s?(?:[_-][A-Za-z0-9]{1,20}){0,3}"
)
_SIGN = r"\s{0,4}(?:=>|:=|==|[:=])\s{0,4}"
_END = r"\s\"'\\,;&<>(){}\[\]"

_GENERIC = (
    _token("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    _assigned(
        "private_key",
        r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----(?:[^-]|-[^-]){30,}"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?)",
        is_any,
        detect=r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
    ),
    _assigned("bearer", r"(?i:bearer)(?:\s|%20){1,4}([A-Za-z0-9._~+/\\=-]{16,})", is_opaque),
    _assigned("basic_auth", r"(?i:basic)\s{1,4}([A-Za-z0-9+/\\]{8,}={0,2})", is_basic),
    _assigned(
        "url_password",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}:\\?/\\?/[^\s/:@\"'\\]{0,64}:([^\s/@\"'\\]{3,128})@",
        is_assigned,
        detect=r":\\?/\\?/[^\s/:@\"'\\]*:[^\s/@\"'\\]+@",
    ),
    _assigned(
        "url_signature",
        r"[?&;](?i:sig|signature|x-amz-signature|x-amz-security-token|key|token)="
        r"([A-Za-z0-9%._~+/=-]{16,})",
        is_opaque,
    ),
    _assigned(
        "authorization",
        r"(?i:authorization)\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?(?:[A-Za-z]{1,20} )?"
        r"([A-Za-z0-9._~+/=-]{12,})",
        is_opaque,
    ),
    _assigned(
        "token",
        r"(?i:token)\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?([A-Za-z0-9._~+/=-]{16,})",
        is_random,
    ),
    _assigned(
        "quoted_password",
        _NAME + rf"\\*[\"']?{_SIGN}\\*[\"']([^\s\"'\\]{{4,256}})",
        is_quoted,
        detect=_NAME + rf"\\*[\"']?{_SIGN}\\*[\"'][^\s\"'\\]{{4}}",
    ),
    _assigned(
        "password",
        _NAME + rf"\s{{0,4}}==?\s{{0,4}}([^{_END}]{{6,256}})",
        is_assigned,
        detect=_NAME + rf"{_SIGN}[^{_END}]{{6}}",
    ),
    _assigned(
        "written_password",
        _NAME + rf"{_SIGN}([^{_END}]{{6,256}})",
        is_written,
        detect=_NAME + rf"{_SIGN}[^{_END}]{{6}}",
    ),
)

_CARD = (
    r"(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|5\d\d|4[4-9]\d|2\d\d)|35\d\d)"
    r"(?:(?: \d{4}){3}|(?:-\d{4}){3}|\d{12})"
    r"|3[47]\d\d(?: \d{6} \d{5}|-\d{6}-\d{5}|\d{11})"
    r"|3(?:0[0-5]|[68]\d)\d(?: \d{6} \d{4}|-\d{6}-\d{4}|\d{10}))"
)
# Not within the digits of a fraction, unless the byte before is the length of the string.
_BEFORE_CARD = r"(?:[^0-9.]|[^ -)+-ac-~][0-9.])"
_CARDS = (Pattern(name="payment_card", find=_CARD, check=is_card, detect=_BEFORE_CARD + _CARD),)

_PERSONAL = (
    _personal(
        "email",
        r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}",
        is_any,
        detect=r"[A-Za-z0-9._%+-]@[A-Za-z0-9-]+\.[A-Za-z]",
    ),
    _personal("iban", r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", is_iban),
    _personal(
        "phone",
        r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,5}"
        r"|\(?[2-9]\d\d\)?[ .-][2-9]\d\d[ .-]\d{4}",
        is_phone,
    ),
    _personal("us_ssn", r"[0-8]\d\d-\d\d-\d{4}", is_phone),
)

PATTERNS = (*_GENERIC, *_CLOUDS, *_MODELS, *_SERVICES, *_CARDS, *_PERSONAL)

CREDENTIAL = "credential"
# Keys of attributes whose value is a secret, whatever it looks like.
CREDENTIAL_KEY = (
    r"(?i:pass(?:word|wd|phrase)|secret|api[_-]?key|(?:access|private|secret|account)[_-]?key"
    r"|(?:auth|access|refresh|bearer|session)[_-]?token|authorization|cookie)"
)
