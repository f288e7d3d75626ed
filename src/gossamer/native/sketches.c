/* Hashes of shingles, and sketches: gossamer/web/sketches.py has the definitions. */

#include "loops.h"

enum { STRIDE = 1024 }; /* shingles that stay in the nearest cache */

static const char NO_ROOM[] = "more than there is room for";

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
    {"mix_shingles", "WWC+", "", mix_shingles},
    {"take_least", "CCC+", "", take_least},
    {NULL, NULL, NULL, NULL},
};
