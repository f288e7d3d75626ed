from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.parse.reading import language as module
from gossamer.parse.reading.language import (
    MAX_TAG_CHARS,
    SAMPLE_CHARS,
    hint_of,
    language_of,
    tag_of,
)

SENTENCES = {
    "ar": "في الصباح الباكر ذهبت النساء إلى السوق لشراء الخبز والزيتون والتمر الطازج.",
    "bg": "Рано сутринта жените отидоха на пазара, за да купят хляб и пресни ябълки.",
    "ca": "Al matí les dones van anar al mercat per comprar pa i pomes que feien molt bona olor.",
    "cs": "Brzy ráno šly ženy na trh, aby koupily chléb a čerstvá jablka ze zahrady.",
    "da": "Tidligt om morgenen gik kvinderne hen på torvet for at købe brød og nogle friske æbler.",
    "de": "Am frühen Morgen gingen die Frauen auf den Markt, um Brot und frische Äpfel zu kaufen.",
    "el": "Νωρίς το πρωί οι γυναίκες πήγαν στην αγορά για να αγοράσουν ψωμί και φρέσκα μήλα.",
    "en": "Early in the morning the women went to the market to buy bread and fresh apples.",
    "es": "Por la mañana las mujeres fueron al mercado para comprar pan y manzanas muy buenas.",
    "et": "Varahommikul läksid naised turule, et osta leiba ja värskeid õunu oma perele.",
    "fa": "صبح زود زنان به بازار رفتند تا نان و سیب تازه برای خانواده بخرند.",
    "fi": "Varhain aamulla naiset menivät torille ostamaan leipää ja tuoreita omenoita.",
    "fr": "Tôt le matin, les femmes sont allées au marché pour acheter du pain et des pommes.",
    "he": "מוקדם בבוקר הלכו הנשים לשוק כדי לקנות לחם ותפוחים טריים.",
    "hi": "सुबह जल्दी महिलाएं रोटी और ताजे सेब खरीदने के लिए बाजार गई थीं।",
    "hr": "Rano ujutro žene su otišle na tržnicu kako bi kupile kruh i svježe jabuke.",
    "hu": "Kora reggel az asszonyok a piacra mentek, hogy kenyeret és friss almát vegyenek.",
    "id": "Pagi-pagi sekali para wanita pergi ke pasar karena mereka ingin membeli roti dan apel.",
    "it": "La mattina presto le donne sono andate al mercato per comprare il pane e delle mele.",
    "ja": "朝早く女たちは市場へ行って、パンと新鮮なりんごを買いました。",
    "ko": "이른 아침에 여자들은 빵과 신선한 사과를 사러 시장에 갔습니다.",
    "lt": "Anksti ryte moterys nuėjo į turgų nusipirkti duonos ir šviežių obuolių.",
    "lv": "Agri no rīta sievietes devās uz tirgu, lai nopirktu maizi un svaigus ābolus.",
    "nl": "Vroeg in de ochtend gingen de vrouwen naar de markt om brood en verse appels te kopen.",
    "no": "Tidlig om morgenen dro kvinnene til torget etter brød, og de kom hjem med noen epler.",
    "pl": "Wczesnym rankiem kobiety poszły na targ, żeby kupić chleb i świeże jabłka.",
    "pt": "De manhã cedo as mulheres foram ao mercado para comprar pão e algumas maçãs.",
    "ro": "Dimineața devreme femeile au mers la piață ca să cumpere pâine și mere proaspete.",
    "ru": "Рано утром женщины пошли на рынок, чтобы купить хлеба и свежих яблок.",
    "sk": "Skoro ráno išli ženy na trh, aby kúpili chlieb a čerstvé jablká zo záhrady.",
    "sl": "Zgodaj zjutraj so ženske odšle na tržnico, da bi kupile kruh in sveža jabolka.",
    "sr": "Рано ујутру жене су отишле на пијацу да купе хлеб и свеже јабуке.",
    "sv": "Tidigt på morgonen gick kvinnorna till torget för att köpa bröd och färska äpplen.",
    "th": "เช้าตรู่ผู้หญิงไปตลาดเพื่อซื้อขนมปังและแอปเปิ้ลสด",
    "tr": "Sabah erkenden kadınlar ekmek ve taze elma almak için pazara gittiler.",
    "uk": "Рано-вранці жінки пішли на ринок, щоб купити хліба та свіжих яблук.",
    "vi": "Sáng sớm những người phụ nữ đã đi chợ để mua bánh mì và táo tươi.",
    "zh": "清晨，妇女们到市场上去买面包和新鲜的苹果。",
}
RELATIVES = {
    "af": "Vroeg in die oggend het die vroue na die mark gegaan om brood te koop, maar hulle het "
    "nie appels gekry nie omdat hierdie winkel nog toe was.",
    "as": "ৰাতিপুৱাতে মহিলাসকলে পিঠা আৰু আপেল কিনিবলৈ বজাৰলৈ গৈছিল।",
    "gl": "Pola mañá as mulleres foron ao mercado para mercar pan e unhas mazás, cando aínda non "
    "había xente na praza.",
    "kk": "Таңертең ерте әйелдер нан және жаңа алма сатып алу үшін базарға барды, өйткені олар "
    "қонақтарды күтіп отырған.",
    "km": "ព្រឹកព្រលឹមស្ត្រីទៅផ្សារទិញនំប៉័ង",
    "mk": "Рано наутро жените отидоа на пазар за да купат леб и свежи јаболка, но сѐ уште немаше "
    "никој во градот.",
    "ms": "Pagi-pagi lagi kaum wanita pergi ke pasar kerana mahu membeli roti, tetapi tiada epal "
    "yang elok di situ.",
    "my": "မနက်စောစော အမျိုးသမီးများ ဈေးသို့ သွားကြသည်",
    "si": "උදේ පාන්දර කාන්තාවන් පාන් මිලදී ගැනීමට වෙළඳපොළට ගියහ",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_enough(language: str) -> None:
    assert language_of(SENTENCES[language]) == language


@pytest.mark.parametrize("language", RELATIVES)
def test_languages_unknown_to_the_detector_are_told_from_their_relatives(language: str) -> None:
    assert language_of(RELATIVES[language]) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("gl", "Indica se a xanela está aberta ou non"),
        ("gl", "As mensaxes que non se abriron gárdanse no cartafol"),
        ("gl", "Os programas gardan e mostran as contas con rapidez"),
        ("mk", "Овозможува корисникот да ги скрие сите слики со еден клик"),
        ("mk", "Местото од кое се вчитува списокот на песни е променето"),
    ],
)
def test_small_words_and_endings_tell_short_texts_from_their_relatives(
    language: str, text: str
) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("pt", "Pode abrir o mapa e pode ligar o computador ao carro"),
        ("pt", "arquivos de dados necessários ao Adonthell"),
        ("es", "El programa no compara los archivos o los enlaces"),
        ("sr", "Нема података са овог места од јуче, што је чудно"),
        ("id", "Pemerintah telah membuka laman baru untuk semua warga yang ingin tahu"),
    ],
)
def test_a_word_that_relatives_share_is_no_trait(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    ["清早，婦女們到市場上去買麵包和新鮮的蘋果。", "香港特別行政區政府今日公布新措施"],
)
def test_traditional_chinese_is_chinese(text: str) -> None:
    assert language_of(text) == "zh"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "OK",
        "Home",
        "a b c",
        "Top 10",
        "Пуск",
        "東京",
        "12345 67 89 – 2026-11-21 10:30",
        "🎉🎊🥳" * 50,
        'for (int i = 0; i < n; i++) { printf("%d\\n", a[i]); }',
        "<div class=foo id=bar></div>",
        "qwrt zxcv hjkl pqzx vbnm",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit",
        "Gàidhlig",
    ],
)
def test_what_is_short_or_no_language_has_none(text: str) -> None:
    assert language_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Frue en la mateno la virinoj iris al la bazaro por aĉeti panon kaj freŝajn pomojn.",
        "Go moch ar maidin chuaigh na mná go dtí an margadh chun arán agus úlla a cheannach.",
        "Yn gynnar yn y bore aeth y merched i'r farchnad i brynu bara ac afalau ffres.",
    ],
)
def test_a_language_that_is_not_known_has_none(text: str) -> None:
    assert language_of(text) is None


