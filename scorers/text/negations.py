"""Negations by language, spelled as `normalise.words` spells them.

Leaves out words that mostly mean something else in another language: all lists are used at once.
"""

from __future__ import annotations

from collections.abc import Sequence

BY_LANGUAGE = {
    "ar": "لا لم لن ليس ليست ليسوا غير بدون دون",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts ohne",
    "el": "δεν μην οχι μη ποτε χωρις",
    "en": (
        "not no never none nor neither cannot without nothing nobody dont doesnt didnt isnt arent"
        " wasnt werent wont wouldnt cant couldnt shouldnt mustnt havent hasnt hadnt aint"
    ),
    "es": "no nunca ningún ninguna tampoco jamás sin nada",
    "fi": "ei eivät ilman",
    "fr": "ne pas jamais aucun aucune sans rien",
    "he": "לא אין אינו אינה אינם בלי ללא מעולם",
    "hi": "नहीं नही न मत बिना",
    "id": "tidak bukan jangan tanpa",
    "it": "non nessun nessuna senza",
    "ja": "無 非 不 未 ず ぬ",
    "ko": "안 못 없는 없이 않는",
    "nl": "niet geen nooit zonder",
    "pl": "nie nigdy bez",
    "pt": "não nunca nenhum nenhuma sem",
    "ru": "не нет ни никогда без нельзя",
    "sv": "inte ej aldrig ingen utan ikke",
    "tr": "değil yok asla hiç",
    "uk": "не ні немає ніколи без",
    "vi": "không chưa chẳng",
    "zh": "不 没 沒 無 无 非 未 莫 勿 别",
}
NEGATIONS = frozenset(word for words in BY_LANGUAGE.values() for word in words.split())
INSIDE = ("ない", "ません", "なく", "なかっ", "ไม่", "មិន", "ບໍ່")
"""Negations longer than one character in scripts without spaces, where each character is a word."""


def denies(words: Sequence[str]) -> bool:
    """Whether these words contain a negation.

    >>> denies(["do", "not"]), denies(["な", "い"]), denies(["knot"])
    (True, True, False)
    """
    if not NEGATIONS.isdisjoint(words):
        return True
    joined = "".join(word for word in words if len(word) == 1)
    return any(negation in joined for negation in INSIDE)
