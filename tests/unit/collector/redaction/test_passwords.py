"""Passwords go by their names, in every form of an assignment; words about passwords stay."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

import pytest

from collector.redaction.names import Secrecy, secrecy
from collector.redaction.redact import Redactor
from collector.redaction.settings import RedactSettings
from tests.otlp import spans_of, trace_request

REDACTOR = Redactor(RedactSettings(), key=b"k" * 32)


def redacted(text: str) -> str:
    return REDACTOR.redact_text(text.encode(), Counter()).decode()


PASSWORDS = ["swordfish", "Tr0ub4dor", "ab1&cd2", "ab1,cd2", "ab1(cd2", "pa$$word", "x=y=z9"]
FORMS = [
    "password={}", "password: {}", '"password": "{}"', "export DB_PASSWORD={}", "--password {}",
    "--password={}", "-password {}", "<password>{}</password>", "password => {}", "password := {}",
    "X-Password: {}", "password='{}'", "password = `{}`", 'password: str = "{}"',
    "PGPASSWORD={} psql",
    '{{"name": "DB_PASSWORD", "value": "{}"}}', '<add key="Password" value="{}"/>',
    '["--password", "{}"]', "user: app, password: {}, port: 1", "password: |\n  {}",
    'os.environ["API_KEY"] = "{}"', "curl -u app:{} https://x.org", "**Password:** `{}`",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_goes_in_every_form(form: str, password: str) -> None:
    after = redacted(form.format(password))
    assert password not in after
    assert "⟪" in after
    assert after.startswith(form.partition("{}")[0].replace("{{", "{"))


def full_width(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


def split(text: str) -> str:
    return "\u200b".join(text)


def entities(text: str) -> str:
    return "".join(sign if sign.isspace() else f"&#{ord(sign)};" for sign in text)


def escaped(text: str) -> str:
    return "".join(sign if sign.isspace() else f"\\u{ord(sign):04x}" for sign in text)


def twice(text: str) -> str:
    return json.dumps(json.dumps(text))


ESCAPES = [full_width, split, entities, escaped, json.dumps, twice, html.escape, quote]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize(
    "form", ["password={}", "password: {}", '"password": "{}"', "--password {}"]
)
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_goes_however_it_is_escaped(
    escape: Callable[[str], str], form: str, password: str
) -> None:
    after = redacted(escape(form.format(password)))
    assert "⟪password/" in after
    assert escape(password) not in after


def test_the_mark_is_that_of_the_value_whatever_its_escapes() -> None:
    value = 'sw"o\\rd'
    texts = [json.dumps({"password": value})]
    for _ in range(3):
        texts.append(json.dumps(texts[-1]))
    marks = {redacted(text).partition("⟪")[2].partition("⟫")[0] for text in texts}
    assert len(marks) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Passwort: abc12345", "Das Kennwort lautet abc12345", "mot de passe : abc12345",
        "mi contraseña es abc12345", "senha=abc12345", "parola d'ordine: abc12345",
        "wachtwoord: abc12345", "hasło: abc12345", "пароль: abc12345", "密码是 abc12345",
        "密码：abc12345", "パスワードは「abc12345」です", "비밀번호: abc12345", "şifre: abc12345",
        "lösenord: abc12345", "heslo: abc12345", "mật khẩu: abc12345", "סיסמה: abc12345",
        json.dumps("пароль: abc12345"), quote("пароль: abc12345"),
    ],
)  # fmt: skip
def test_a_password_goes_in_other_languages(text: str) -> None:
    assert "abc12345" not in redacted(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Cookie: sid=abcdef; theme=dark", "abcdef"),
        ("Set-Cookie: sid=abcdef; Path=/; HttpOnly", "abcdef"),
        ("curl -b 'sid=abcdef' https://x.org", "abcdef"),
        ("redis://:hunter2@db:6379/0", "hunter2"),
        ("root:hunter2@tcp(db:3306)/x", "hunter2"),
        ("postgres%3A%2F%2Fu%3Ahunter2%40h%2Fdb", "hunter2"),
        ("Server=db;User Id=a;Pwd=hunter2;Encrypt=yes", "hunter2"),
        ('connection_string = "Endpoint=x;SharedKey=abc"', "SharedKey=abc"),
        ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
        ("Authorization: Token abcdefgh1234", "abcdefgh1234"),
        ('Authorization: Digest username="a", response="6629fae49393a053"', "6629fae49393a053"),
        ("passphrase: correct horse battery staple", "correct horse"),
        ("AKIAIOSFODNN7ABCDEFG,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
        ("sk-lf-12345678-1234-1234-1234-123456789abc", "123456789abc"),
        ("docker login -u app -p S3cr3tPass", "S3cr3tPass"),
        ('user.setPassword("swordfish");', "swordfish"),
        ("ALTER ROLE app WITH PASSWORD 'swordfish'", "swordfish"),
        ("CREATE USER app IDENTIFIED BY 'swordfish'", "swordfish"),
        ("ENV DB_PASSWORD swordfish", "swordfish"),
        ("machine h login u password hunter22", "hunter22"),
        ('passwords: ["swordfish", "tunafish"]', "tunafish"),
        ('{"password": {"value": "swordfish"}}', "swordfish"),
        ("admin:$apr1$abcdefgh$abcdefghijklmnopqrstuv", "ijklmnop"),
        ("https://api.telegram.org/bot1234567890:AA" + "a1B2c3" * 6 + "/send", "a1B2c3a1B2c3"),
    ],
)
def test_other_credentials_go(text: str, secret: str) -> None:
    assert secret not in redacted(text)


PROSE = """the password must be at least 8 characters
forgot your password?
Password: required
Password: must contain 8 characters
Please reset your password: open the settings page and click Reset.
{"password": "The user's password"}
{"password": ["This field may not be blank."]}
{"type": "object", "properties": {"password": {"type": "string", "minLength": 8}}}
To set a password, use the --password option of the command.
Use the --token flag with a value.
secret_name: my-app
passwordless: true
max_tokens=1024 total_tokens: 55 tokenizer: cl100k_base
GET /password_reset?step=2
The cookie: a small file stored in the browser.
Set your API key: go to the dashboard and copy it.
The secret to success is 90% work
password = getpass.getpass()
password = os.environ["DB_PASSWORD"]
api_key=os.getenv("OPENAI_API_KEY")
api_key="YOUR_API_KEY"
token = tokenizer.encode(text)
Passwort: mindestens 12 Zeichen
Le mot de passe est obligatoire.
密码：必须至少8个字符
パスワードは8文字以上です
Authorization: Bearer <token>
<label for="password">Your password</label>
Password policy: minimum length 12, sha256 hashing
Passwords are hashed with sha256
password is case-sensitive
| password | string |
docker run -u 1000:1000 image
https://user@example.org:8080/path?page=2
primary key: user_id
my password manager is 1Password
access key: press Alt+S
Authorization: completing the form takes a day""".splitlines()


@pytest.mark.parametrize("text", PROSE)
def test_words_about_passwords_stay(text: str) -> None:
    assert redacted(text) == text


SECRET_NAMES = [
    "db.password",
    "session.token",
    "connection_string",
    "credentials",
    "x-api-key",
    "clientSecret",
    "http.request.header.cookie",
    "http.request.header.authorization",
    "SECRET_KEY_BASE",
    "password1",
    "пароль",
    "aws_secret_access_key",
    "OPENAIApiKey",
    "mot_de_passe",
    "userPassword",
    "auth.token",
    "password_hash",
]
OTHER_NAMES = [
    "gen_ai.usage.input_tokens",
    "llm.token_count.prompt",
    "max_tokens",
    "tokenizer",
    "passwordless",
    "password_reset",
    "password_policy",
    "session.id",
    "eos_token",
    "next_page_token",
    "gen_ai.token.type",
    "secretary",
    "secret_name",
    "cookie_consent",
    "token_type",
    "has_password",
    "http.route",
    "llm.model_name",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_the_value_of_an_attribute_with_a_secrets_name_goes_whole(name: str) -> None:
    request = trace_request(1)
    attributes = spans_of(request)[0].attributes
    attributes.add(key=name).value.string_value = "correct horse"
    attributes.add(key=name).value.int_value = 12345678
    assert REDACTOR.finds(request.SerializeToString())
    assert REDACTOR.redact(request) == {"credential": 2}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_the_value_of_another_attribute_stays(name: str) -> None:
    assert secrecy(name) is Secrecy.NONE
    request = trace_request(1)
    spans_of(request)[0].attributes.add(key=name).value.string_value = "correct horse"
    assert not REDACTOR.redact(request)


def test_the_argument_after_a_flag_and_the_value_of_a_named_pair_go() -> None:
    request = trace_request(1)
    span = spans_of(request)[0]
    arguments = span.attributes.add(key="process.command_args").value.array_value.values
    for word in ("deploy", "--password", "swordfish", "--dry-run", "now"):
        arguments.add().string_value = word
    pair = span.attributes.add(key="env").value.kvlist_value.values
    pair.add(key="name").value.string_value = "DB_PASSWORD"
    pair.add(key="value").value.string_value = "swordfish"
    assert REDACTOR.redact(request) == {"credential": 2}
    assert b"swordfish" not in request.SerializeToString()
    assert [value.string_value for value in arguments][3:] == ["--dry-run", "now"]


def test_a_random_token_goes_and_a_piece_of_text_stays() -> None:
    request = trace_request(1)
    attributes = spans_of(request)[0].attributes
    attributes.add(key="token").value.string_value = "Hello"
    attributes.add(key="token").value.string_value = "aB3dE5gH7jK9mN1pQ2"
    assert REDACTOR.redact(request) == {"credential": 1}
    assert attributes[0].value.string_value == "Hello"
