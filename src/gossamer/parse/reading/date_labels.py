"""What the words around a date say that it is: of publication, of a change, or of something else.

The words are stems, in the languages of the Web, at the beginning of a word; those of languages
without spaces between words may be anywhere.
"""

from __future__ import annotations

import re

PUBLISHED, CHANGED, OTHER, DATE = "published", "changed", "other", "date"
"""What a label says that a date is."""

_PUBLISHED = """
publi post releas issue written creat first filed submitted online
veröff ersch erst eingest publiz geschrieben
paru mis rédig créé
creado creada escrit subido
inserit scritto creat pubbl
criad redação
gepubl geplaatst gepost aangemaakt
opubl doda utworz napis
zveř vydán vloženo vytvoř uverej
опубл размещ добавл создан публик выложен
опубл створен додано публік
skapad publicer udgivet offentlig oprettet opprettet skrevet lagt
julkais luotu
közz megjelen létrehoz feltölt
yayın eklen oluştur
δημοσ αναρτ
نشر منشور نُشر أضيف انتشار
פורסם פרסום נכתב
đăng xuất
dipublik diterbit dipost ditulis terbit
publicat postat
प्रकाशित
เผยแพร่ โพสต์
"""
_CHANGED = """
updat modif revis edited chang last review amend as\\s+of
aktual geänd stand bearb überarb letzt
mise?\\s+à\\s+jour modifi actualis màj dernière
actuali modific última
aggiorn ultim
atuali
bijgew gewijz aangep laatst
aktualiz zmodyf zmian ostatni edyt
změn uprav poslední
обнов измен редакт последн правк
онов змін останн
uppdater ändrad senast opdater ændret sidst oppdater endret sist
päivit muokat viim
frissít módos utol
güncel son\\s+değ
ενημ τροπο τελευτ
تحديث تعديل آخر به‌روز
עודכן עדכון
cập\\s+nhật sửa
diperbarui diubah terakhir
अपडेट अद्यतन
อัปเดต แก้ไข
"""
_OTHER = """
until valid expir deadline born died birth event starts? begins? ends? joined member since from
accessed retrieved visited copyright effective due registr login
bis gültig frist geboren gestorben veranstaltung beginn ab mitglied abgerufen seit
jusqu valable né décédé événement dès depuis consulté inscrit
hasta válid nacid evento desde consultado
fino scad nato evento dal dall consultato
até válid evento desde
tot geldig geboren sinds
do ważn urodz od wydarz
платн до родил с\\s
"""
_DATE = """
dated? datum data fecha дата dátum tarih ημερομ تاريخ تاریخ תאריך ngày tanggal दिनांक तारीख วันที่
"""
"""Words for a date, which is that of publication unless another label says what it is."""
_UNSPACED = {
    DATE: "時間|时间|日期|日時|일시|날짜",
    PUBLISHED: "发布|發布|发表|發表|刊登|刊出|创建|撰写|公開|掲載|投稿|配信|作成|発表|発売|"
    "登録|입력|등록|게시|작성|발행|승인|송고",
    CHANGED: "更新|修改|修订|改訂|最終|编辑|編輯|수정|업데이트|갱신",
    OTHER: "截止|有效|締切|期限|開催|生まれ|誕生|마감|행사|기간",
}


def _labels(kind: str, stems: str) -> str:
    return rf"(?P<{kind}>(?<![^\W\d_])(?:{'|'.join(stems.split())})|{_UNSPACED[kind]})"


_LABEL = re.compile(
    "|".join(
        [
            _labels(CHANGED, _CHANGED),
            _labels(PUBLISHED, _PUBLISHED),
            _labels(OTHER, _OTHER),
            _labels(DATE, _DATE),
        ]
    )
    + "|©"
)


def label_of(text: str, *, last: bool = True) -> str | None:
    """Return what the last label in a text says, or the first; None if there is none.

    `text` is in lower case.
    """
    labels = [match.lastgroup or OTHER for match in _LABEL.finditer(text)]
    named = [label for label in labels if label != DATE]
    if named:
        return named[-1 if last else 0]
    return PUBLISHED if labels else None
