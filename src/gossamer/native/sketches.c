/* Hashes of words and shingles, and sketches: gossamer/web/sketches.py has the definitions. */

#include "loops.h"

enum { STRIDE = 1024 }; /* shingles that stay in the nearest cache */

static const char NO_ROOM[] = "more than there is room for";

/* A word's hash is a polynomial of its letters; the table has 0 for what is between words. */
static const char *hash_letters(const Value *given, Found *found)
{
    const uint32_t *codes = given[0].data, *letters = given[1].data;
    const uint8_t *alone = given[2].data;
    Words bases = words_of(given[3]), hashes = words_of(given[4]);
    if (given[1].size < 1 || given[2].size < 1 || bases.size < 1)
        return "tables without items";
    if (hashes.size < given[0].size)
        return NO_ROOM;
    uint32_t last_letter = (uint32_t)least(given[1].size - 1, UINT32_MAX);
    uint32_t last_alone = (uint32_t)least(given[2].size - 1, UINT32_MAX);
    uint64_t base = bases.at[0], power = 0;
    int64_t count = 0;
    bool is_inside = false, was_alone = false;
    for (int64_t n = 0; n < given[0].size; n++) {
        uint32_t code = codes[n];
        uint64_t letter = letters[code < last_letter ? code : last_letter];
        bool is_alone = alone[code < last_alone ? code : last_alone];
        if (letter != 0 && is_inside && !is_alone && !was_alone) {
            hashes.at[count - 1] += letter * power;
            power *= base;
        } else if (letter != 0) {
            hashes.at[count++] = letter;
            power = base;
        }
        is_inside = letter != 0;
        was_alone = is_alone;
    }
    found->numbers[0] = count;
    return NULL;
}

FOR_WIDER_REGISTERS
static const char *mix_shingles(const Value *given, Found *found)
{
    (void)found;
    Words words = words_of(given[0]), factors = words_of(given[1]);
    uint32_t *mixed = given[2].data;
    int64_t count = given[2].size;
    if (factors.size < 1 || count > largest(words.size - factors.size + 1, 0))
        return NO_ROOM;
    for (int64_t n = 0; n < count; n++) {
        uint64_t sum = 0;
        for (int64_t at = 0; at < factors.size; at++)
            sum += words.at[n + at] * factors.at[at];
        uint32_t hash = (uint32_t)(sum >> 32);
        hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
        hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
        mixed[n] = hash ^ hash >> 16;
    }
    return NULL;
}

FOR_WIDER_REGISTERS
static const char *take_least(const Value *given, Found *found)
{
    (void)found;
    const uint32_t *shingles = given[0].data, *functions = given[1].data;
    uint32_t *values = given[2].data;
    if (given[1].size != given[2].size)
        return NO_ROOM;
    for (int64_t begin = 0; begin < given[0].size; begin += STRIDE) {
        int64_t end = least(begin + STRIDE, given[0].size);
        for (int64_t each = 0; each < given[1].size; each++) {
            uint32_t function = functions[each], smallest = values[each];
            for (int64_t n = begin; n < end; n++) {
                uint32_t value = function * shingles[n];
                smallest = value < smallest ? value : smallest;
            }
            values[each] = smallest;
        }
    }
    return NULL;
}

const Loop SKETCH_LOOPS[] = {
    {"hash_letters", "CCbWW+", "i", hash_letters},
    {"mix_shingles", "WWC+", "", mix_shingles},
    {"take_least", "CCC+", "", take_least},
    {NULL, NULL, NULL, NULL},
};
