/* What the n-grams of a text say about its language: gossamer/parse/reading/ngrams.py has the
   definition. */

#include "loops.h"

enum { NO_LETTER, LETTER, IDEOGRAPH, JOINER }; /* kinds of characters */
enum { KINDS = 1 << 16, BUCKETS = 1 << 16, NGRAM_BYTES = 6, MAX_TEXT_BYTES = 4096 };

static const char NO_MODEL[] = "arrays of no model";

typedef struct {
    const uint8_t *kinds;
    const uint32_t *starts, *rows;
    int64_t size; /* rows */
    Numbers sums;
} Model;

/* Bytes of the next character. One that is not UTF-8 is no letter. */
static inline int64_t read_kind(Bytes text, int64_t at, const uint8_t *kinds, int *kind)
{
    static const uint32_t LEAST[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code = text.at[at];
    *kind = NO_LETTER;
    if (code < 0x80) {
        *kind = kinds[code];
        return 1;
    }
    int more = code < 0xC2 ? 0 : code < 0xE0 ? 1 : code < 0xF0 ? 2 : code < 0xF5 ? 3 : 0;
    if (more == 0 || text.size - at <= more)
        return 1;
    code &= 0x3F >> more;
    for (int n = 1; n <= more; n++) {
        uint8_t byte = text.at[at + n];
        if ((byte & 0xC0) != 0x80)
            return 1;
        code = code << 6 | (byte & 0x3F);
    }
    if (code < LEAST[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return 1;
    if (code < KINDS)
        *kind = kinds[code];
    else if (code >= 0x20000 && code < 0x2FA20)
        *kind = IDEOGRAPH;
    return more + 1;
}

/* Where the word ends whose first letter ends at `at`. A joiner belongs to it between letters. */
static inline int64_t find_end(Bytes text, int64_t at, const uint8_t *kinds)
{
    while (at < text.size) {
        int kind, next = NO_LETTER;
        int64_t bytes = read_kind(text, at, kinds, &kind);
        if (kind == JOINER && at + bytes < text.size)
            read_kind(text, at + bytes, kinds, &next);
        if (kind != LETTER && next != LETTER)
            break;
        at += bytes;
    }
    return at;
}

static inline uint32_t hash_ngram(uint64_t ngram)
{
    ngram ^= ngram >> 30;
    ngram *= UINT64_C(0xbf58476d1ce4e5b9);
    ngram ^= ngram >> 27;
    uint32_t hash = (uint32_t)(ngram >> 32);
    return hash ? hash : 1;
}

/* The n-grams so far, each once, and of them, a table for twice as many as a text can have. A slot
   holds an n-gram plus 1, or 0. */
typedef struct {
    uint64_t slots[2 * MAX_TEXT_BYTES];
    uint32_t hashes[MAX_TEXT_BYTES];
    uint64_t mask;
    int64_t count;
} Ngrams;

static inline void add_ngram(Ngrams *ngrams, const uint8_t *bytes, int64_t size, bool begins,
                             bool ends)
{
    uint8_t padded[8] = {' '};
    memcpy(padded + begins, bytes, (size_t)size);
    if (ends)
        padded[begins + size] = ' ';
    uint64_t ngram = 0;
    for (int n = 7; n >= 0; n--)
        ngram = ngram << 8 | padded[n];
    uint32_t hash = hash_ngram(ngram);
    uint64_t slot = hash & ngrams->mask;
    for (; ngrams->slots[slot]; slot = (slot + 1) & ngrams->mask)
        if (ngrams->slots[slot] == ngram + 1)
            return;
    ngrams->slots[slot] = ngram + 1;
    ngrams->hashes[ngrams->count++] = hash;
}

static inline void add_word(Ngrams *ngrams, const uint8_t *word, int64_t size)
{
    if (size <= NGRAM_BYTES) {
        add_ngram(ngrams, word, size, true, true);
        return;
    }
    add_ngram(ngrams, word, NGRAM_BYTES, true, false);
    for (int64_t at = NGRAM_BYTES; at + NGRAM_BYTES < size; at += NGRAM_BYTES)
        add_ngram(ngrams, word + at, NGRAM_BYTES, false, false);
    add_ngram(ngrams, word + size - NGRAM_BYTES, NGRAM_BYTES, false, true);
}

static inline int64_t find_row(const Model *model, uint32_t from, int64_t begin, int64_t end)
{
    while (begin < end) {
        int64_t middle = (begin + end) / 2;
        if (model->rows[middle] < from)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static const char *add_rows(const Model *model, uint32_t hash)
{
    int64_t begin = model->starts[hash >> 16], end = model->starts[(hash >> 16) + 1];
    if (begin > end || end > model->size)
        return NO_MODEL;
    uint32_t rest = hash & 0xFFFF;
    begin = find_row(model, rest << 16, begin, end);
    for (; begin < end && model->rows[begin] >> 16 == rest; begin++) {
        int64_t language = model->rows[begin] >> 8 & 0xFF;
        if (language >= model->sums.size)
            return NO_MODEL;
        model->sums.at[language] += model->rows[begin] & 0xFF;
    }
    return NULL;
}

static const char *add_ngram_scores(const Value *given, Found *found)
{
    Bytes text = bytes_of(given[0]);
    Model model = {given[1].data, given[2].data, given[3].data, given[3].size,
                   numbers_of(given[4])};
    if (given[1].size != KINDS || given[2].size != BUCKETS + 1)
        return NO_MODEL;
    if (text.size > MAX_TEXT_BYTES)
        return "a text that is too long";
    Ngrams ngrams;
    ngrams.mask = 1;
    while ((int64_t)ngrams.mask + 1 < 2 * text.size)
        ngrams.mask = 2 * ngrams.mask + 1;
    memset(ngrams.slots, 0, (ngrams.mask + 1) * sizeof *ngrams.slots);
    ngrams.count = 0;
    for (int64_t at = 0, begin = 0; at < text.size; begin = at) {
        int kind;
        at += read_kind(text, at, model.kinds, &kind);
        if (kind == LETTER)
            at = find_end(text, at, model.kinds);
        if (kind == LETTER || kind == IDEOGRAPH)
            add_word(&ngrams, text.at + begin, at - begin);
    }
    for (int64_t n = 0; n < ngrams.count; n++)
        __builtin_prefetch(&model.starts[ngrams.hashes[n] >> 16]);
    const char *wrong = NULL;
    for (int64_t n = 0; n < ngrams.count && wrong == NULL; n++)
        wrong = add_rows(&model, ngrams.hashes[n]);
    found->numbers[0] = ngrams.count;
    return wrong;
}

const Loop NGRAM_LOOPS[] = {
    {"add_ngram_scores", "BBCCN+", "i", add_ngram_scores},
    {NULL, NULL, NULL, NULL},
};
