"""134 kinds of secrets, made up from their vendors' descriptions of the formats.

The product's patterns are not read here: a kind is its prefix, alphabet and length as published
on vendors' pages, in GitHub's list of secret scanning patterns, in the RFCs of PEM, OpenPGP, SSH2.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BASE32 = string.ascii_uppercase + "234567"


class Group(Enum):
    """What a kind is judged as."""

    NAMED = "named"
    PRIVATE_KEY = "private_key"
    PASSWORD = "password"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A secret; none of its `pieces` may be left.

    `name` is what it is assigned to. `is_whole`: it says itself what it is, and is no value of a
    name (`-u user:secret`, a header).
    """

    text: str
    pieces: tuple[str, ...]
    name: str = ""
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of secret, and what makes another of it."""

    name: str
    group: Group
    make: Callable[[random.Random], Planted]


def draw(rng: random.Random, alphabet: str, length: int) -> str:
    """Random signs with a digit in the middle; the first and the last are no signs of `-_`."""
    plain = [sign for sign in alphabet if sign not in "-_+/"]
    signs = rng.choices(alphabet, k=length)
    signs[0], signs[-1] = rng.choice(plain), rng.choice(plain)
    signs[length // 2] = rng.choice("234567")
    return "".join(signs)


# Name, then parts: a text as it is, or an alphabet and a length.
Part = str | tuple[str, int]
NAMED: tuple[tuple[str, tuple[Part, ...]], ...] = (
    ("aws access key", ("AKIA", (BASE32, 16))),
    ("aws temporary key", ("ASIA", (BASE32, 16))),
    ("aws bedrock key", ("ABSK", (BASE64, 128))),
    ("google api key", ("AIza", (URLSAFE, 35))),
    ("google oauth access token", ("ya29.", (URLSAFE, 120))),
    ("google oauth client secret", ("GOCSPX-", (URLSAFE, 28))),
    ("google refresh token", ("1//0", (URLSAFE, 60))),
    ("azure client secret", ((ALNUM, 3), "8Q~", (ALNUM, 34))),
    ("azure openai key", ((ALNUM, 52), "JQQJ99", (ALNUM, 26))),
    ("azure devops token", ((ALNUM, 76), "AZDO", (ALNUM, 4))),
    ("alibaba key", ("LTAI", (ALNUM, 20))),
    ("digitalocean token", ("dop_v1_", (HEX, 64))),
    ("databricks token", ("dapi", (HEX, 32))),
    ("heroku key", ("HRKU-AA", (URLSAFE, 58))),
    ("openai key", ("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20))),
    ("openai project key", ("sk-proj-", (URLSAFE, 74), "T3BlbkFJ", (URLSAFE, 74))),
    ("openai service key", ("sk-svcacct-", (URLSAFE, 74), "T3BlbkFJ", (URLSAFE, 74))),
    ("anthropic key", ("sk-ant-api03-", (URLSAFE, 93), "AA")),
    ("anthropic admin key", ("sk-ant-admin01-", (URLSAFE, 93), "AA")),
    ("openrouter key", ("sk-or-v1-", (HEX, 64))),
    ("deepseek key", ("sk-", (HEX, 32))),
    ("groq key", ("gsk_", (ALNUM, 52))),
    ("hugging face token", ("hf_", (string.ascii_letters, 34))),
    ("replicate token", ("r8_", (ALNUM, 37))),
    ("perplexity key", ("pplx-", (ALNUM, 48))),
    ("xai key", ("xai-", (ALNUM, 80))),
    ("nvidia key", ("nvapi-", (URLSAFE, 64))),
    ("tavily key", ("tvly-dev-", (ALNUM, 32))),
    ("pinecone key", ("pcsk_", (ALNUM, 6), "_", (ALNUM, 63))),
    ("voyage key", ("pa-", (URLSAFE, 43))),
    ("langsmith key", ("lsv2_pt_", (HEX, 32), "_", (HEX, 10))),
    ("langfuse secret", ("sk-lf-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-",
                         (HEX, 12))),
    ("langfuse public", ("pk-lf-", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-",
                         (HEX, 12))),
    ("llamacloud key", ("llx-", (ALNUM, 48))),
    ("jina key", ("jina_", (HEX, 32), (URLSAFE, 28))),
    ("fireworks key", ("fw_", (ALNUM, 24))),
    ("together key", ("tgp_v1_", (URLSAFE, 43))),
    ("cerebras key", ("csk-", (LOWER, 48))),
    ("elevenlabs key", ("sk_", (HEX, 48))),
    ("firecrawl key", ("fc-", (HEX, 32))),
    ("github token", ("ghp_", (ALNUM, 36))),
    ("github oauth token", ("gho_", (ALNUM, 36))),
    ("github server token", ("ghs_", (ALNUM, 36))),
    ("github refresh token", ("ghr_", (ALNUM, 76))),
    ("github fine-grained token", ("github_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    ("gitlab token", ("glpat-", (URLSAFE, 20))),
    ("bitbucket app password", ("ATBB", (ALNUM, 32))),
    ("atlassian token", ("ATATT3xFfGF0", (URLSAFE, 170), "=", (UPPER, 8))),
    ("npm token", ("npm_", (ALNUM, 36))),
    ("pypi token", ("pypi-AgEIcHlwaS5vcmc", (URLSAFE, 120))),
    ("rubygems key", ("rubygems_", (HEX, 48))),
    ("docker token", ("dckr_pat_", (URLSAFE, 27))),
    ("slack bot token", ("xoxb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24))),
    ("slack user token", ("xoxp-", (string.digits, 12), "-", (string.digits, 12), "-",
                          (string.digits, 12), "-", (HEX, 32))),
    ("slack app token", ("xapp-1-A", (UPPER, 10), "-", (string.digits, 13), "-", (HEX, 64))),
    ("slack webhook", ("https://hooks.slack.com/services/T", (UPPER, 10), "/B", (UPPER, 10), "/",
                       (ALNUM, 24))),
    ("discord webhook", ("https://discord.com/api/webhooks/", (string.digits, 18), "/",
                         (URLSAFE, 68))),
    ("discord bot token", ("MTA", (ALNUM, 23), ".G", (ALNUM, 5), ".", (URLSAFE, 38))),
    ("telegram bot token", ("1234567890:AA", (URLSAFE, 33))),
    ("stripe key", ("sk_live_", (ALNUM, 24))),
    ("stripe restricted key", ("rk_live_", (ALNUM, 99))),
    ("stripe webhook secret", ("whsec_", (ALNUM, 32))),
    ("twilio key", ("SK", (HEX, 32))),
    ("sendgrid key", ("SG.", (URLSAFE, 22), ".", (URLSAFE, 43))),
    ("mailgun key", ("key-", (HEX, 32))),
    ("brevo key", ("xkeysib-", (HEX, 64), "-", (ALNUM, 16))),
    ("shopify token", ("shpat_", (HEX, 32))),
    ("square token", ("sq0atp-", (URLSAFE, 22))),
    ("vault token", ("hvs.", (URLSAFE, 95))),
    ("terraform token", ((ALNUM, 14), ".atlasv1.", (URLSAFE, 67))),
    ("grafana token", ("glsa_", (ALNUM, 32), "_", (HEX, 8))),
    ("sentry token", ("sntryu_", (HEX, 64))),
    ("new relic key", ("NRAK-", (UPPER, 27))),
    ("dynatrace token", ("dt0c01.", (UPPER, 24), ".", (UPPER, 64))),
    ("linear key", ("lin_api_", (ALNUM, 40))),
    ("notion token", ("ntn_", (string.digits, 11), (ALNUM, 35))),
    ("airtable token", ("pat", (ALNUM, 14), ".", (HEX, 64))),
    ("figma token", ("figd_", (URLSAFE, 40))),
    ("postman key", ("PMAK-", (HEX, 24), "-", (HEX, 34))),
    ("tailscale key", ("tskey-auth-", (ALNUM, 16), "-", (ALNUM, 32))),
    ("age key", ("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
)  # fmt: skip


def _named(parts: tuple[Part, ...]) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        drawn = [part if isinstance(part, str) else draw(rng, *part) for part in parts]
        text = "".join(drawn)
        longest = max((p for p in drawn if p not in parts), key=len)
        half = len(longest) // 2
        return Planted(
            text=text, pieces=(longest[:half], longest[half:]), name=rng.choice(("API_KEY", "key"))
        )

    return make


def _jwt(rng: random.Random) -> Planted:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    signature = draw(rng, URLSAFE, 43)
    claims = {"sub": draw(rng, HEX, 12), "iat": rng.randrange(10**9)}
    text = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{signature}"
    return Planted(text=text, pieces=(signature,), name="jwt")


# Label, lines, then how it is laid out.
LABELS = ("RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY",
          "DSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY")  # fmt: skip


def _lines(rng: random.Random, number: int = 26) -> list[str]:
    return [draw(rng, BASE64, 64) for _ in range(number - 1)] + [draw(rng, BASE64, 38) + "=="]


def _pem(label: str, end: str = "-----END {}-----") -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        lines = _lines(rng)
        last = [end.format(label)] if end else []
        text = "\n".join([f"-----BEGIN {label}-----", *lines, *last])
        return Planted(text=text, pieces=tuple(lines), name="PRIVATE_KEY")

    return make


def _with_headers(rng: random.Random) -> Planted:
    lines = _lines(rng)
    head = ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED",
            f"DEK-Info: AES-128-CBC,{draw(rng, UPPER, 32)}", ""]  # fmt: skip
    text = "\n".join([*head, *lines, "-----END RSA PRIVATE KEY-----"])
    return Planted(text=text, pieces=tuple(lines), name="SSH_PRIVATE_KEY")


def _pgp(rng: random.Random) -> Planted:
    lines = _lines(rng)
    text = "\n".join(["-----BEGIN PGP PRIVATE KEY BLOCK-----", "Version: GnuPG v2", "", *lines,
                      "=abcd", "-----END PGP PRIVATE KEY BLOCK-----"])  # fmt: skip
    return Planted(text=text, pieces=tuple(lines), name="GPG_KEY")


def _ssh2(rng: random.Random) -> Planted:
    lines = _lines(rng)
    text = "\n".join(["---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", 'Comment: "rsa-key"', *lines,
                      "---- END SSH2 ENCRYPTED PRIVATE KEY ----"])  # fmt: skip
    return Planted(text=text, pieces=tuple(lines), name="ssh_key")


def _putty(rng: random.Random) -> Planted:
    public, private = _lines(rng, 6), _lines(rng, 14)
    text = "\n".join(["PuTTY-User-Key-File-3: ssh-rsa", "Encryption: none", "Comment: me@host",
                      "Public-Lines: 6", *public, "Private-Lines: 14", *private,
                      f"Private-MAC: {draw(rng, HEX, 64)}"])  # fmt: skip
    return Planted(text=text, pieces=tuple(private), name="ppk")


def _laid_out(separator: str, *, is_cut: bool = False) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        label = rng.choice(LABELS)
        planted = _pem(label, "" if is_cut else "-----END {}-----")(rng)
        text = planted.text.replace("\n", separator)
        return Planted(text=text, pieces=planted.pieces, name="private_key")

    return make


def _service_account(rng: random.Random) -> Planted:
    planted = _pem("PRIVATE KEY")(rng)
    value = {"type": "service_account", "project_id": "shop", "private_key_id": draw(rng, HEX, 40),
             "private_key": planted.text + "\n", "client_email": "x@example.org"}  # fmt: skip
    return Planted(text=json.dumps(value), pieces=planted.pieces, is_whole=True)


def _base64_pem(rng: random.Random) -> Planted:
    planted = _pem(rng.choice(LABELS))(rng)
    text = base64.b64encode(planted.text.encode()).decode()
    return Planted(text=text, pieces=(text[100:160], text[-60:]), name="tls.key")


def _yaml_block(rng: random.Random) -> Planted:
    planted = _pem(rng.choice(LABELS))(rng)
    indented = "\n".join("    " + line for line in planted.text.split("\n"))
    return Planted(
        text=f"tls:\n  private_key: |\n{indented}\n", pieces=planted.pieces, is_whole=True
    )


def _prefixed(sign: str) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        planted = _pem(rng.choice(LABELS))(rng)
        text = "\n".join(sign + line for line in planted.text.split("\n"))
        return Planted(text=text, pieces=planted.pieces, is_whole=True)

    return make


PRIVATE_KEYS: tuple[tuple[str, Callable[[random.Random], Planted]], ...] = (
    *((label.lower(), _pem(label)) for label in LABELS),
    ("encrypted with headers", _with_headers),
    ("pgp block", _pgp),
    ("ssh2", _ssh2),
    ("putty", _putty),
    ("one line, escaped", _laid_out("\\n")),
    ("one line, escaped twice", _laid_out("\\\\n")),
    ("one line, escaped thrice", _laid_out("\\\\\\\\n")),
    ("one line, spaces", _laid_out(" ")),
    ("crlf", _laid_out("\r\n")),
    ("without an end", _laid_out("\n", is_cut=True)),
    ("escaped, without an end", _laid_out("\\n", is_cut=True)),
    ("service account", _service_account),
    ("base64 of pem", _base64_pem),
    ("yaml block", _yaml_block),
    ("quoted in mail", _prefixed("> ")),
    ("quoted by bars", _prefixed("| ")),
)

LETTERS = string.ascii_lowercase
PASSWORDS_MADE: dict[str, Callable[[random.Random], str]] = {
    "letters": lambda r: "".join(r.choices(LETTERS, k=r.randint(9, 14))),
    "mixed": lambda r: draw(r, ALNUM, 12),
    "ampersand": lambda r: f"{draw(r, ALNUM, 5)}&{draw(r, ALNUM, 5)}",
    "comma": lambda r: f"{draw(r, ALNUM, 5)},{draw(r, ALNUM, 5)}",
    "bracket": lambda r: f"{draw(r, ALNUM, 5)}({draw(r, ALNUM, 5)}",
}
WORDS = ("password", "Passwort", "mot de passe", "contraseña", "senha", "password", "wachtwoord",
         "hasło", "пароль", "密码", "パスワード", "비밀번호", "şifre", "lösenord", "Kennwort",
         "mdp")  # fmt: skip


def _password(form: str) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        value = PASSWORDS_MADE[form](rng)
        name = rng.choice(("password", "DB_PASSWORD", "passwd", "pwd", "userPassword", "secret"))
        return Planted(text=value, pieces=(value,), name=name)

    return make


def _foreign(word: str) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        value = PASSWORDS_MADE[rng.choice(("mixed", "ampersand", "comma"))](rng)
        return Planted(text=f"{word}: {value}", pieces=(value,), is_whole=True)

    return make


def _said(form: str, value: Callable[[random.Random], str]) -> Callable[[random.Random], Planted]:
    def make(rng: random.Random) -> Planted:
        secret = value(rng)
        return Planted(text=form.replace("{}", secret), pieces=(secret,), is_whole=True)

    return make


def _any_password(rng: random.Random) -> str:
    return PASSWORDS_MADE[rng.choice(tuple(PASSWORDS_MADE))](rng)


def _token(rng: random.Random) -> str:
    return draw(rng, ALNUM, 40)


SAID: tuple[tuple[str, str, Callable[[random.Random], str]], ...] = (
    ("cookie", "Cookie: sid={}; theme=dark", _token),
    ("set-cookie", "Set-Cookie: session={}; Path=/; HttpOnly", _token),
    ("flag", "deploy --user app --password {} --dry-run", _any_password),
    ("curl user", "curl -u app:{} https://db.example.org/", _any_password),
    ("xml", "<user>app</user><password>{}</password>", lambda r: draw(r, ALNUM, 10)),
    ("bearer", "Authorization: Bearer {}", _token),
    ("url password", "postgresql://app:{}@db.example.org:5432/shop", lambda r: draw(r, ALNUM, 12)),
    ("connection string", "Server=db;User Id=app;Password={};Encrypt=yes",
     lambda r: draw(r, ALNUM, 12)),
    ("azure storage", "AccountName=shop;AccountKey={}==;EndpointSuffix=core", lambda r: draw(
        r, BASE64, 86)),
    ("azure signature", "https://x.blob.core.windows.net/c?sv=2022-11-02&sig={}%3D", _token),
    ("aws secret", "aws_secret_access_key = {}", lambda r: draw(r, BASE64, 40)),
)  # fmt: skip


def kinds() -> list[Kind]:
    """All kinds, in a fixed order."""
    named = [Kind(name=n, group=Group.NAMED, make=_named(parts)) for n, parts in NAMED]
    named.append(Kind(name="jwt", group=Group.NAMED, make=_jwt))
    keys = [Kind(name=n, group=Group.PRIVATE_KEY, make=make) for n, make in PRIVATE_KEYS]
    words = [(f"password of {form}", _password(form)) for form in PASSWORDS_MADE]
    words += [(f"named {word}", _foreign(word)) for word in WORDS[1:5] + WORDS[6:]]
    words += [(name, _said(form, value)) for name, form, value in SAID]
    return named + keys + [Kind(name=n, group=Group.PASSWORD, make=make) for n, make in words]
