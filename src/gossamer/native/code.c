/* Pieces of a text that may have code, the code in them, and the words of a text: gossamer/index/format/exact_form.py
   has the definitions in Python, with regular expressions, and says what code is. */

#include "loops.h"

enum { BYTES = 256 };

static const char NO_ROOM[] = "more than there is room for";

/* ---- pieces ---- */

enum { SECTIONS = 4, FIRST_SLOTS = 2048 };

/* The different pieces so far, in a table with open addressing. Their hashes depend on a key, which
   nobody knows who could write a text whose pieces come to one place. */
typedef struct {
    uint64_t start; /* the first bytes, which are all of most words */
    uint32_t hash;
    int32_t begin, size; /* size 0: free */
} Slot;

typedef struct {
    Bytes in; /* where pieces begin */
    Slot *slots;
    uint32_t mask;
    int64_t count;
    uint64_t key;
} Pieces;

static inline uint64_t fold(uint64_t one, uint64_t other)
{
    unsigned __int128 product = (unsigned __int128)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to 8 bytes, of `size` that are left. */
static inline uint64_t load(Bytes in, int64_t begin, int64_t size)
{
    uint64_t word = 0;
    if (begin + 8 > in.size) {
        memcpy(&word, in.at + begin, (size_t)least(size, 8));
        return word;
    }
    memcpy(&word, in.at + begin, 8);
    return size < 8 ? word & (((uint64_t)1 << 8 * size) - 1) : word;
}

static inline Slot make_slot(const Pieces *pieces, int64_t begin, int64_t size)
{
    uint64_t start = load(pieces->in, begin, size), hash = pieces->key ^ (uint64_t)size;
    for (int64_t at = begin, left = size; left > 0; at += 8, left -= 8)
        hash = fold(hash ^ load(pieces->in, at, left) ^ 0x9E3779B97F4A7C15u, pieces->key | 1);
    return (Slot){start, (uint32_t)(hash ^ hash >> 32), (int32_t)begin, (int32_t)size};
}

static inline Slot *slot_of(const Pieces *pieces, Slot piece)
{
    for (uint32_t n = piece.hash;; n++) {
        Slot *slot = &pieces->slots[n & pieces->mask];
        if (slot->size == 0 ||
            (slot->hash == piece.hash && slot->size == piece.size && slot->start == piece.start &&
             (piece.size <= 8 || memcmp(pieces->in.at + slot->begin, pieces->in.at + piece.begin,
                                        (size_t)piece.size) == 0)))
            return slot;
    }
}

static bool has_room(Pieces *pieces)
{
    if (pieces->slots != NULL && 2 * pieces->count <= pieces->mask)
        return true;
    uint32_t slots = pieces->slots != NULL ? 2 * (pieces->mask + 1) : FIRST_SLOTS;
    Pieces larger = *pieces;
    larger.slots = calloc(slots, sizeof(Slot));
    larger.mask = slots - 1;
    if (larger.slots == NULL)
        return false;
    for (uint32_t n = 0; pieces->slots != NULL && n <= pieces->mask; n++)
        if (pieces->slots[n].size)
            *slot_of(&larger, pieces->slots[n]) = pieces->slots[n];
    free(pieces->slots);
    *pieces = larger;
    return true;
}

static const char *write_pieces(const Value *given, Found *found)
{
    (void)found;
    Bytes text = bytes_of(given[0]), kinds = bytes_of(given[5]), to = bytes_of(given[8]);
    const uint8_t *first = given[1].data, *second = given[2].data, *third = given[3].data;
    const uint8_t *is_space = given[4].data;
    int64_t most = given[6].number;
    Numbers sizes = numbers_of(given[9]);
    for (int n = 1; n <= 4; n++)
        if (given[n].size != BYTES)
            return "tables of other sizes";
    if (text.size > INT32_MAX || (text.size && !is_space[text.at[text.size - 1]]))
        return "a text that does not end with a space";
    if (kinds.size != SECTIONS - 1 || sizes.size != SECTIONS || to.size != SECTIONS * text.size)
        return "arrays of other sizes";
    memset(sizes.at, 0, SECTIONS * sizeof *sizes.at);
    Pieces pieces = {text, NULL, 0, 0, (uint64_t)given[7].number};
    for (int64_t at = 0; at < text.size && pieces.count < most; at++) {
        if (at + 1 == text.size || !(first[text.at[at]] & second[text.at[at + 1]]) ||
            is_space[text.at[at]])
            continue; /* most bytes: so words have no branches of their own */
        int64_t begin = at;
        while (begin > 0 && !is_space[text.at[begin - 1]])
            begin--;
        uint8_t marks = 0, all = 0;
        for (at = begin; !is_space[text.at[at]]; at++) {
            uint8_t pair = first[text.at[at]] & second[text.at[at + 1]];
            marks |= at + 2 < text.size ? pair & third[text.at[at + 2]] : pair;
            all |= text.at[at];
        }
        if (!marks)
            continue;
        int64_t size = at - begin;
        if (!has_room(&pieces)) {
            free(pieces.slots);
            return NO_MEMORY;
        }
        Slot piece = make_slot(&pieces, begin, size), *slot = slot_of(&pieces, piece);
        if (slot->size)
            continue;
        *slot = piece;
        pieces.count++;
        for (int section = 0; section < SECTIONS; section++) {
            bool is_other = section == 1;
            bool belongs = kinds.at[section ? section - 1 : 0] & marks;
            if (section < 2)
                belongs &= (all >= 0x80) == is_other;
            if (!belongs)
                continue;
            uint8_t *section_begin = to.at + section * text.size;
            if (sizes.at[section])
                section_begin[sizes.at[section]++] = '\n';
            memcpy(section_begin + sizes.at[section], text.at + begin, (size_t)size);
            sizes.at[section] += size;
        }
    }
    free(pieces.slots);
    return NULL;
}

/* ---- code, in ASCII ---- */

/* Sets of characters, as bits: those of the expressions in Python, in their order. */
enum { ALPHANUMERIC = 1, LETTER = 2, WORD = 4, SYMBOL = 8, NO_SECOND = 16, LEADING = 32,
       OPERATOR = 64, BARE = 128, AFTER_BARE = 256 };

typedef struct {
    uint16_t of[BYTES];
} Classes;

static void add_class(Classes *classes, const char *characters, int class)
{
    for (; *characters; characters++)
        classes->of[(uint8_t)*characters] |= (uint16_t)class;
}

static void make_classes(Classes *classes)
{
    memset(classes, 0, sizeof *classes);
    add_class(classes, "0123456789", ALPHANUMERIC | WORD | NO_SECOND);
    add_class(classes, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
              ALPHANUMERIC | WORD | LETTER);
    add_class(classes, "_", WORD);
    add_class(classes, "!#$%&*+-./:<=>?@[\\^{|~", SYMBOL);
    add_class(classes, "\t\n\v\f\r\x1c\x1d\x1e\x1f ,;)'\"", NO_SECOND);
    add_class(classes, "!#$%&*+-.:=?@\\^|~", LEADING);
    add_class(classes, "<>=~@|*-", OPERATOR);
    add_class(classes, "!#$%&*+-/:=>?@\\^|~", BARE);
    add_class(classes, "!#$%&*+-/:<=>?@\\^{|~", AFTER_BARE);
}

typedef struct {
    const uint8_t *at, *end;
    const uint16_t *class;
} Text;

static inline bool is(Text text, const uint8_t *at, int class)
{
    return at < text.end && text.class[*at] & class;
}

static inline bool equals(Text text, const uint8_t *at, char character)
{
    return at < text.end && *at == (uint8_t)character;
}

static inline const uint8_t *skip(Text text, const uint8_t *at, int class, int64_t most)
{
    while (most-- > 0 && is(text, at, class))
        at++;
    return at;
}

/* Where words that begin here end, which hyphens join; NULL if there are none. */
static const uint8_t *words_end(Text text, const uint8_t *at)
{
    while (equals(text, at, '_'))
        at++;
    if (!is(text, at, LETTER))
        return NULL;
    at = skip(text, at, WORD, INT64_MAX);
    while (equals(text, at, '-') && is(text, at + 1, WORD))
        at = skip(text, at + 1, WORD, INT64_MAX);
    return at;
}

/* Where the term ends that begins with the symbol here; NULL if there is none. */
static const uint8_t *symbols_end(Text text, const uint8_t *at)
{
    const uint8_t *next = at + 1, *end;
    if (is(text, next, NO_SECOND))
        return NULL;
    if ((*at == '/' || *at == '~' || *at == '<') && (end = words_end(text, next)) != NULL)
        return end;
    if (is(text, at, LEADING)) {
        end = skip(text, next, LEADING, 3);
        if (equals(text, end, '[') || equals(text, end, '{'))
            end++;
        if ((end = words_end(text, end)) != NULL)
            return end;
    }
    if ((*at == '{' && equals(text, next, '}')) || (*at == '[' && equals(text, next, ']')))
        return next + 1;
    if (*at == '<' && (end = skip(text, next, OPERATOR, 3)) > next)
        return end;
    if (is(text, at, BARE) && (end = skip(text, next, AFTER_BARE, 3)) > next)
        return end;
    return NULL;
}

/* Where the operator ends behind a word that ends here; NULL if there is none. */
static const uint8_t *operator_end(Text text, const uint8_t *at)
{
    if (equals(text, at, '#'))
        return at + 1;
    return equals(text, at, '+') && equals(text, at + 1, '+') ? at + 2 : NULL;
}

typedef struct {
    Bytes to;
    int64_t size;
    bool is_full;
} Terms;

static void add_term(Terms *terms, const uint8_t *begin, const uint8_t *end)
{
    int64_t space = terms->size > 0, size = end - begin;
    if (size + space > terms->to.size - terms->size) {
        terms->is_full = true;
        return;
    }
    if (space)
        terms->to.at[terms->size++] = ' ';
    memcpy(terms->to.at + terms->size, begin, (size_t)size);
    terms->size += size;
}

static void add_symbols(Terms *terms, Text text)
{
    for (const uint8_t *at = text.at; at < text.end;) {
        const uint8_t *end = NULL, *rest = at + 1;
        if (is(text, at, ALPHANUMERIC)) {
            rest = skip(text, rest, ALPHANUMERIC, INT64_MAX);
            /* behind a term that ended within a word, there is no word */
            if (at == text.at || !is(text, at - 1, ALPHANUMERIC))
                end = operator_end(text, rest);
        } else if (is(text, at, SYMBOL)) {
            end = symbols_end(text, at);
        }
        if (end != NULL)
            add_term(terms, at, end);
        at = end != NULL ? end : rest;
    }
}

static void add_joined(Terms *terms, Text text)
{
    for (const uint8_t *at = text.at; at < text.end; at++) {
        const uint8_t *begin = at;
        bool has_line = false, has_other = false;
        for (; is(text, at, WORD); at++) {
            has_line |= *at == '_';
            has_other |= *at != '_';
        }
        if (has_line && has_other)
            add_term(terms, begin, at);
    }
}

static void add_raised(Terms *terms, Text text)
{
    for (const uint8_t *at = text.at + 1; at < text.end; at++) {
        if ((*at == '~' || *at == '^') && is(text, at - 1, ALPHANUMERIC)) {
            const uint8_t *end = at + 1;
            while (end < text.end && '0' <= *end && *end <= '9')
                end++;
            if (end > at + 1 && !is(text, end, WORD))
                add_term(terms, at, end);
        }
    }
}

static const char *write_code(const Value *given, Found *found)
{
    Bytes pieces = bytes_of(given[0]);
    for (int64_t n = 0; n < pieces.size; n++)
        if (pieces.at[n] >= 0x80)
            return "a text that is not ASCII";
    Classes classes;
    make_classes(&classes);
    Text text = {pieces.at, pieces.at + pieces.size, classes.of};
    Terms terms = {bytes_of(given[1]), 0, false};
    add_symbols(&terms, text);
    add_joined(&terms, text);
    if (pieces.size)
        add_raised(&terms, text);
    if (terms.is_full)
        return NO_ROOM;
    found->numbers[0] = terms.size;
    return NULL;
}

/* ---- words ---- */

static const char *write_words(const Value *given, Found *found)
{
    Bytes text = bytes_of(given[0]), to = bytes_of(given[2]);
    if (to.size < text.size || text.size > INT32_MAX)
        return NO_ROOM;
    uint8_t small[BYTES] = {0}; /* of what is part of a word */
    for (int byte = 0; byte < BYTES; byte++)
        if (byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z'))
            small[byte] = (uint8_t)byte;
        else if (byte >= 'A' && byte <= 'Z')
            small[byte] = (uint8_t)(byte + 'a' - 'A');
    Pieces words = {to, NULL, 0, 0, (uint64_t)given[1].number};
    int64_t size = 0;
    for (int64_t at = 0; at < text.size; at++) {
        int64_t begin = size + (size > 0), end = begin;
        while (at < text.size && small[text.at[at]])
            to.at[end++] = small[text.at[at++]];
        if (end == begin)
            continue;
        if (!has_room(&words)) {
            free(words.slots);
            return NO_MEMORY;
        }
        Slot word = make_slot(&words, begin, end - begin), *slot = slot_of(&words, word);
        if (slot->size)
            continue;
        *slot = word;
        words.count++;
        if (size)
            to.at[size] = ' ';
        size = end;
    }
    free(words.slots);
    found->numbers[0] = size;
    return NULL;
}

const Loop CODE_LOOPS[] = {
    {"write_pieces", "BBBBBBiiB+N+", "", write_pieces},
    {"write_code", "BB+", "i", write_code},
    {"write_words", "BiB+", "i", write_words},
    {NULL, NULL, NULL, NULL},
};