@pytest.mark.parametrize(
    ("german", "declared", "expected"),
    [
        (50, None, "de"),
        (50, "en", "de"),  # declared by a template
        (15, None, "de"),  # what is not translated is English
        (15, "de", "de"),
        (15, "fr", "de"),
        (15, "en", "en"),  # an English page that quotes
        (5, "de", "en"),
    ],
)
def test_a_document_that_is_partly_translated_is_not_english(
    german: int, declared: str | None, expected: str
) -> None:
    text = (SENTENCES["de"] + " ") * german + (SENTENCES["en"] + " ") * (60 - german)
    assert language_of(text, declared) == expected


def test_most_of_a_document_in_two_other_languages_decides() -> None:
    german, french = SENTENCES["de"] + " ", SENTENCES["fr"] + " "
    assert language_of(german * 20 + french * 40) == "fr"
    assert language_of(german * 20 + french * 40, "de") == "de"


def test_a_foreign_head_does_not_decide() -> None:
    menu = "Home About us Contact Log in Search the site Subscribe to our newsletter " * 10
    assert language_of(menu + SENTENCES["ru"] * 60) == "ru"


def test_code_and_numbers_do_not_outvote_text() -> None:
    table = "0.25 1.75 3,141 | " * 200
    assert language_of(table + SENTENCES["pl"] * 3 + table) == "pl"


