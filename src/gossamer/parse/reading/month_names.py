"""The names of months in the languages of the Web, as CLDR has them.

Facts (CLDR 47, by Babel; `tests/parse/test_written_dates.py` compares): of 945 names and
abbreviations in 50 languages, five mean different months in two languages: Croatian's and Czech's
or Polish's. Hence one table is enough, and a page's language decides about those five.
"""

from __future__ import annotations

from typing import Final

_NAMES: Final = """
ean eanáir ene enero gen gener gennaio ian ianuarie ion ionawr jaan jaanuar jan janar janeiro
jannar januar januari januarie january január januára janv janvier janvāris janúar jän jänner led
leden ledna oca ocak saus sausio sausis sij siječanj siječnja sty styczeń stycznia tammi tammikuu
tammikuuta urt urtarrila xan xaneiro ιαν ιανουάριος ιανουαρίου сту студзень студзеня січ січень
січня янв январь января яну януари јан јануар јануари қаң қаңтар հնվ հունվար հունվարի ינואר ינו׳
جانفي يناير ژانویه ژانویهٔ जनवरी जन॰ জানু জানুয়ারী ஜன ஜனவரி ม.ค มกราคม იან იანვარი
/
chw chwef chwefror feabh feabhra feb febbraio febr febreiro febrer febrero februar februari
februarie february február februára februāris febrúar fev fevereiro fra frar févr février helmi
helmikuu helmikuuta lut lutego luty ots otsaila peb pebrero shk shkurt vas vasario vasaris veebr
veebruar velj veljača veljače úno únor února şub şubat φεβ φεβρουάριος φεβρουαρίου ақп ақпан лют
лютага лютий лютого люты феб фебруар фев февр февраль февраля февруари փետրվար փետրվարի փտվ פברואר
פבר׳ شباط فبراير فوریه فوریهٔ فيفري फ़रवरी फ़र॰ ফেব ফেব্রুয়ারী பிப் பிப்ரவரி ก.พ กุมภาพันธ์ თებ
თებერვალი
/
bře březen března kov kovas kovo maalis maaliskuu maaliskuuta maart mac machi mar marca march
marec maret mars marso mart martie marts martxoa marzec marzo marzu març março maw mawrth mrt márc
március márta mäe mäerz mär märts märz ožu ožujak ožujka μάρ μάρτιος μαρ μαρτίου бер березень
березня мар март марта нау наурыз сак сакавік сакавіка մարտ մարտի մրտ מרץ آذار مارس मार्च মার্চ
மார் மார்ச் มี.ค มีนาคม მარ მარტი
/
abr abril abrëll aib aibreán api apirila apr april aprile aprili aprilie aprill apríl apríla
aprīlis avr avril bal balandis balandžio dub duben dubna ebr ebrill huhti huhtikuu huhtikuuta kwi
kwiecień kwietnia nis nisan pri prill tra travanj travnja ápr április απρ απρίλιος απριλίου апр
апрель апреля април квіт квітень квітня кра красавік красавіка сәу сәуір ապր ապրիլ ապրիլի אפריל
אפר׳ آوریل أبريل أفريل نيسان अप्रैल এপ্রি এপ্রিল ஏப் ஏப்ரல் เม.ย เมษายน აპრ აპრილი
/
beal bealtaine geg gegužė gegužės kvě květen května mag maggio mai maiatza maig maijs maio maj
maja may mayo mayıs maí mee mei mej mejju máj mája május svi svibanj svibnja touko toukokuu
toukokuuta μάι μάιος μαΐ μαΐου май мам мамыр мая мај трав травень травня մայիս մայիսի մյս מאי أيار
ماي مايو مه مهٔ मई মে மே พ.ค พฤษภาคม მაი მაისი
/
birž birželio birželis cze czerwca czerwiec eka ekaina giu giugno haz haziran hun hunyo iun iunie
juin jun june junho juni junie junij junio juny juuni jún júna június júní jūn jūnijs kesä kesäkuu
kesäkuuta lipanj lipnja meh mehefin meith meitheamh qer qershor xuño červen června čvn ġun ġunju
ιουν ιουνίου ιούν ιούνιος июн июнь июня мау маусым черв червень червня чэр чэрвень чэрвеня юни јун
јуни հնս հունիս հունիսի יוני جوان حزيران يونيو ژوئن जून জুন ஜூன் มิ.ย มิถุนายน ივნ ივნისი
/
gor gorff gorffennaf heinä heinäkuu heinäkuuta hul hulyo iul iulie iúil juil juill juillet jul
julai julho juli julie julij julio juliol july juuli júl júla július júlí jūl jūlijs korr korrik
liep liepa liepos lip lipca lipiec lug luglio lul lulju srpanj srpnja tem temmuz uzt uztaila xul
xullo července červenec čvc ιουλ ιουλίου ιούλ ιούλιος июл июль июля лип липень липня ліп ліпень
ліпеня шіл шілде юли јул јули հլս հուլիս հուլիսի יולי تموز جويلية يوليو يوليوز ژوئیه ژوئیهٔ जुलाई
जुल॰ জুল জুলাই ஜூலை ก.ค กรกฎาคม ივლ ივლისი
/
abu abuztua ag ago agost agosti agosto agu agustus août aug august augusta augusti augusts
augustus augusztus avg avgust awst aww awwissu ağu ağustos elo elokuu elokuuta gush gusht kol
kolovoz kolovoza lún lúnasa ogo ogos rugp rugpjūtis rugpjūčio sie sierpień sierpnia srp srpen
srpna ágú ágúst αυγ αυγούστου αύγ αύγουστος авг август августа жні жнівень жніўня серп серпень
серпня там тамыз օգոստոս օգոստոսի օգս אוגוסט אוג׳ آب أغسطس أوت اوت غشت अगस्त अग॰ আগ আগস্ট ஆக
ஆகஸ்ட் ส.ค สิงหาคม აგვ აგვისტო
/
eyl eylül ira iraila medi mfómh rugs rugsėjis rugsėjo ruj rujan rujna sep sept septemba septembar
september septembra septembre septembrie septembris septiembre set setembre setembro setiembre
settembre settembru setyembre sht shtator syys syyskuu syyskuuta szept szeptember wrz wrzesień
września zář září σεπ σεπτέμβριος σεπτεμβρίου вер верасень верасня вересень вересня сент сентябрь
сентября сеп септембар септември қыр қыркүйек սեպ սեպտեմբեր սեպտեմբերի ספטמבר ספט׳ أيلول سبتمبر
سپتامبر شتنبر सितंबर सित॰ সেপ সেপ্টেম্বর செப் செப்டம்பர் ก.ย กันยายน სექ სექტემბერი
/
dfómh eki ekim hyd hydref loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktoba
oktobar oktober oktobris oktoober oktubre október októbra ott ottobre ottubru out outubro paź
październik października spal spalio spalis tet tetor urr urria říj říjen října οκτ οκτωβρίου
οκτώβριος жовт жовтень жовтня кас кастрычнік кастрычніка окт октобар октомври октябрь октября қаз
қазан հոկ հոկտեմբեր հոկտեմբերի אוקטובר אוק׳ أكتوبر اکتبر अक्टूबर अक्टू॰ অক্টো অক্টোবর அக் அக்டோபர்
ต.ค ตุลาคม ოქტ ოქტომბერი
/
aza azaroa kas kasım lapkr lapkritis lapkričio lis listopad listopada listopadu marras marraskuu
marraskuuta nob nobyembre noiembrie nov novemba novembar november novembra novembre novembris
novembro novembru noviembre nën nëntor nóv nóvember samh samhain stu studeni studenoga tach
tachwedd νοέ νοέμβριος νοε νοεμβρίου лист листопад листопада ліс лістапад лістапада нов новембар
ное ноември нояб ноябрь ноября қар қараша նոյ նոյեմբեր նոյեմբերի נובמבר נוב׳ نوامبر نوفمبر نونبر
नवंबर नव॰ নভে নভেম্বর நவ நவம்பர் พ.ย พฤศจิกายน ნოე ნოემბერი
/
abe abendua ara aralık dec decembar december decembra decembrie decembris decembro des desemba
desember desembre dets detsember dez dezember dezembro dhj dhjetor dic dicembre diciembre dis
disember disyembre diċ diċembru déc décembre gru grudnia grudzień gruod gruodis gruodžio joulu
joulukuu joulukuuta noll nollaig pro prosinac prosinca prosince prosinec rhag rhagfyr δεκ
δεκέμβριος δεκεμβρίου груд грудень грудня дек декабрь декабря декември дец децембар жел желтоқсан
сне снежань снежня դեկ դեկտեմբեր դեկտեմբերի דצמבר דצמ׳ دجنبر دسامبر ديسمبر दिसंबर दिस॰ ডিসে
ডিসেম্বর டிச டிசம்பர் ธ.ค ธันวาคม დეკ დეკემბერი
"""
"""By month, divided by slashes: format and stand-alone, wide and abbreviated, without full stop."""

MONTHS: Final = {
    name: month for month, names in enumerate(_NAMES.split("/"), 1) for name in names.split()
}
CROATIAN: Final = {"lip": 6, "srp": 7, "lis": 10, "listopad": 10, "listopada": 10}
"""Names that mean other months in Croatian."""
