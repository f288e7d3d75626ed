"""Word lists, written for this project: data only.

`function` words come first and are the most frequent; `stems` follow. Every stem with every one of
the `suffixes` makes the long tail: an index gets thousands of rare words that still look like the
language.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    function: tuple[str, ...]
    stems: tuple[str, ...]
    suffixes: tuple[str, ...]
    space: str = " "  # between words
    comma: str = ", "
    stop: str = ". "
    charsets: tuple[str, ...] = ("iso-8859-1", "utf-16")  # used by older sites in this language


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


VOCABULARIES: dict[str, Vocabulary] = {
    "en": Vocabulary(
        function=_words(
            "the of and to a in that it is was for on with as be by at this have from or but not "
            "they which you his her one all we there their been has when who will more if no out "
            "so what up into than them can only other some about could these two may then do any "
            "now such like over before after where most should because through while"
        ),
        stems=_words(
            "harbour lantern river garden window market bridge winter summer letter paper stone "
            "copper silver orchard village castle forest meadow mountain valley island sailor "
            "farmer baker painter teacher doctor weaver miller hunter traveller engine wheel clock "
            "mirror candle blanket basket bottle hammer needle ribbon feather anchor compass map "
            "road ferry station signal tower roof chimney kitchen table supper bread butter apple "
            "cherry walnut pepper honey salt thunder frost rain cloud morning evening shadow "
            "colour music violin drum song story chapter answer question number measure balance "
            "weight power current magnet crystal planet comet star horizon ocean coast tide "
            "pebble thread quiet gentle bright narrow hollow steady ancient modern distant"
        ),
        suffixes=_words(
            "s ing ed er ly ness less ful ship ward wise man side land field stead yard hood like "
            "craft keeper house"
        ),
    ),
    "de": Vocabulary(
        function=_words(
            "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch "
            "es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über "
            "einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei wenn "
            "ihre unter wir kann schon doch gegen vom beim immer"
        ),
        stems=_words(
            "Hafen Laterne Fluss Garten Fenster Markt Brücke Winter Sommer Brief Papier Stein "
            "Kupfer Silber Dorf Schloss Wald Wiese Gebirge Tal Insel Bauer Bäcker Maler Lehrer "
            "Weber Müller Jäger Wanderer Motor Rad Uhr Spiegel Kerze Decke Korb Flasche Nadel "
            "Feder Anker Kompass Karte Straße Fähre Bahnhof Turm Dach Küche Tisch Brot Butter "
            "Apfel Kirsche Nuss Pfeffer Honig Salz Donner Frost Regen Wolke Morgen Abend Schatten "
            "Farbe Musik Geige Trommel Lied Geschichte Kapitel Antwort Frage Zahl Maß Gewicht "
            "Kraft Strom Magnet Kristall Planet Stern Ozean Küste Faden Rätsel Wunder Zeitung "
            "Werkstatt Schiff"
        ),
        suffixes=_words(
            "ung heit keit schaft lich haus platz weg meister bau feld land zeit kunst werk raum "
            "buch licht stück tum chen"
        ),
    ),
    "fr": Vocabulary(
        function=_words(
            "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce "
            "il sont avec son aux sa ou mais comme on nous été ses cette elle deux entre être leur "
            "tout fait même ces sans vous après bien peut où très encore aussi avant depuis sous "
            "lors chez dont toujours jamais"
        ),
        stems=_words(
            "port lanterne rivière jardin fenêtre marché pont hiver été lettre papier pierre "
            "cuivre argent verger village château forêt prairie montagne vallée île marin paysan "
            "boulanger peintre maître médecin tisserand meunier chasseur voyageur moteur roue "
            "horloge miroir bougie panier bouteille marteau aiguille ruban plume ancre boussole "
            "carte chemin bac gare tour toit cheminée cuisine table souper pain beurre pomme "
            "cerise noix poivre miel sel tonnerre gelée pluie nuage matin soir ombre couleur "
            "musique violon tambour chanson histoire chapitre réponse question nombre mesure "
            "balance poids force courant cristal planète étoile océan côte marée galet fil"
        ),
        suffixes=_words(
            "s ment age eur euse ier ière ette eux ance tion iste isme able ade oir ure al elle "
            "aire erie"
        ),
    ),
    "es": Vocabulary(
        function=_words(
            "de la que el en y a los se del las un por con no una su para es al lo como más o pero "
            "sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue "
            "había era muy años hasta desde está mi porque qué sólo han yo hay vez puede todos así "
            "nos ni parte tiene él uno donde bien tiempo"
        ),
        stems=_words(
            "puerto linterna camino jardín ventana mercado puente invierno verano carta papel "
            "piedra cobre plata huerto pueblo castillo bosque pradera montaña valle isla marinero "
            "granja panadero pintor maestro médico molino cazador viajero motor rueda reloj espejo "
            "vela manta cesta botella martillo aguja cinta pluma ancla brújula mapa estación señal "
            "torre techo cocina mesa cena pan manzana cereza nuez pimienta miel sal trueno lluvia "
            "nube mañana tarde sombra color música violín tambor canción historia capítulo "
            "respuesta pregunta número medida peso fuerza corriente cristal planeta estrella "
            "océano costa marea hilo sueño otoño"
        ),
        suffixes=_words(
            "s ción mente dor dora idad ero era ista ismo able oso osa ito ita azo aje ura al ncia "
            "ería"
        ),
    ),
    "ru": Vocabulary(
        function=_words(
            "и в не на я что он с как это по но они мы она из у за от то о так же для был его все "
            "к бы до вы или если только ещё уже при быть когда них даже под где есть надо со нет "
            "ни чтобы над без через потом после очень между"
        ),
        stems=_words(
            "гавань фонарь река сад окно рынок мост зима лето письмо бумага камень медь серебро "
            "деревня замок лес луг гора долина остров моряк пекарь художник учитель врач ткач "
            "мельник охотник странник мотор колесо часы зеркало свеча корзина бутылка молоток "
            "игла лента перо якорь компас карта дорога паром вокзал сигнал башня крыша кухня стол "
            "ужин хлеб масло яблоко вишня орех перец мёд соль гром мороз дождь облако утро вечер "
            "тень цвет музыка скрипка барабан песня рассказ глава ответ вопрос число мера вес сила "
            "магнит кристалл планета звезда океан берег прилив нить"
        ),
        suffixes=_words(
            "ный ность ский ение ник ница ство овой ами ов ка чик тель ина ость ище ок ать ик ия"
        ),
        charsets=("windows-1251", "koi8-r"),
    ),
    "zh": Vocabulary(
        function=_words(
            "的 是 在 了 和 有 我 他 这 不 也 就 人 都 一个 我们 你 她 他们 上 说 到 要 去 会 着 "
            "没有 看 好 自己 这个 那 为 以 可以 因为 所以 但是 如果 已经 还 从 对 与 中 后 时 用"
        ),
        stems=_words(
            "港口 灯笼 河流 花园 窗户 市场 桥 冬天 夏天 书信 纸 石头 铜 银 果园 村庄 城堡 森林 "
            "草地 山 山谷 岛 水手 农民 面包 画家 老师 医生 织工 猎人 旅客 发动机 车轮 钟表 镜子 "
            "蜡烛 篮子 瓶子 锤子 针 羽毛 锚 指南针 地图 道路 渡船 车站 信号 塔 屋顶 厨房 桌子 "
            "苹果 樱桃 核桃 胡椒 蜂蜜 盐 雷 霜 雨 云 早晨 傍晚 影子 颜色 音乐 小提琴 鼓 歌 故事 "
            "回答 问题 数字 重量 力量 水晶 行星 星星 海洋 海岸 潮水"
        ),
        suffixes=_words("家 学 性 者 法 城 店 场 会 馆 路 色 声 们 化 力 品 室 图 史"),
        space="",
        comma="，",
        stop="。",
        charsets=("gb18030", "utf-16"),
    ),
    "ja": Vocabulary(
        function=_words(
            "の に は を た が で て と し れ さ ある いる も する から な こと として い や など "
            "なった ため その あと この まで また それ ここ です ます でした よく とても"
        ),
        stems=_words(
            "港 ランプ 川 庭 窓 市場 橋 冬 夏 手紙 紙 石 銅 銀 果樹園 村 城 森 草原 山 谷 島 "
            "船乗り 農夫 パン 画家 先生 医者 粉屋 猟師 旅人 エンジン 車輪 時計 鏡 毛布 かご びん "
            "針 ろうそく リボン 羽根 いかり 地図 道 駅 信号 塔 屋根 台所 夕食 バター りんご 胡椒 "
            "蜂蜜 塩 雷 霜 雨 雲 朝 夕方 影 色 音楽 太鼓 歌 物語 答え 問題 数字 重さ 力 水晶 惑星 "
            "星 海 海岸 糸 さくらんぼ"
        ),
        suffixes=_words("屋 家 的 者 学 所 店 会 館 道 色 声 たち 化 力 品 室 図 史 祭"),
        space="",
        comma="、",
        stop="。",
        charsets=("shift_jis", "euc-jp"),
    ),
}
