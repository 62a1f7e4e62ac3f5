"""Names of secrets: in which words, in which languages, and what beside them makes them harmless."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class Secrecy(Enum):
    """What a name says of its value: a secret, one if it looks random, or nothing."""

    NONE = 0
    IF_RANDOM = 1
    SURE = 2


# Words for a password, by language. `%` stands for any sign between two words, or none.
PASSWORD_WORDS = {
    "en": "password passwd passwrd passwort passw pwd pswd passphrase passcode pass%phrase "
    "pass%word pass%code",
    "de": "kennwort passwort zugangscode",
    "fr": "mot%de%passe mdp",
    "es": "contraseña contraseña contrasena contrasenya clave%de%acceso",
    "pt": "senha palavra%passe",
    "it": "parola%d'ordine parola%d’ordine parola%di%accesso",  # noqa: RUF001
    "nl": "wachtwoord",
    "sv da no": "lösenord adgangskode kodeord passord",
    "fi et": "salasana parool",
    "pl": "hasło haslo",
    "cs sk": "heslo",
    "hu": "jelszó jelszo",
    "ro": "parolă parola",
    "hr sr sl": "lozinka geslo лозинка",
    "lt": "slaptažodis",
    "tr": "şifre sifre şifresi parolası",
    "ru": "пароль",
    "uk be bg": "парола",
    "el": "κωδικός%πρόσβασης",
    "ar fa ur": "كلمة%المرور كلمة%السر گذرواژه رمز%عبور",
    "he": "סיסמה סיסמא",
    "hi": "पासवर्ड",
    "th": "รหัสผ่าน",
    "vi": "mật%khẩu",
    "id": "kata%sandi",
    "zh": "密码 密碼 口令",
    "ja": "パスワード 暗証番号",
    "ko": "비밀번호 패스워드 암호",
}
# What is a secret under its name, whatever it looks like.
SECRET_WORDS = (
    "secret credential connection%string conn%string conn%str "
    "api%key apikey auth%key access%key account%key private%key privkey signing%key encryption%key "
    "decryption%key secret%key subscription%key master%key shared%key preshared%key pre%shared%key "
    "psk storage%key service%key license%key ssh%key gpg%key pgp%key tls%key ssl%key rsa%key "
    "admin%key webhook%key deploy%key bot%key functions%key app%key mnemonic "
    "seed%phrase recovery%phrase recovery%code backup%code auth%token access%token refresh%token "
    "bearer%token id%token session%token api%token security%token personal%token oauth%token "
    "csrf%token xsrf%token bot%token app%token user%token service%token account%token deploy%token "
    "registry%token webhook%token device%token jwt%token login%token sas%token github%token "
    "gitlab%token slack%token npm%token private%token secret%token vault%token hf%token "
    "client%token instance%token job%token push%token verification%token reset%token sastoken "
    "authorization jsessionid phpsessid session%cookie auth%cookie"
)
COOKIE_WORDS = "cookie"
# What is a secret under its name if it looks random: these words have other meanings as well.
VAGUE_WORDS = "token auth pass pw"

# Words after the name that tell something about a secret, and are none.
ABOUT = frozenset(
    """url uri href link page path file filename dir folder id ids name names length len size min max
    policy policies reset expiry expires expired expiration age field input label hint prompt type
    types kind count counts required requires enabled disabled changed updated created at date time
    ttl rotation manager strength rule rules arn ref reference version status state valid validator
    validation error errors message messages help placeholder regex pattern attempts retries form
    endpoint algorithm encoder encoding provider format scheme location source domain samesite secure
    httponly lifetime days hours seconds minutes limit limits usage budget cost price per used total
    less based protected protection change changes forgot recovery recover consent banner notice
    is has hint hints score confidence index position logprob logprobs ids text_offset map env var
    variable store settings options config route screen view template email mode""".split()
)
NOT_BEFORE = frozenset(
    """is has no without forgot forgotten requires require needs need show hide missing invalid wrong
    incorrect weak allow allows enable disable supports passwordless""".split()
)
# Words before `token` that make it a piece of text, a count, or a cursor.
TOKEN_OF_TEXT = frozenset(
    """max min num n total input output prompt completion first last next prev previous page pagination
    continuation sync cursor eos bos pad unk sep cls mask stop start end special per of to text word
    usage image audio cached reasoning thinking count current each one single every generated
    sampled predicted new llm chunk""".split()
)
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^\w']+|_+")


def _fragment(word: str, between: str) -> str:
    return between.join(re.escape(part) for part in word.split("%"))


def _alternatives(words: str, between: str) -> str:
    """The words as one expression, longest first."""
    ordered = sorted(set(words.split()), key=len, reverse=True)
    return "|".join(_fragment(word, between) for word in ordered)


_PASSWORDS = " ".join(PASSWORD_WORDS.values())
_SURE = f"{_PASSWORDS} {SECRET_WORDS} {COOKIE_WORDS}"

# RE2: a name as it stands in a text, with what is appended to it, as in `PASSWORD_PROD`.
_APPENDED = r"[A-Za-z0-9_.-]{0,40}"
NAME = rf"(?i:{_alternatives(f'{_PASSWORDS} {SECRET_WORDS}', '[_ .-]?')}){_APPENDED}"
VAGUE_NAME = rf"(?i:{_alternatives(VAGUE_WORDS, '[_ .-]?')})"
# In a serialised request: a sure word anywhere, a vague one only where a value may follow.
SHORT_WORD_LETTERS = 5
"""Words up to this length occur within others; they count where a value may follow."""
_LONG = " ".join(
    word for word in _SURE.split() if not word.isascii() or len(word) > SHORT_WORD_LETTERS
)
_SHORT = " ".join(word for word in _SURE.split() if word not in _LONG.split())
_BETWEEN = r"(?:[_ .-]|%20|\+|\\u0020)?"


def _escaped(word: str) -> str:
    """A word as JSON and URLs escape what is not ASCII in it: `contrase\\u00f1a`, `contrase%C3%B1a`."""
    parts = []
    for sign in word:
        forms = {sign, sign.lower(), sign.upper()}
        codes = "|".join(f"{ord(form):04x}" for form in sorted(forms) if len(form) == 1)
        octets = "|".join("".join(f"%{b:02x}" for b in form.encode()) for form in sorted(forms))
        parts.append(_BETWEEN if sign == "%" else sign)
        if not sign.isascii():
            parts[-1] = rf"(?:\\u(?:{codes})|{octets})"
    return r"\\*".join(parts)


_FOREIGN = "|".join(_escaped(word) for word in _PASSWORDS.split() if not word.isascii())
HAS_NAME = rf"(?i:{_alternatives(_LONG, _BETWEEN)}|{_FOREIGN})"
_HAS_SHORT = rf"(?i:{_alternatives(f'{_SHORT} {VAGUE_WORDS}', '[_ .-]?')})[0-9]{{0,3}}"
HAS_VAGUE_NAME = (
    rf"{_HAS_SHORT}(?:\\*[\"'`>\])*]){{0,3}}(?:\s|%20){{0,4}}(?:[\x00-\x1f:=|>]|%3[AaDd]|&)"
    rf"|-[A-Za-z_-]{{0,20}}{_HAS_SHORT}(?:\s|%20)|{_HAS_SHORT}[_.-][A-Za-z0-9_.-]{{1,20}}\s?[:=]"
)

_SURE_NAME = re.compile(rf"(?:{_alternatives(_SURE, '_?')})(?:s|es)?\d*(?=_|$)")
_VAGUE_NAME = re.compile(rf"(?:^|_)(?:{_alternatives(VAGUE_WORDS, '_?')})\d*(?=_|$)")


@lru_cache(maxsize=4096)
def secrecy(name: str) -> Secrecy:
    """What the name of an attribute, variable or field says of its value.

    >>> [secrecy(name).name for name in ("db.password", "sessionToken", "token", "max_tokens")]
    ['SURE', 'SURE', 'IF_RANDOM', 'NONE']
    >>> secrecy("password_reset_url"), secrecy("passwordless"), secrecy("tokenizer")
    (<Secrecy.NONE: 0>, <Secrecy.NONE: 0>, <Secrecy.NONE: 0>)
    """
    plain = _OTHER.sub("_", _BOUNDARY.sub("_", name)).strip("_").lower()
    for expression, grade in ((_SURE_NAME, Secrecy.SURE), (_VAGUE_NAME, Secrecy.IF_RANDOM)):
        matches = list(expression.finditer(plain))
        if matches and _is_of_secret(plain, matches[-1]):
            return grade
    return Secrecy.NONE


def _is_of_secret(plain: str, match: re.Match[str]) -> bool:
    """Whether the words around the name leave it a secret's."""
    before = plain[: match.start()].strip("_").split("_")
    after = plain[match.end() :].strip("_").split("_")
    if ABOUT.intersection(after):
        return False
    is_text = "token" in match.group() and TOKEN_OF_TEXT.intersection(before[-2:])
    return not is_text and not NOT_BEFORE.intersection(before[-1:])
