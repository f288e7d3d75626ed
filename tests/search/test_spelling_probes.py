"""Which queries find a page, in 20 scripts and 56 languages, by the rules of the standards.

Unicode's NFKC (UAX #15), Default_Ignorable_Code_Point and General_Category, the word boundaries of
UAX #29, and the exemplar characters and digits of CLDR say what is the same; the rest is grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.search.searcher import Searcher
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

PAGES: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    # name: language, text of the page, queries that find it, queries that do not
    "half-width kana": ("ja", "ﾊﾞｯｸｱｯﾌﾟの取り方", ("バックアップ", "ﾊﾞｯｸｱｯﾌﾟ"), ("パック",)),
    "full-width letters": ("ja", "Ｇｏｓｓａｍｅｒの設定", ("gossamer", "Ｇｏｓｓａｍｅｒ"), ()),
    "voiced kana in parts": ("ja", "か\u3099くせい", ("がくせい",), ()),
    "katakana middle dot": ("ja", "レオナルド・ダ・ヴィンチ", ("レオナルド", "ヴィンチ"), ()),
    "one ideograph": ("ja", "紅茶を飲む", ("茶", "紅茶", "飲む"), ("緑茶",)),
    "compatibility ideograph": ("zh", "\uf900物", ("豈物",), ()),
    "radical": ("zh", "\u2f08口", ("人口",), ()),
    "Chinese": ("zh", "北京市的天气预报", ("天气", "北京", '"北京市"'), ("上海", '"京北"')),
    "Korean particles": ("ko", "서울에서 열린 회의", ("서울", "회의", "서울에서"), ("부산",)),
    "Korean nouns": ("ko", "데이터베이스를 관리한다", ("데이터베이스", "관리", "데이터"), ()),
    "Korean in jamo": ("ko", "\u1112\u1161\u11ab\u1100\u1173\u11af 문서", ("한글",), ()),
    "Thai sara am": ("th", "ดื่มน้ำทุกวัน", ("น้ำ", "น\u0e4d\u0e49า", "ทุกวัน"), ("ไฟ",)),
    "Thai digits": ("th", "พ.ศ. ๒๕๖๗", ("2567", "๒๕๖๗"), ("2568",)),
    "Thai sara ae": ("th", "เเละคณะ", ("และ", "คณะ"), ()),
    "Lao": ("lo", "ພາສາລາວ ນ\u0ec9\u0eb3", ("ພາສາ", "ນ\u0ecd\u0ec9າ"), ()),
    "Khmer": ("km", "ភាសា\u200bខ្មែរ", ("ភាសា", "ខ្មែរ", "ភាសាខ្មែរ"), ("ថៃ",)),
    "Burmese": ("my", "မြန်မာစာ သင်ခန်းစာ ၁၂", ("မြန်မာ", "သင်ခန်းစာ", "12"), ()),
    "Hindi anusvara": ("hi", "हिंदी में लिखा", ("हिन्दी", "हिंदी"), ("मराठी",)),
    "Hindi nukta": ("hi", "क़लम और ज़मीन", ("कलम", "क\u093cलम", "जमीन"), ()),
    "Hindi chandrabindu": ("hi", "चाँद निकला", ("चाँद", "चांद"), ()),
    "Hindi plural": ("hi", "किताबें पढ़ना", ("किताब", "किताबों"), ("कलम",)),
    "Hindi digits": ("hi", "सन १९४७", ("1947", "१९४७"), ()),
    "Hindi joiner": ("hi", "क्\u200dष", ("क्ष",), ()),
    "Marathi": ("mr", "पुस्तकांचा संग्रह", ("पुस्तक", "संग्रह"), ()),
    "Nepali": ("ne", "किताबहरूमा लेख", ("किताब", "किताबहरू"), ()),
    "Bengali": ("bn", "বইগুলোর তালিকা ২০২৪", ("বই", "তালিকা", "2024"), ()),
    "Gujarati": ("gu", "પુસ્તકોની યાદી ૧૨૩", ("પુસ્તક", "123"), ()),
    "Punjabi": ("pa", "ਕਿਤਾਬਾਂ ੧੨", ("ਕਿਤਾਬ", "12"), ()),
    "Tamil": ("ta", "நூல்கள் பற்றி", ("நூல்", "நூல்கள்"), ()),
    "Urdu": ("ur", "کتابوں کی فہرست ۱۲", ("کتاب", "كتاب", "12"), ()),
    "Persian plural": (
        "fa",
        "کتاب\u200cها را بخوان",
        ("کتاب", "کتابها", "كتاب", "کتاب‌ها"),
        ("قلم",),
    ),
    "Persian digits": ("fa", "سال ۱۴۰۳", ("1403", "١٤٠٣", "۱۴۰۳"), ()),
    "Persian yeh": ("fa", "زندگی", ("زندگي", "زندگى"), ()),
    "Arabic points": ("ar", "مُحَمَّدٌ رسول", ("محمد", "مُحَمَّد"), ("أحمد",)),
    "Arabic tatweel": ("ar", "مـــكتبة", ("مكتبة", "المكتبة"), ()),
    "Arabic alef": ("ar", "الإسلام", ("اسلام", "الاسلام", "إسلام"), ()),
    "Arabic presentation forms": ("ar", "\ufedb\ufe98\ufe8e\ufe8f", ("كتاب",), ()),
    "Arabic digits": ("ar", "عام ١٩٩٠", ("1990", "١٩٩٠"), ()),
    "Hebrew points": ("he", "בְּרֵאשִׁית בָּרָא", ("בראשית", "ברא", "בְּרֵאשִׁית"), ()),
    "Hebrew prefixes": ("he", "הספרים בבית", ("ספר", "ספרים", "בית"), ("עיר",)),
    "Hebrew acronym": ("he", 'צה"ל הודיע', ("צה\u05f4ל", "צהל"), ()),
    "Hebrew geresh": ("he", "ג\u05f3ירפה", ("ג'ירפה", "גירפה"), ()),
    "Hebrew maqaf": ("he", "בן\u05beגוריון", ("גוריון", "בן-גוריון"), ()),
    "Hebrew presentation forms": ("he", "\ufb2aלום", ("שלום",), ()),
    "Greek tonos": (
        "el",
        "η Οδύσσεια του Ομήρου",
        ("οδυσσεια", "ΟΔΥΣΣΕΙΑ", "Ὀδύσσεια"),
        ("Ιλιάδα",),
    ),
    "polytonic Greek": ("el", "ἄνδρα μοι ἔννεπε", ("ανδρα", "άνδρα", "εννεπε"), ()),
    "Greek sigma": ("el", "ο λόγος", ("ΛΟΓΟΣ", "λογος", "λόγοι"), ()),
    "Russian yo": ("ru", "зелёная ёлка", ("елка", "Ёлки", "зеленая"), ("дуб",)),
    "Russian stress": ("ru", "Москва\u0301 река", ("москва", "Москвы"), ()),
    "Ukrainian apostrophe": ("uk", "Обʼєкти порту", ("об'єкт", "об’єкт", "обʼєкт", "обєкт"), ()),
    "Ukrainian cases": ("uk", "книгами та містами", ("книга", "місто"), ("річка",)),
    "Belarusian": ("be", "кнігамі і гарадамі", ("кніга",), ()),
    "Bulgarian article": ("bg", "книгата на масата", ("книга", "маса", "книги"), ()),
    "Bulgarian grave": ("bg", "кажи \u045d", ("и", "кажи"), ()),
    "Macedonian": ("mk", "книгата е нова", ("книга", "книги"), ()),
    "Serbian in Cyrillic": ("sr", "Књиге о Београду", ("knjiga", "књига", "Beograd"), ("reka",)),
    "Serbian in Latin": ("sr", "Knjige o Novom Sadu", ("књига", "knjigama", "нови"), ()),
    "Croatian": ("hr", "knjigama i gradovima", ("knjiga", "knjige"), ("rijeka",)),
    "Czech": ("cs", "knihách a městech", ("kniha", "město", "knihach"), ("řeka",)),
    "Slovak": ("sk", "knihách a mestách", ("kniha", "mesto"), ()),
    "Polish": ("pl", "książkami i miastami", ("książka", "ksiazka", "miasto"), ("rzeka",)),
    "Slovenian": ("sl", "knjigami in mesta", ("knjiga", "mesto"), ()),
    "Lithuanian": ("lt", "knygomis ir miestais", ("knyga", "miestas"), ()),
    "Latvian": ("lv", "grāmatām un pilsētām", ("grāmata", "gramata", "pilsēta"), ()),
    "Estonian": ("et", "raamatutes ja linnades", ("linn", "linnad"), ()),
    "Finnish": ("fi", "taloissa", ("talo",), ("auto",)),
    "Hungarian": ("hu", "házakért", ("ház", "házak"), ()),
    "Turkish": (
        "tr",
        "gözler ve günler, çocukları",
        ("göz", "gün", "çocuk", "çocuklar"),
        ("kedi",),
    ),
    "Turkish without marks": ("tr", "çocuklar", ("cocuk", "cocuklar", "ÇOCUK"), ()),
    "Turkish I": ("tr", "ISPARTA ve İzmir", ("isparta", "ısparta", "izmir", "İZMİR"), ()),
    "German umlauts": (
        "de",
        "Häuser in der Straße",
        ("haus", "Häusern", "hauser", "STRASSE"),
        ("Baum",),
    ),
    "soft hyphens": (
        "de",
        "Ge\u00adsamt\u00adkonzept",
        ("Gesamtkonzept", "Ge\u00adsamtkonzept"),
        (),
    ),
    "French participle": (
        "fr",
        "elles sont arrivées",
        ("arriver", "arrivé", "arrivee"),
        ("partir",),
    ),
    "French ligature": ("fr", "le cœur et l’œuvre", ("coeur", "cœur", "oeuvre"), ()),
    "Spanish": ("es", "las canciones", ("canción", "cancion"), ("baile",)),
    "Portuguese": ("pt", "informações úteis", ("informação", "informacoes", "uteis"), ()),
    "Italian": ("it", "le città", ("citta", "CITTÀ"), ()),
    "Catalan": ("ca", "col·legis i cançons", ("col·legi", "collegi", "cançó"), ()),
    "Galician": ("gl", "cancións galegas", ("canción", "galego"), ()),
    "Basque": ("eu", "etxean eta mendietan", ("etxe", "mendi"), ()),
    "Romanian": ("ro", "ştiinţă și artă", ("știință", "stiinta", "arta"), ()),
    "Dutch": ("nl", "boeken", ("boek",), ()),
    "Swedish": ("sv", "flickorna på ön", ("flicka", "flickor"), ()),
    "Danish": ("da", "husene på øen", ("hus", "huset"), ()),
    "Norwegian": ("no", "bøkene på øya", ("bøker", "øya"), ()),
    "Irish": ("ga", "an bhean agus an fear", ("bean", "fear"), ()),
    "Albanian": ("sq", "librave dhe qyteteve", ("librat",), ()),
    "Armenian": ("hy", "գրքերը եւ քաղաքներ", ("քաղաք", "քաղաքներում"), ()),
    "Indonesian": ("id", "menulis makanan", ("tulis", "penulis", "ditulis", "makan"), ("air",)),
    "Vietnamese": ("vi", "Tiếng Việt", ("tieng viet", "TIẾNG VIỆT", "tie\u0302\u0301ng"), ()),
    "Georgian": ("ka", "საქართველო", ("საქართველო", "ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ"), ()),
    "squares": ("en", "a weight of 5 ㎏", ("kg", "㎏"), ()),
    "micro": ("en", "10 µm of Ω", ("μm", "µm", "\u2126"), ()),
    "ligatures": ("en", "ﬁnd the oﬃce", ("find", "office"), ()),
    "Roman numerals": ("en", "Chapter Ⅷ", ("VIII", "ⅷ"), ()),
    "invisible": (
        "en",
        "data\u200bbase \u202eabc\u202c wo\u2060rd",
        ("database", "abc", "word"),
        (),
    ),
    "trade mark": ("en", "Java™ tools", ("Java", "java™"), ("JavaTM",)),
    "fraction": ("en", "5½ miles", ("5", "miles"), ("51",)),
    "accents": ("en", "a naïve café", ("naive", "cafe\u0301", "NAÏVE"), ()),
    "thousands": (
        "en",
        "1,250,000 boats",
        ("1250000", "1.250.000", "1'250'000", "1,250,000"),
        ("250001",),
    ),
    "thousands with spaces": ("fr", "1 250 000 bateaux", ("1250000", "1,250,000"), ()),
    "ISBN": (
        "en",
        "ISBN 978-3-16-148410-0",
        ("9783161484100", "978-3-16-148410-0"),
        ("9783161484101",),
    ),
    "plain ISBN": ("en", "no 9780306406157", ("978-0-306-40615-7",), ()),
    "e-mail": ("en", "send an e-mail", ("email", "e-mail", "e\u2011mail"), ()),
    "email": ("en", "send emails", ("e-mail", "email"), ()),
    "Wi-Fi": ("de", "freies Wi-Fi", ("wifi", "Wi-Fi"), ()),
    "emoji": ("en", "a crab 🦀 here", ("🦀", "crab 🦀"), ("🦞",)),
    "emoji with a skin tone": ("en", "well done 👍🏽", ("👍", "👍🏿"), ()),
    "emoji with a selector": ("en", "I ❤\ufe0f tea", ("❤", "❤\ufe0f"), ()),
    "joined emoji": ("en", "a coder 👩\u200d💻", ("👩\u200d💻", "💻"), ()),
    "flags": ("en", "teams 🇩🇪 and 🇫🇷", ("🇩🇪", "🇫🇷"), ("🇮🇹",)),
    "emoji in Japanese": ("ja", "寿司🍣が好き", ("🍣", "寿司"), ()),
}
FOUND = [(page, query, True) for page, (_, _, found, _) in PAGES.items() for query in found]
NOT_FOUND = [(page, query, False) for page, (*_, queries) in PAGES.items() for query in queries]
PROBES = [*FOUND, *NOT_FOUND]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return _searcher(tmp_path_factory.mktemp("crawl"))


def _searcher(folder: Path) -> Searcher:
    work = crawl(folder)
    rows = [
        {"url": f"http://{number}.example/", "text": text, "language": language}
        for number, (language, text, *_) in enumerate(PAGES.values())
    ]
    put_index(work, rows, shards=1)
    return Searcher.open(work)


def test_there_are_many_probes() -> None:
    assert len(PROBES) >= 200
    assert len({language for language, *_ in PAGES.values()}) >= 25


@pytest.mark.parametrize(("page", "query", "found"), PROBES)
def test_a_query_finds_a_page(searcher: Searcher, page: str, query: str, found: bool) -> None:
    url = f"http://{[*PAGES].index(page)}.example/"
    results = searcher.search(query, verbatim=True)
    assert (url in [hit.url for hit in results.hits[: results.whole]]) is found
