"""What the extractive answerer says around the sentences it found, in six languages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Sentence forms: `{quote}` and `{marker}` are filled in."""

    quoting: tuple[str, ...]
    refusal: str
    invented: tuple[str, ...]


ENGLISH = Wording(
    quoting=(
        'The help centre says: "{quote}" {marker}.',
        "As our article puts it, “{quote}” {marker}.",
        'Our rules are clear on this: "{quote}" {marker}.',
    ),
    refusal="I'm sorry, I could not find an answer to that in our help centre.",
    invented=(
        "Every customer receives a goodwill credit of {number} euros without asking",
        "Requests sent by fax are handled within {number} minutes at any hour",
        "A personal adviser visits you at home within {number} days and settles the matter",
        "Members of the gold circle are exempt from this rule for {number} years",
        "The fee is waived for anyone who has lived in the country for {number} months",
        "Our founders guarantee this in writing for the next {number} orders",
    ),
)

WORDINGS: dict[str, Wording] = {
    "en": ENGLISH,
    "de": Wording(
        quoting=("In unserem Hilfebereich steht: „{quote}“ {marker}.",),
        refusal="Es tut mir leid, dazu habe ich in unserem Hilfebereich keine Antwort gefunden.",
        invented=("Jeder Kunde erhält ungefragt eine Gutschrift von {number} Euro",),
    ),
    "fr": Wording(
        quoting=("Notre centre d'aide indique : « {quote} » {marker}.",),
        refusal="Désolé, je n'ai pas trouvé de réponse à cette question dans notre centre d'aide.",
        invented=("Chaque client reçoit d'office un avoir de {number} euros",),
    ),
    "es": Wording(
        quoting=("Nuestro centro de ayuda dice: «{quote}» {marker}.",),
        refusal="Lo siento, no he encontrado una respuesta en nuestro centro de ayuda.",
        invented=("Cada cliente recibe sin pedirlo un abono de {number} euros",),
    ),
    "it": Wording(
        quoting=("Il nostro centro assistenza dice: «{quote}» {marker}.",),
        refusal="Mi dispiace, non ho trovato una risposta nel nostro centro assistenza.",
        invented=("Ogni cliente riceve senza richiesta un accredito di {number} euro",),
    ),
    "nl": Wording(
        quoting=('In ons helpcentrum staat: "{quote}" {marker}.',),
        refusal="Sorry, ik kon hierop geen antwoord vinden in ons helpcentrum.",
        invented=("Elke klant krijgt ongevraagd een tegoed van {number} euro",),
    ),
    "ja": Wording(
        quoting=("ヘルプセンターには「{quote}」とあります{marker}。",),
        refusal="申し訳ありませんが、ヘルプセンターに該当する回答が見つかりませんでした。",
        invented=("すべてのお客様に{number}ユーロの特典を自動的に差し上げます",),
    ),
}


def wording_of(language: str) -> Wording:
    """The forms of a language, English where there are none."""
    return WORDINGS.get(language.split("-")[0].lower(), ENGLISH)
