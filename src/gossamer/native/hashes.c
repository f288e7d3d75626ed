/* XXH64 of each of many values, with a seed of its own (xxHash, "XXH64 algorithm description"):
   gossamer/engine/small/hashes.py has the definitions. */

#include "loops.h"

static const uint64_t P1 = UINT64_C(0x9E3779B185EBCA87), P2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      P3 = UINT64_C(0x165667B19E3779F9), P4 = UINT64_C(0x85EBCA77C2B2AE63),
                      P5 = UINT64_C(0x27D4EB2F165667C5);

static inline uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline uint64_t read64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static inline uint64_t read32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, 4);
    return word;
}

static inline uint64_t add_word(uint64_t sum, uint64_t word)
{
    return rotate(sum + word * P2, 31) * P1;
}

static inline uint64_t merge(uint64_t hash, uint64_t sum)
{
    return (hash ^ add_word(0, sum)) * P1 + P4;
}

static uint64_t xxh64(const uint8_t *at, int64_t size, uint64_t seed)
{
    const uint8_t *end = at + size;
    uint64_t hash = seed + P5;
    if (size >= 32) {
        uint64_t one = seed + P1 + P2, two = seed + P2, three = seed, four = seed - P1;
        for (; end - at >= 32; at += 32) {
            one = add_word(one, read64(at));
            two = add_word(two, read64(at + 8));
            three = add_word(three, read64(at + 16));
            four = add_word(four, read64(at + 24));
        }
        hash = rotate(one, 1) + rotate(two, 7) + rotate(three, 12) + rotate(four, 18);
        hash = merge(merge(merge(merge(hash, one), two), three), four);
    }
    hash += (uint64_t)size;
    for (; end - at >= 8; at += 8)
        hash = rotate(hash ^ add_word(0, read64(at)), 27) * P1 + P4;
    if (end - at >= 4) {
        hash = rotate(hash ^ read32(at) * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++)
        hash = rotate(hash ^ *at * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}

/* hashes[n] = XXH64 of texts[starts[n]:starts[n + 1]] with the seed seeds[n]. */
static const char *hash_texts(const Value *given, Found *found)
{
    (void)found;
    Bytes texts = bytes_of(given[0]);
    const int32_t *starts = given[1].data;
    Words seeds = words_of(given[2]), hashes = words_of(given[3]);
    if (seeds.size != hashes.size || given[1].size != hashes.size + 1)
        return "arrays of different sizes";
    for (int64_t n = 0; n <= hashes.size; n++)
        if (starts[n] < 0 || starts[n] > texts.size || (n > 0 && starts[n - 1] > starts[n]))
            return "starts outside the texts";
    for (int64_t n = 0; n < hashes.size; n++)
        hashes.at[n] = xxh64(texts.at + starts[n], starts[n + 1] - starts[n], seeds.at[n]);
    return NULL;
}

const Loop HASH_LOOPS[] = {
    {"hash_texts", "BnNN+", "", hash_texts},
    {NULL, NULL, NULL, NULL},
};
