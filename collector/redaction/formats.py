"""Forms of keys and tokens that tell themselves, one a line: name, expression, who publishes it.

`GL` is the rule of that name in gitleaks' config/gitleaks.toml; `GH` GitHub's list of secret scanning
patterns (docs.github.com, "Supported secret scanning patterns"); others name the vendor's page.
Lengths are lower limits where vendors have changed them. `redact.py` adds a boundary in front.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from collector.redaction.checks import is_any, is_random

Check = Callable[[bytes, int, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A form: `detect` is what is searched for first, where the form has no fixed beginning."""

    name: str
    find: str
    source: str
    check: Check = is_any
    detect: str = ""


def _form(name: str, find: str, source: str, check: Check = is_any, *, detect: str = "") -> Format:
    return Format(name=name, find=find, source=source, check=check, detect=detect)


_CLOUDS = (
    _form("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b", "GL aws-access-token"),
    _form("aws_bedrock_key", r"ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{40,}", "GL aws-amazon-bedrock-api-key"),
    _form("aws_session_token", r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{50,}", "AWS STS, GetSessionToken"),
    _form("google_api_key", r"AIza[0-9A-Za-z_-]{35}", "GL gcp-api-key"),
    _form("google_oauth", r"(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}|1//0[0-9A-Za-z_-]{40,}", "GH google_oauth_*", detect=r"(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}|1(?:\\*/|%2[Ff]){2}0[0-9A-Za-z_-]{40}"),
    _form("azure_secret", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", "GL azure-ad-client-secret", detect=r"[78]Q~[A-Za-z0-9_~.-]{31}"),
    _form("azure_key", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}", "GH azure_openai_key", detect=r"JQQJ99[A-Za-z0-9]{20}"),
    _form("azure_devops_token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b", "GH azure_devops_personal_access_token", detect=r"AZDO[A-Za-z0-9]{4}"),
    _form("azure_service_key", r"[A-Za-z0-9+/_-]{40,76}(?:AzSe[A-D]|AzFu|ACDb|\+ACR|\+ASt|\+AEh|\+ASb|\+AIo)[A-Za-z0-9+/_=-]{4,10}", "GH azure_*_key", is_random, detect=r"(?:AzSe[A-D]|AzFu|ACDb|\+ACR|\+ASt|\+AEh|\+ASb|\+AIo)[A-Za-z0-9+/_=-]{4}"),
    _form("alibaba_key", r"LTAI[A-Za-z0-9]{12,20}\b", "GL alibaba-access-key-id", is_random),
    _form("tencent_key", r"AKID[A-Za-z0-9]{32}\b", "GH tencent_cloud_secret_id"),
    _form("digitalocean_token", r"do[opr]_v1_[a-f0-9]{64}", "GL digitalocean-pat"),
    _form("heroku_token", r"HRKU-[A-Za-z0-9_-]{30,}", "GL heroku-api-key-v2"),
    _form("databricks_token", r"dapi[0-9a-f]{32}(?:-\d)?\b", "GL databricks-api-token"),
    _form("cloudflare_key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}", "GL cloudflare-origin-ca-key"),
    _form("yandex_key", r"AQVN[A-Za-z0-9_-]{35,38}\b|t1\.[A-Z0-9a-z_-]{20,}[=]{0,2}\.[A-Z0-9a-z_-]{86}|y0_[A-Za-z0-9_-]{39,}", "GL yandex-*"),
    _form("fly_token", r"fo1_[\w-]{43}|fm[12][ar]?_[a-zA-Z0-9+/]{100,}={0,3}", "GL flyio-access-token"),
)  # fmt: skip

_MODELS = (
    _form("langfuse_key", r"[sp]k-lf-[0-9a-f]{8}-[0-9a-f-]{27}", "langfuse.com, API keys"),
    _form("sk_key", r"c?sk-[A-Za-z0-9_-]{18,}", "GL openai-api-key, anthropic-api-key; OpenRouter, DeepSeek, Cerebras", is_random),
    _form("huggingface_token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", "GL huggingface-access-token", is_random),
    _form("groq_key", r"gsk_[A-Za-z0-9]{30,}", "GH groq_api_key", is_random),
    _form("replicate_token", r"r8_[A-Za-z0-9]{30,}", "GH replicate_api_token", is_random),
    _form("perplexity_key", r"pplx-[A-Za-z0-9]{30,}", "GL perplexity-api-key", is_random),
    _form("xai_key", r"xai-[A-Za-z0-9]{30,}", "GH xai_api_key", is_random),
    _form("nvidia_key", r"nvapi-[A-Za-z0-9_-]{30,}", "NVIDIA NGC, API keys"),
    _form("tavily_key", r"tvly-[A-Za-z0-9-]{20,}", "docs.tavily.com", is_random),
    _form("langsmith_key", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32}", "GH langchain_api_key"),
    _form("pinecone_key", r"pcsk_[A-Za-z0-9_]{30,}", "GH pinecone_api_key"),
    _form("voyage_key", r"(?:pa|al)-[A-Za-z0-9_-]{40,}", "docs.voyageai.com", is_random),
    _form("jina_key", r"jina_[A-Za-z0-9_-]{30,}", "jina.ai"),
    _form("llamacloud_key", r"llx-[A-Za-z0-9_-]{30,}", "docs.cloud.llamaindex.ai", is_random),
    _form("fireworks_key", r"fw_[A-Za-z0-9]{20,}", "GH fireworks_ai_api_key", is_random),
    _form("together_key", r"tgp_v1_[A-Za-z0-9_-]{30,}", "docs.together.ai"),
    _form("elevenlabs_key", r"sk_[0-9a-f]{48}\b", "GH elevenlabs_api_key"),
    _form("firecrawl_key", r"fc-[0-9a-f]{32}\b", "docs.firecrawl.dev"),
    _form("runpod_key", r"rpa_[A-Z0-9]{40,}", "docs.runpod.io"),
    _form("mixedbread_key", r"(?:mxb|emb)_[A-Za-z0-9]{30,}", "mixedbread.com", is_random),
    _form("e2b_key", r"e2b_[0-9a-f]{40}", "e2b.dev"),
    _form("anyscale_key", r"esecret_[A-Za-z0-9]{20,}", "docs.anyscale.com"),
    _form("wandb_key", r"wandb_v1_[A-Za-z0-9_-]{40,}", "docs.wandb.ai"),
)  # fmt: skip

_CODE = (
    _form("github_token", r"gh[pousr]_[A-Za-z0-9]{30,}", "GL github-pat, github-oauth, github-app-token"),
    _form("github_pat", r"github_pat_[A-Za-z0-9_]{40,}", "GL github-fine-grained-pat"),
    _form("gitlab_token", r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|ffct|soat|agent|oas|imt)-[A-Za-z0-9_.-]{20,}|GR1348941[\w-]{20}", "GL gitlab-*"),
    _form("bitbucket_token", r"(?:ATBB|ATCTT3)[A-Za-z0-9_=-]{24,}", "GH atlassian_*, bitbucket app passwords", is_random),
    _form("npm_token", r"npm_[A-Za-z0-9]{36}", "GL npm-access-token"),
    _form("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}", "GL pypi-upload-token"),
    _form("rubygems_key", r"rubygems_[a-f0-9]{48}", "GL rubygems-api-token"),
    _form("crates_token", r"cio[A-Za-z0-9]{32}\b", "GH crates_io_api_token", is_random),
    _form("nuget_key", r"oy2[a-z0-9]{43}\b", "GH nuget_api_key"),
    _form("clojars_token", r"CLOJARS_[a-z0-9]{60}", "GL clojars-api-token"),
    _form("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", "GH docker_personal_access_token"),
    _form("artifactory_key", r"AKCp[A-Za-z0-9]{69}\b|cmVmd[A-Za-z0-9]{59}\b", "GL artifactory-api-key"),
    _form("sonar_token", r"sq[upa]_[0-9a-f]{40}", "GH sonar_*"),
    _form("sourcegraph_token", r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}", "GL sourcegraph-access-token"),
    _form("circleci_token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9_]{30,}", "GH circleci_access_token"),
    _form("buildkite_token", r"bk(?:ua|aj|pt|ct)_[a-f0-9]{40,}", "GH buildkite_user_access_token"),
    _form("netlify_token", r"nf[pcoub]_[A-Za-z0-9_]{36,}", "GH netlify_access_token"),
    _form("vault_token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}", "GL vault-service-token"),
    _form("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}", "GL hashicorp-tf-api-token", detect=r"\.atlasv1\."),
    _form("pulumi_token", r"pul-[a-f0-9]{40}", "GL pulumi-api-token"),
    _form("doppler_token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}", "GL doppler-api-token"),
    _form("harness_key", r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", "GL harness-api-key"),
    _form("octopus_key", r"API-[A-Z0-9]{26}\b", "GL octopus-deploy-api-key", is_random),
    _form("openshift_token", r"sha256~[\w-]{43}", "GL openshift-user-token"),
    _form("prefect_key", r"pn[ub]_[A-Za-z0-9]{36}", "GL prefect-api-token"),
    _form("postman_key", r"PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}", "GL postman-api-token"),
    _form("onepassword_token", r"ops_eyJ[A-Za-z0-9+/_-]{80,}={0,3}|A3(?:-[A-Z0-9]{5,6}){5,6}\b", "GL 1password-*", is_random),
    _form("tailscale_key", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}", "GH tailscale_api_key"),
    _form("age_key", r"AGE-SECRET-KEY-1[0-9A-Za-z]{58}", "GL age-secret-key"),
)  # fmt: skip

_SERVICES = (
    _form("slack_token", r"xox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}", "GL slack-*"),
    _form("slack_app_token", r"xapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{20,}", "GL slack-app-token"),
    _form("slack_webhook", r"hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/[\w\\/+]{30,}", "GL slack-webhook-url", detect=r"hooks\.slack\.com"),
    _form("webhook_url", r"[a-z0-9]+\.webhook\.office\.com/webhookb2/[\w@/-]{60,}|hooks\.zapier\.com/hooks/catch/\d+/\w{5,}|chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?[^\s\"'<>]{20,}", "GL microsoft-teams-webhook; Zapier, Google Chat", detect=r"webhook\.office\.com|hooks\.zapier\.com|chat\.googleapis\.com"),
    _form("discord_webhook", r"discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d+\\?/[\w-]{40,}", "GH discord_webhook_url", detect=r"discord(?:app)?\.com"),
    _form("discord_token", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}", "GH discord_bot_token", detect=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),
    _form("telegram_token", r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}", "core.telegram.org/bots/api", detect=r"(?::|%3[Aa])AA[A-Za-z0-9_-]{32}"),
    _form("stripe_key", r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}={0,2}", "GL stripe-access-token"),
    _form("twilio_key", r"SK[0-9a-f]{32}\b", "GL twilio-api-key"),
    _form("sendgrid_key", r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}", "GL sendgrid-api-token"),
    _form("mailgun_key", r"key-[0-9a-f]{32}\b|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b", "GL mailgun-*", detect=r"key-[0-9a-f]{32}|[0-9a-f]-[0-9a-f]{8}-[0-9a-f]{8}"),
    _form("mailchimp_key", r"[0-9a-f]{32}-us\d{1,2}\b", "GL mailchimp-api-key", detect=r"-us\d"),
    _form("brevo_key", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", "GL sendinblue-api-token"),
    _form("resend_key", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b", "resend.com, API keys", is_random),
    _form("shopify_token", r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}", "GL shopify-access-token"),
    _form("square_token", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}|EAAA[A-Za-z0-9_-]{60}", "GL square-access-token"),
    _form("facebook_token", r"EAA[A-Za-z0-9]{80,}", "GL facebook-page-access-token"),
    _form("plaid_token", r"access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "GL plaid-api-token"),
    _form("razorpay_key", r"rzp_(?:live|test)_[A-Za-z0-9]{14}", "GH razorpay_*"),
    _form("paypal_token", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", "GH paypal_oauth_token"),
    _form("easypost_key", r"EZ[AT]K[A-Za-z0-9]{54}", "GL easypost-api-token"),
    _form("shippo_token", r"shippo_(?:live|test)_[a-fA-F0-9]{40}", "GL shippo-api-token"),
    _form("newrelic_key", r"NR(?:AK|II|IQ|JS)-[A-Za-z0-9_-]{19,40}", "GL new-relic-*", is_random),
    _form("grafana_token", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|eyJrIjoi[A-Za-z0-9]{60,}={0,3}", "GL grafana-*"),
    _form("dynatrace_token", r"dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}", "GL dynatrace-api-token"),
    _form("sentry_token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", "GL sentry-*"),
    _form("honeycomb_key", r"hc[a-z]ik_[a-z0-9]{58}|hc[a-z]mk_[a-z0-9]{26}", "docs.honeycomb.io"),
    _form("linear_key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "GL linear-api-key"),
    _form("notion_token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b", "GL notion-api-token", is_random),
    _form("airtable_token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", "GL airtable-personnal-access-token"),
    _form("hubspot_token", r"pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "GH hubspot_private_apps_user_token"),
    _form("clickup_token", r"pk_\d{5,}_[A-Z0-9]{32}", "clickup.com/api"),
    _form("atlassian_token", r"ATATT3[A-Za-z0-9_=-]{50,}", "GL atlassian-api-token"),
    _form("contentful_token", r"CFPAT-[A-Za-z0-9_-]{40,}", "GH contentful_personal_access_token"),
    _form("typeform_token", r"tfp_[A-Za-z0-9_.-]{40,}", "GL typeform-api-token"),
    _form("readme_token", r"rdme_[a-z0-9]{70}", "GL readme-api-token"),
    _form("figma_token", r"fig[dor]_[A-Za-z0-9_-]{36,}", "GH figma_pat"),
    _form("mapbox_token", r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}", "GH mapbox_secret_access_token"),
    _form("planetscale_token", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,}", "GL planetscale-*"),
    _form("supabase_key", r"sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}", "GH supabase_*"),
    _form("neon_key", r"napi_[a-z0-9]{60,}", "neon.tech, API keys"),
    _form("clickhouse_key", r"4b1d[A-Za-z0-9]{38}\b", "GL clickhouse-cloud-api-secret-key", is_random),
    _form("duffel_token", r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}", "GL duffel-api-token"),
    _form("infracost_token", r"ico-[A-Za-z0-9]{32}\b", "GL infracost-api-token", is_random),
    _form("maxmind_key", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b", "GL maxmind-license-key", detect=r"_mmk"),
    _form("nostr_key", r"nsec1[02-9ac-hj-np-z]{58}", "NIP-19"),
    _form("extended_key", r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}", "BIP-32"),
)  # fmt: skip

FORMATS: tuple[Format, ...] = (*_CLOUDS, *_MODELS, *_CODE, *_SERVICES)
