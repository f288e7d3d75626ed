"""A title and a paragraph in the languages that the web's legacy encodings were made for."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from gossamer.web.encodings import codec_of


class Text(NamedTuple):
    language: str
    title: str
    paragraph: str


RUSSIAN = Text(
    "ru",
    "Прогулка по зимнему лесу – заметки лесника",
    "Утром в лесу было тихо, и снег лежал на ветках елей. Мы шли по узкой тропе вдоль "
    "замёрзшей реки, а собака бежала впереди. Лесник рассказал, что зимой звери выходят к "
    "самой деревне и что следы на снегу можно читать как книгу.",
)
UKRAINIAN = Text(
    "uk",
    "Прогулянка зимовим лісом – нотатки лісника",
    "Уранці в лісі було тихо, і сніг лежав на гілках ялин. Ми йшли вузькою стежкою вздовж "
    "замерзлої річки, а собака біг попереду. Лісник розповів, що взимку звірі виходять до "
    "самого села і що їхні сліди на снігу можна читати, як книжку.",
)
GREEK = Text(
    "el",
    "Περίπατος στο χειμωνιάτικο δάσος",
    "Το πρωί στο δάσος ήταν ήσυχα και το χιόνι έμενε πάνω στα κλαδιά. Περπατούσαμε στο στενό "
    "μονοπάτι δίπλα στο παγωμένο ποτάμι, και ο σκύλος έτρεχε μπροστά. Ο δασοφύλακας μας είπε "
    "ότι τον χειμώνα τα ζώα κατεβαίνουν ως το χωριό.",
)
HEBREW = Text(
    "he",
    "טיול ביער בחורף",
    "בבוקר היה שקט ביער, והשלג נח על הענפים. הלכנו בשביל הצר לאורך הנהר הקפוא, והכלב רץ "
    "לפנינו. היערן סיפר שבחורף החיות יורדות עד הכפר, ושאפשר לקרוא את העקבות בשלג כמו ספר.",
)
ARABIC = Text(
    "ar",
    "نزهة في الغابة في الشتاء",
    "في الصباح كان الهدوء يسود الغابة وكان الثلج على الأغصان. مشينا في الطريق الضيق على طول "
    "النهر المتجمد وكان الكلب يجري أمامنا. قال لنا حارس الغابة إن الحيوانات تنزل في الشتاء "
    "إلى القرية.",
)
THAI = Text(
    "th",
    "เดินเล่นในป่าฤดูหนาว",
    "ตอนเช้าในป่าเงียบมาก และมีหมอกอยู่บนยอดไม้ เราเดินไปตามทางแคบริมแม่น้ำ "
    "และสุนัขวิ่งนำหน้าไป คนดูแลป่าเล่าว่าในฤดูหนาวสัตว์จะลงมาถึงหมู่บ้าน "
    "และเราอ่านรอยเท้าได้เหมือนหนังสือ",
)
VIETNAMESE = Text(
    "vi",
    "Đi dạo trong rừng mùa đông",
    "Buổi sáng trong rừng rất yên tĩnh, và sương còn đọng trên cành cây. Chúng tôi đi theo "
    "con đường nhỏ dọc bờ sông, và con chó chạy phía trước. Người gác rừng kể rằng mùa đông "
    "thú rừng xuống tận làng.",
)
TURKISH = Text(
    "tr",
    "Kış ormanında yürüyüş: ağaçların altında",
    "Sabah ormanda her şey sessizdi ve kar dalların üstünde duruyordu. Donmuş ırmağın "
    "kıyısındaki dar yoldan yürüdük, köpek önümüzde koşuyordu. Ormancı, kışın hayvanların "
    "köye kadar indiğini ve karın üstündeki izlerin bir kitap gibi okunduğunu anlattı.",
)
POLISH = Text(
    "pl",
    "Zimowy spacer po lesie – zapiski leśnika",
    "Rano w lesie było cicho, a śnieg leżał na gałęziach świerków. Szliśmy wąską ścieżką "
    "wzdłuż zamarzniętej rzeki, a pies biegł przed nami. Leśniczy opowiadał, że zimą "
    "zwierzęta podchodzą pod samą wieś i że ślady na śniegu można czytać jak książkę.",
)
CZECH = Text(
    "cs",
    "Zimní procházka lesem: příběhy hajného",
    "Ráno bylo v lese ticho a sníh ležel na větvích smrků. Šli jsme úzkou pěšinou podél "
    "zamrzlé řeky a pes běžel před námi. Hajný vyprávěl, že v zimě zvířata přicházejí až k "
    "vesnici a že stopy ve sněhu lze číst jako knihu.",
)
ROMANIAN = Text(
    "ro",
    "Plimbare prin pădurea iarna",
    "Dimineața era liniște în pădure, iar zăpada stătea pe crengile brazilor. Mergeam pe "
    "poteca îngustă de lângă râul înghețat, și câinele alerga înainte. Pădurarul ne-a spus "
    "că iarna animalele coboară până în sat și că urmele din zăpadă se pot citi ca o carte.",
)
LITHUANIAN = Text(
    "lt",
    "Pasivaikščiojimas žiemos miške",
    "Rytą miške buvo tylu, o sniegas gulėjo ant eglių šakų. Ėjome siauru takeliu palei "
    "užšalusią upę, o šuo bėgo priekyje. Miškininkas pasakojo, kad žiemą žvėrys ateina iki "
    "pat kaimo ir kad pėdsakus sniege galima skaityti kaip knygą.",
)
ESTONIAN = Text(
    "et",
    "Jalutuskäik talvises metsas",
    "Hommikul oli metsas vaikne ja lumi lebas kuuseokstel. Läksime mööda kitsast rada "
    "jäätunud jõe ääres ja koer jooksis ees. Metsavaht rääkis, et talvel tulevad loomad "
    "külani ja et jälgi lumes võib lugeda nagu raamatut.",
)
ESPERANTO = Text(
    "eo",
    "Promeno tra la vintra arbaro ĉe la rivero",
    "Matene estis silente en la arbaro, kaj la neĝo kuŝis sur la branĉoj. Ni iris laŭ la "
    "mallarĝa vojo ĉe la frostiĝinta rivero, kaj la hundo kuris antaŭ ni. La arbaristo "
    "rakontis, ke vintre la bestoj venas ĝis la vilaĝo.",
)
ICELANDIC = Text(
    "is",
    "Gönguferð um skóginn að vetri",
    "Um morguninn var hljótt í skóginum og snjórinn lá á greinunum. Við gengum eftir þröngum "
    "stíg með frosinni ánni og hundurinn hljóp á undan okkur. Skógarvörðurinn sagði að dýrin "
    "kæmu á veturna alveg niður að þorpinu.",
)
WELSH = Text(
    "cy",
    "Tro drwy'r goedwig: dŵr a choed ŷd",
    "Yn y bore roedd y goedwig yn dawel, ac roedd yr eira ar y canghennau. Cerddon ni ar hyd "
    "y llwybr cul wrth y dŵr, a rhedodd y ci o'n blaenau. Dywedodd y coedwigwr fod yr "
    "anifeiliaid yn dod i'r tŷ yn y gaeaf, ac mae'r ŵyn yn y cae.",
)
FRENCH = Text(
    "fr",
    "Promenade d'hiver en forêt : récits d'un garde",
    "Le matin, la forêt était silencieuse et la neige reposait sur les branches. Nous avons "
    "suivi l'étroit sentier le long de la rivière gelée, et le chien courait devant nous. Le "
    "garde a raconté qu'en hiver les bêtes descendent jusqu'au village et que là-bas on les "
    "aperçoit même près des maisons.",
)
GERMAN = Text(
    "de",
    "Spaziergang durch den Winterwald – über Spuren im Schnee",
    "Am Morgen war es still im Wald, und der Schnee lag auf den Ästen der Tannen. Wir gingen "
    "den schmalen Weg am zugefrorenen Fluss entlang, und der Hund lief voraus. Der Förster "
    "erzählte, dass im Winter die Tiere bis ans Dorf kämen und dass man Spuren im Schnee "
    "lesen könne wie ein Buch.",
)
JAPANESE = Text(
    "ja",
    "冬の森を歩く：森番の話",
    "朝の森は静かで、雪が木の枝に積もっていました。凍った川に沿って細い道を歩くと、犬が先に走"
    "って行きました。森番の人は、冬になると動物が村まで下りて来ること、雪の上の足跡は本のよう"
    "に読めることを話してくれました。",
)
CHINESE = Text(
    "zh-CN",
    "冬天森林里的散步：护林员的故事",
    "早上森林里很安静，雪落在树枝上。我们沿着结冰的小河走在窄窄的路上，狗跑在前面。护林员告诉"
    "我们，冬天的时候动物会一直走到村子旁边，雪地上的脚印可以像书一样来读。",
)
TAIWANESE = Text(
    "zh-TW",
    "冬天森林裡的散步：護林員的故事",
    "早上森林裡很安靜，雪落在樹枝上。我們沿著結冰的小河走在窄窄的路上，狗跑在前面。護林員告訴"
    "我們，冬天的時候動物會一直走到村子旁邊，雪地上的腳印可以像書一樣來讀。",
)
KOREAN = Text(
    "ko",
    "겨울 숲을 걷다: 산지기의 이야기",
    "아침 숲은 조용했고 눈이 나뭇가지에 쌓여 있었습니다. 우리는 얼어붙은 강을 따라 좁은 길을 "
    "걸었고 개가 앞에서 뛰어갔습니다. 산지기는 겨울이 되면 동물들이 마을까지 내려온다고, 눈 "
    "위의 발자국은 책처럼 읽을 수 있다고 말했습니다.",
)

BY_ENCODING = {
    "utf-8": JAPANESE,
    "utf-16le": RUSSIAN,
    "utf-16be": JAPANESE,
    "ibm866": RUSSIAN,
    "iso-8859-2": POLISH,
    "iso-8859-3": ESPERANTO,
    "iso-8859-4": ESTONIAN,
    "iso-8859-5": RUSSIAN,
    "iso-8859-6": ARABIC,
    "iso-8859-7": GREEK,
    "iso-8859-8": HEBREW,
    "iso-8859-8-i": HEBREW,
    "iso-8859-10": ICELANDIC,
    "iso-8859-13": LITHUANIAN,
    "iso-8859-14": WELSH,
    "iso-8859-15": FRENCH,
    "iso-8859-16": ROMANIAN,
    "koi8-r": RUSSIAN,
    "koi8-u": UKRAINIAN,
    "macintosh": FRENCH,
    "windows-874": THAI,
    "windows-1250": CZECH,
    "windows-1251": RUSSIAN,
    "windows-1252": GERMAN,
    "windows-1253": GREEK,
    "windows-1254": TURKISH,
    "windows-1255": HEBREW,
    "windows-1256": ARABIC,
    "windows-1257": LITHUANIAN,
    "windows-1258": VIETNAMESE,
    "x-mac-cyrillic": RUSSIAN,
    "gbk": CHINESE,
    "gb18030": CHINESE,
    "big5": TAIWANESE,
    "euc-jp": JAPANESE,
    "iso-2022-jp": JAPANESE,
    "shift_jis": JAPANESE,
    "euc-kr": KOREAN,
}
"""Of all WHATWG encodings."""


def page(encoding: str, *, meta: str = "", lang: bool = False, times: int = 1) -> bytes:
    """A page in an encoding, with references for what it lacks, as their authors wrote them.

    It says nothing of its encoding but in `meta`, and of its language where `lang` is set.
    """
    language, title, paragraph = BY_ENCODING[encoding]
    declared = f"<meta charset={meta}>" if meta else ""
    html = (
        f"<!doctype html><html{f' lang={language}' if lang else ''}><head>{declared}<title>{title}"
        f"</title></head><body><h1>{title}</h1>{f'<p>{paragraph}</p>' * times}</body></html>"
    )
    if encoding == "windows-1258":  # it has some accents as characters of their own
        html = "".join(each if _has(each) else decomposed(each) for each in html)
    return html.encode(codec_of(encoding), "xmlcharrefreplace")


def _has(character: str) -> bool:
    return bool(character.encode("cp1258", "ignore"))


def decomposed(character: str) -> str:
    """In a letter and an accent."""
    return "".join(chr(int(code, 16)) for code in unicodedata.decomposition(character).split())
