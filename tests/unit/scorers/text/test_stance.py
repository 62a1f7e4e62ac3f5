"""Refusals without a subject or a verb, answers that deny something, and what is partial."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from scorers.text.stance import classify

REFUSALS = """\
Unable to answer based on given passages.
N/A
NO_ANSWER
Unanswerable.
Not mentioned in the context.
`NO_ANSWER`
Ich weiss es nicht.
Dazu enthalten die Unterlagen nichts.
Keine Angabe im Kontext.
Je ne sais pas.
Non précisé dans les documents.
Les extraits ne mentionnent pas ce point. Si vous me donnez la référence, je chercherai volontiers.
No lo sé.
Información no disponible.
Los documentos facilitados no indican el plazo.
Não sei.
Não consta no contexto.
Non lo so.
Non specificato nel testo.
Dat weet ik niet.
Niet vermeld in de bronnen.
Hierover staat niets in de documenten.
Nie wiem.
Brak informacji w dokumentach.
Не знаю.
Не указано в контексте.
文中未提及。
我不知道。
无法根据提供的资料回答。
記載なし
提供された資料には記載がありません。
わかりません。
Bilmiyorum.
Belgelerde belirtilmemiş.
정보 없음
모르겠습니다.
غير مذكور في السياق.
लागू नहीं
Vet ikke.
Framgår inte av texten.
En tiedä.
Nevím.
Neuvedeno.
Не вказано.
Nu știu.
Nem tudom.
Δεν γνωρίζω.
Tidak disebutkan dalam dokumen.
Không được đề cập trong tài liệu.
לא צוין
ไม่ทราบ
I can only help with questions about our products.
That is outside the scope of what I can help with.
Sorry, I can't share that.
The passages only describe shipping. I therefore cannot say what returns cost.
It isn't stated whether returns are free.
Источники не уточняют, бесплатен ли возврат.
Источники не уточняют, есть ли в отеле спортзал.
""".splitlines()
ANSWERS = """\
No, gift cards cannot be refunded.
We cannot offer refunds on opened software.
You can't change the address once the parcel has left.
There is no fee for returns.
The warranty does not cover water damage.
No documents are needed for children under six.
When the sources do not say who pays, the clerk asks the board.
Wenn die Unterlagen dazu nichts enthalten, fragt der Assistent nach.
The treaty of 1867 was silent on fishing.
If you can't find the answer, ask our support.
The documents must not be older than three months.
We do not ship to Iceland.
Your data is not shared with third parties.
Nein, Gutscheine können nicht erstattet werden.
Wir liefern nicht nach Island.
Die Unterlagen müssen nicht beglaubigt sein.
Es fallen keine Kosten an.
Das Gerät lässt sich nicht ohne PIN einschalten.
Non, les cartes cadeaux ne sont pas remboursables.
Nous ne livrons pas en Islande.
Les documents ne doivent pas dater de plus de trois mois.
No, las tarjetas regalo no se pueden devolver.
No enviamos a Islandia.
El texto no puede superar 500 caracteres.
Não, os vales não podem ser reembolsados.
O documento não pode ter mais de três meses.
No, i buoni regalo non sono rimborsabili.
I documenti non devono essere più vecchi di tre mesi.
Nee, cadeaubonnen worden niet terugbetaald.
De documenten mogen niet ouder zijn dan drie maanden.
Nie, kart podarunkowych nie można zwrócić.
Dokumenty nie mogą być starsze niż trzy miesiące.
Нет, подарочные карты не возвращаются.
Документы не должны быть старше трёх месяцев.
不可以,礼品卡不能退款。
文件没有大小限制。
いいえ、ギフトカードは返金できません。
追加の書類は必要ありません。
データが失われることはありません。
Hayır, hediye kartları iade edilemez.
Belgeler üç aydan eski olmamalıdır.
아니요, 상품권은 환불되지 않습니다.
Nej, presentkort kan inte återbetalas.
Ne, dárkové karty nelze vrátit.
Ei, lahjakortteja ei voi palauttaa.
Nu, cardurile cadou nu pot fi rambursate.
Nem, az ajándékkártya nem váltható vissza.
Όχι, οι δωροκάρτες δεν επιστρέφονται.
Tidak, kartu hadiah tidak dapat dikembalikan.
Không, thẻ quà tặng không được hoàn tiền.
None.
Five days.
""".splitlines()
STEPS = (
    "Heat the oven to 200 degrees and salt the meat. Roast it for two hours on the lower rack. "
    "Let it rest for ten minutes before you carve it."
)


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_in_any_form_is_refused(answer: str) -> None:
    assert classify(answer).label == "refused"


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_denies_something_is_an_answer(answer: str) -> None:
    assert classify(answer).label == "answered"


@pytest.mark.parametrize(
    "note",
    [
        "Note that the passages do not say how to brown the roast.",
        "The passages do not give exact temperatures.",
        "Passage 2 does not mention the oven.",
    ],
)
def test_a_caveat_behind_an_answer_in_full_makes_it_no_partial_one(note: str) -> None:
    assert classify(f"{STEPS} {note}").label == "answered"


@pytest.mark.parametrize(
    "answer",
    [
        f"{STEPS} I cannot tell you where to buy the meat.",
        "Delivery takes three to five working days, but the documents do not say what it costs.",
        "Die Lieferung dauert drei bis fünf Tage, aber die Unterlagen nennen keinen Preis.",
    ],
)
def test_an_answer_to_a_part_of_the_question_is_partial(answer: str) -> None:
    assert classify(answer).label == "partial"


def test_a_statement_of_the_sources_is_not_what_they_lack() -> None:
    assert classify("The documents state that vouchers are not refunded.").label == "answered"
    assert classify("Laut den Unterlagen werden Gutscheine nicht erstattet.").label == "answered"


def test_code_words_lack_accents_and_have_lines_between_their_words() -> None:
    for word in (
        "PAS_DE_REPONSE",
        "KEINE-ANTWORT",
        "[SIN_INFORMACION]",
        "<no_answer>",
        "BİLGİ_YOK",
    ):
        assert classify(word).label == "refused", word
    assert classify("BİLGİ_YOK").label == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        "I am restricted to questions about the warranty terms and must pass on this one.",
        "Anfragen dieser Art werden hier nicht beantwortet.",
        "Je ne traite que les questions relatives aux congés.",
        "Por motivos de confidencialidad no se facilita esa información.",
        "Mogę rozmawiać wyłącznie o ofercie banku.",
        "Я консультирую только по вопросам ипотеки.",
        "Yalnızca sigorta konularında yanıt verebiliyorum.",
        "本サービスではその種のご質問にはお答えしておりません。",
        "我只能回答与保险有关的问题。",
    ],
)
def test_a_policy_that_keeps_the_assistant_from_answering_refuses(answer: str) -> None:
    assert classify(answer).label == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        "The passages are about a different product line.",
        "The excerpts end before the results are reported.",
        "Der Auszug bricht ab, bevor das Ergebnis genannt wird.",
        "El contexto solo habla de Berlín, no de Hamburgo.",
        "De fragmenten zijn te vaag.",
        "给出的片段讲的是另一款产品。",
        "渡された抜粋は別の製品に関するものです。",
    ],
)
def test_a_context_of_another_matter_or_that_breaks_off_refuses(answer: str) -> None:
    assert classify(answer).label == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        "The drug is not for children under six, since there is too little data.",
        "The author is unknown.",
        "The number of victims could not be determined.",
        "The committee found no evidence of fraud.",
        "If you do not know the answer, leave the field empty.",
        "There is no information desk in terminal 1.",
        "Leider ist die Gebühr nicht erstattbar.",
        "Das Mittel ist nichts für Kinder, weil keine ausreichenden Daten vorliegen.",
        "No hay aparcamiento gratuito cerca de la estación.",
        "Non sono ammessi cani.",
        "Ücret maalesef iade edilmiyor.",
        "Lamentablemente, la tasa no es reembolsable.",
        "駅の近くに無料の駐車場はありません。",
        "작가는 알려져 있지 않습니다. 죄송하지만 수강료는 환불되지 않습니다.",
        "لا يوجد موقف مجاني قرب المحطة.",
    ],
)
def test_a_denial_about_the_world_with_its_reason_is_an_answer(answer: str) -> None:
    assert classify(answer).label == "answered"


@pytest.mark.parametrize(
    "answer",
    [
        "The bridge was built in 1932; its cost is not mentioned in the documents.",
        "Yes, dogs are allowed. The context does not mention cats.",
        "Sie können mit Karte zahlen; zu Gutscheinen steht im Kontext nichts.",
        "Puede pagar con tarjeta en la caja. El contexto no dice nada de cheques.",
    ],
)
def test_a_clause_or_a_yes_beside_a_refusal_is_substance(answer: str) -> None:
    assert classify(answer).label == "partial"


def test_an_offer_or_an_address_behind_a_refusal_is_no_substance() -> None:
    for offer in ("Feel free to write to help@firm.example.", "Our desk picks up on 0800 123456."):
        assert classify(f"I could not find anything on that. {offer}").label == "refused", offer


def test_a_marker_behind_a_code_word_hides_no_refusal() -> None:
    assert classify("Not stated [1].").label == "refused"


DENIALS = """\
Whether pets are allowed, the leaflet does not say.
No relevant passages.
The search came back with zero results.
Ob Haustiere erlaubt sind, lässt der Text offen.
Über die Kosten wird im Text kein Wort verloren.
Il n'est fait mention nulle part de la date d'ouverture.
En ningún momento se menciona la fecha de apertura.
O texto é omisso quanto a este ponto.
Dal testo non si capisce chi fosse l'architetto.
Dit gegeven is mij niet verstrekt.
Tekst milczy na ten temat.
Из текста нельзя понять, кто был архитектором.
需要更多背景信息才能回答。
判断できかねます。
Metin bu konuda sessiz kalıyor.
검색 결과가 없습니다.
لا أثر لهذا البند في العقد.
ไม่มีคำตอบ
Sökningen gav inga träffar.
Otteista ei käy ilmi, kuka sopimuksen allekirjoitti.
Diríjase a atención al cliente, ya que no tengo acceso a esa información.
""".splitlines()
OF_THE_WORLD = """\
The document mentions no fee, because none is charged.
Im Dokument wird keine Gebühr genannt, weil keine anfällt.
El documento no menciona ninguna tasa porque no se cobra.
No tiene que aportar documentos si ya tiene una cuenta.
Non si sa con esattezza quando fu costruito il castello, ma è citato per la prima volta nel 1204.
The prices in the brochure do not include VAT.
Dokumenty bez podpisu nie są przyjmowane.
Инспектор не нашёл в подвале ничего необычного.
我们不会在服务器上保存您的支付信息。
文書に料金が書かれていないのは、料金がかからないためです。
Rezervasyonu olmayan konuklar içeri alınmaz.
""".splitlines()


@pytest.mark.parametrize("answer", DENIALS)
def test_what_is_denied_and_of_whom_refuses_in_any_order(answer: str) -> None:
    assert classify(answer).label == "refused"


@pytest.mark.parametrize("answer", OF_THE_WORLD)
def test_a_denial_of_the_world_refuses_nothing(answer: str) -> None:
    assert classify(answer).label == "answered"


def test_a_word_boundary_stands_beside_ascii_letters_alone() -> None:
    """RE2 knows no other: beside another letter it never matches."""
    folder = files("scorers").joinpath("text")
    for name in ("refusal_patterns.toml", "denials.toml"):
        text = folder.joinpath(name).read_text("utf-8")
        assert not re.search(r"\\b[^\x00-\x7f]|[^\x00-\x7f]\\b", text), name


UNPATTERNED = """\
In den mitgelieferten Protokollen steht nirgends, wer die Abnahme unterschrieben hat.
Auf die Frage der Barrierefreiheit wird in dem Prospekt nicht eingegangen.
Le contrat transmis reste muet sur les frais. Passez-moi l'annexe, j'y regarderai volontiers.
Ni rastro del número de póliza en los archivos adjuntos.
Boh, nei tuoi file di questa riunione non c'è proprio niente.
I documenti recuperati c'entrano poco con la domanda.
Kwestia zwrotu kosztów dojazdu nie została w regulaminie poruszona.
Har faktiskt ingen susning.
Честно говоря, даже не представляю.
Getirilen sonuçlar soruyla ilgisiz, vize ücretinden hiç söz edilmiyor.
議事録を一通り確認しましたが、担当者のお名前は見つけられませんでした。
附件中无任何关于退款期限的内容。
""".splitlines()
NEAR = """\
Nessuno dei due: il progetto fu firmato da Piero Portaluppi.
Błąd 40 oznacza, że program nie może znaleźć pliku konfiguracyjnego.
정확한 건립 연도는 알 수 없지만 학계에서는 7세기 초로 봅니다.
오류 21은 프린터를 찾을 수 없다는 뜻입니다.
进水造成的损坏不在保修范围之内。
凶手至今没有找到，案件于1998年停止侦查。
""".splitlines()


@pytest.mark.parametrize("answer", UNPATTERNED)
def test_a_refusal_is_known_by_the_kinds_of_its_words_where_no_pattern_has_its_wording(
    answer: str,
) -> None:
    assert classify(answer).label == "refused"


@pytest.mark.parametrize("answer", NEAR)
def test_the_model_overrules_a_pattern_that_a_statement_about_the_world_fits(answer: str) -> None:
    assert classify(answer).label == "answered"


def test_what_was_searched_is_no_statement_beside_a_refusal() -> None:
    answer = "Ho scorso tutte e sei le circolari, ma della mensa non ho trovato traccia."
    assert classify(answer).label == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        "The tour lasts ninety minutes; its price is not stated in the leaflet.",
        "Der Kurs beginnt am 7. Oktober, zum Preis steht im Prospekt nichts.",
        "Die Anmeldung kostet 45 Euro, das Datum wird im Rundschreiben nicht genannt.",
        "Le cours dure six semaines, le prix n'est pas indiqué dans la brochure.",
        "El curso dura seis semanas, el precio no figura en el folleto.",
    ],
)
def test_a_clause_that_refuses_beside_a_fact_is_partial_without_a_word_such_as_but(
    answer: str,
) -> None:
    assert classify(answer).label == "partial"


def test_a_question_behind_a_refusal_in_one_sentence_hides_it_not() -> None:
    for answer in (
        "I found nothing on that in the documents, shall I ask a colleague?",
        "没有找到相关信息，需要帮您转接人工客服吗？",
    ):
        assert classify(answer).label == "refused", answer


def test_a_quoted_refusal_at_the_start_is_not_the_answers_own() -> None:
    assert classify('"Impossible to answer" is what the screen shows.').label == "answered"