@given(
    parts=st.lists(st.sampled_from(["en", "de", "ru", "zh"]), max_size=8),
    hint=st.sampled_from([None, "en", "de", "ru", "zh", "sw"]),
)
@example(["en"] * 3 + ["de"] * 5, "en")
@example(["de"] + ["en"] * 7, "de")
def test_samples_that_are_not_read_would_change_nothing(parts: list[str], hint: str | None) -> None:
    text = "".join(
        (SENTENCES[part] + " ") * (SAMPLE_CHARS // len(SENTENCES[part])) for part in parts
    )
    found = language_of(text, hint)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_is_settled", lambda *_: False)
        assert language_of(text, hint) == found


@pytest.mark.parametrize(("language", "most"), [("en", 5), ("de", 2)])
def test_few_samples_of_a_long_text_in_the_declared_language_are_read(
    language: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    detector = module._read

    def counted(sample: str, letters: int, hint: str | None) -> str | None:
        read.append(sample)
        return detector(sample, letters, hint)

    monkeypatch.setattr(module, "_read", counted)
    assert language_of((SENTENCES[language] + " ") * 200, language) == language
    assert len(read) <= most


@given(st.text(st.characters(max_codepoint=127), min_size=1, max_size=199))
def test_letters_of_ascii_are_those_of_all_characters(sample: str) -> None:
    assert module._letters(sample) == sum(map(str.isalpha, sample))


@pytest.mark.parametrize("language", SENTENCES)
def test_no_page_outvotes_its_text(language: str) -> None:
    for hint in ("en", "de", "ja", "eo", "sw"):
        assert language_of(SENTENCES[language], hint) == language


def test_a_page_breaks_a_tie() -> None:
    text = "Tilkoblingen din er ikke sikker"  # not far from Danish
    assert language_of(text) is None
    assert language_of(text, "da") == "da"
    assert language_of(text, "en") is None


def test_a_page_tells_what_letters_cannot() -> None:
    text = SENTENCES["hr"]
    assert [language_of(text, hint) for hint in ("bs", "sr", "hr", "sl")] == [
        "bs",
        "sr",
        "hr",
        "hr",
    ]


def test_a_title_in_kanji_alone_is_what_its_page_says() -> None:
    title = "東京都立中央図書館利用案内資料"
    assert language_of(title) != "ja"
    assert language_of(title, "ja") == "ja"
    assert language_of(SENTENCES["zh"], "ja") == "zh"


def test_a_page_names_a_language_that_is_not_known() -> None:
    text = "Yn gynnar yn y bore aeth y merched i'r farchnad i brynu bara ac afalau ffres."
    assert language_of(text, "cy") == "cy"
    assert language_of("Bore da", "cy") is None


def test_hints_alone_give_nothing() -> None:
    for text in ("", "OK", "2026", "🎉"):
        assert language_of(text, "de") is None


@pytest.mark.parametrize(
    ("value", "language"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("pt_BR", "pt"),
        ("zh-Hans-CN", "zh"),
        (" EN ", "en"),
        ("'fr'", "fr"),
        ("en, en-US", "en"),
        ("nb-NO", "no"),
        ("nn", "no"),
        ("iw", "he"),
        ("in", "id"),
        ("jp", "ja"),
        ("cz", "cs"),
        ("zh-cmn-Hans", "zh"),
        ("de, en", None),
        ("x-default", None),
        ("english", None),
        ("und", None),
        ("mul", None),
        ("", None),
        (",", None),
        ("-", None),
        ("{{ lang }}", None),
        ("#0066cc", None),
        ("d" * 100_000, None),
        ("ＤＥ", None),
    ],
)
def test_hints_are_read_as_they_are_written(value: str, language: str | None) -> None:
    assert hint_of(value) == language


@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, "\ud800" * 1_000_000, "\0" * 1_000_000, "'" * 1_000_000, "1 " * 500_000],
)
def test_a_million_of_one_character_says_nothing_quickly(text: str) -> None:
    started = time.thread_time()
    assert language_of(text) is None
    assert time.thread_time() - started < 0.05


def test_nul_and_surrogates_hide_nothing() -> None:
    assert language_of("\0\ud800" + SENTENCES["de"].replace(" ", "\0 ")) == "de"


def test_a_character_cut_by_a_sample_is_no_matter() -> None:
    for shift in range(4):
        assert language_of("x" * shift + SENTENCES["ja"] * 200) == "ja"
    assert language_of(SENTENCES["th"] * (SAMPLE_CHARS // 10)) == "th"


@given(st.text(), st.none() | st.text())
@example("\ud800", "\ud800")
@example("a" * (SAMPLE_CHARS + 1), None)
def test_never_raises(text: str, hint: str | None) -> None:
    language = language_of(text * 50, hint)
    assert language is None or language == hint or language == hint_of(language)


@given(st.text())
def test_a_hint_is_a_language_or_none(value: str) -> None:
    hint = hint_of(value)
    assert hint is None or (len(hint) == 2 and hint_of(hint) == hint)


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("de-DE", "de-DE"),
        (" pt_BR ", "pt-BR"),
        ("zh-Hant-TW, en", "zh-Hant-TW"),
        ("", None),
        ("x" * 99, None),
        ("a" * 8 + "-bcdefgh" * 4, None),
        ("not a language", None),
        ("dé", None),
        ("de-", None),
    ],
)
def test_tags(value: str, tag: str | None) -> None:
    assert tag_of(value) == tag


@given(st.text())
def test_tags_are_short(value: str) -> None:
    assert len(tag_of(value) or "") <= MAX_TAG_CHARS
