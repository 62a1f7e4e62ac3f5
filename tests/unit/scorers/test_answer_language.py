"""In which language an answer is, against its question's and its service's."""

from __future__ import annotations

import pytest

from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.score import Score
from scorers.answer_language import AnswerLanguage
from scorers.runner import Runner, load_scorers
from scorers.settings import AnswerLanguageSettings, ScorersSettings
from scorers.text.language import known_languages, language

QUESTION = {
    "en": "How long does it take until I get my money back?",
    "de": "Wie lange dauert es, bis ich mein Geld zurückbekomme?",
    "es": "¿Cuánto tarda en llegar el reembolso a mi tarjeta?",
    "ja": "カードへの返金にはどのくらいの時間がかかりますか？",
    "zh": "退款到我的银行卡一般需要多长时间？",
    "ru": "Когда мне вернут деньги за этот заказ на карту?",
}
ANSWER = {
    "en": "The refund arrives on your card five to seven days after we have received the parcel.",
    "de": "Die Rückzahlung ist fünf bis sieben Tage nach Eingang des Pakets auf Ihrer Karte.",
    "es": "El reembolso llega a su tarjeta entre cinco y siete días después de recibir el paquete.",
    "ja": "返金は、当社が荷物を受け取ってから五日から七日ほどでカードに届きます。",
    "zh": "退款会在我们收到您寄回的包裹之后的五到七天之内退回到您的银行卡上。",
    "ru": "Деньги вернутся на вашу карту через пять или семь дней после получения посылки.",
}
PORTUGUESE = "O reembolso chega ao seu cartão entre cinco e sete dias depois de recebermos tudo."
DANISH = "Pengene er på dit kort fem til syv dage, efter at vi har modtaget pakken fra dig."
NORWEGIAN = "Hvor lang tid tar det før jeg får pengene mine tilbake på kortet?"


def scored(query: str | None, answer: str | None, *own: str) -> Score:
    record = RagRecord(record_id="1", trace_id="1", query=query, answer=answer)
    return AnswerLanguage(own).score(record)


@pytest.mark.parametrize("asked", QUESTION)
@pytest.mark.parametrize("answered", ANSWER)
def test_an_answer_in_another_language_fails_and_no_other(asked: str, answered: str) -> None:
    score = scored(QUESTION[asked], ANSWER[answered])
    assert score.value == float(asked == answered)
    assert score.label == ("" if asked == answered else "other_language")


def test_near_languages_count_as_one() -> None:
    assert scored(QUESTION["es"], PORTUGUESE).value == 1.0
    assert scored(NORWEGIAN, DANISH).value == 1.0


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (QUESTION["en"], "Fünf bis sieben Tage."),
        (QUESTION["en"], None),
        ("Refund?", ANSWER["de"]),
        ("iPhone 15 Pro Max vs Galaxy S24 Ultra", ANSWER["de"]),
        (None, ANSWER["de"]),
        (QUESTION["en"], "```\nif das_paket_ist_da and not die_karte:\n    raise NichtDa\n```"),
        (QUESTION["en"], "| Tage | Karte |\n| fünf bis sieben | nach dem Eingang der Ware |"),
        (QUESTION["en"], "Les Misérables, Le Père Goriot, Madame Bovary, Bel-Ami, Germinal, Nana"),
        (QUESTION["en"], f"{ANSWER['de']} In English, the refund arrives after five days."),
        (f"What does this letter say? {ANSWER['de']}", ANSWER["en"]),
        ("How do I ask for my money back in German?", ANSWER["de"]),
        ("Translate this sentence for my customer please", ANSWER["de"]),
    ],
    ids=["short", "none", "one_word", "names", "no_question", "code", "table", "titles", "both",
         "pasted", "asked_for", "translation"],
)  # fmt: skip
def test_what_is_not_sure_is_not_applicable(query: str | None, answer: str | None) -> None:
    score = scored(query, answer)
    assert score.value is None
    assert score.explanation


def test_a_quotation_in_another_language_is_not_the_answers_own() -> None:
    quoted = f"Our terms say about refunds to a card: “{ANSWER['de']}”"
    assert scored(QUESTION["en"], quoted).value == 1.0
    assert (
        scored(
            f"What does “{ANSWER['de']}” mean for the parcel that I have sent?", ANSWER["en"]
        ).value
        == 1.0
    )


def test_a_service_of_one_language_answers_every_question_in_it() -> None:
    assert scored(QUESTION["de"], ANSWER["en"], "en").value == 1.0
    assert scored("Refund?", ANSWER["en"], "en").value == 1.0
    assert scored("Refund?", ANSWER["de"], "en").explanation == "the answer is in de, not in en"


def test_a_service_of_two_languages_answers_each_in_its_own() -> None:
    assert scored(QUESTION["de"], ANSWER["en"], "en", "de").value == 0.0
    assert scored(QUESTION["ru"], ANSWER["en"], "en", "de").value == 1.0
    assert scored(QUESTION["ru"], ANSWER["ru"], "en", "de").value == 1.0
    assert scored(QUESTION["ru"], ANSWER["es"], "en", "de").value == 0.0


def test_a_question_that_was_not_sent_is_counted_as_absent() -> None:
    hidden = RagRecord(
        record_id="1", trace_id="1", answer=ANSWER["en"], absent={"query": Absent.HIDDEN}
    )
    assert AnswerLanguage().score(hidden).absent == "query"
    assert AnswerLanguage(["en"]).score(hidden).value == 1.0


def test_the_service_s_languages_come_from_the_settings() -> None:
    settings = ScorersSettings(answer_language=AnswerLanguageSettings(languages=("de",)))
    runner = Runner(load_scorers(settings), settings)
    record = RagRecord(record_id="1", trace_id="1", query=QUESTION["en"], answer=ANSWER["de"])
    values = {score.rubric: score.value for score in runner.score_all(record)}
    assert values["answer_language"] == 1.0


def test_the_codes_that_can_be_named_are_those_that_the_detector_knows() -> None:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    labels = set(LanguageIdentifier.from_model_file(MODEL_FILE).labels)
    assert known_languages() < labels
    assert labels - known_languages() == {"zxx", "la", "eo", "vo"}


def test_a_few_chinese_characters_may_be_japanese() -> None:
    assert language("返金手続方法") is None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("ja", "返品を受け取った日から5〜7営業日以内に返金されます。"),
        ("zh", "退款将在收到退货后5至7个工作日内退回原支付方式。"),
        ("ja", "Pythonのリストは0から数えます。最初の要素はitems[0]です。"),
    ],
)
def test_a_number_in_a_sentence_without_spaces_hides_no_language(code: str, text: str) -> None:
    assert language(text) == code
