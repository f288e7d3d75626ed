/* Codes of numbers in streams of bits: gossamer/links/bvgraph/codes.py says which. */

#ifndef GOSSAMER_CODES_H
#define GOSSAMER_CODES_H

#include "loops.h"

enum { WORD_BITS = 64, BROKEN = -1, MAX_CODE_BITS = 256, MAX_EXPONENT = 61, MAX_ZETA = 7 };
static const int64_t MAX_NUMBER = INT64_C(1) << 61, MAX_UNARY = 1 << 20, MAX_PARAMETER = 1 << 16;

static inline uint64_t native(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static inline int leading_zeros(uint64_t word)
{
    return word ? __builtin_clzll(word) : WORD_BITS;
}

/* The 64 bits from a position on. Those before and after the stream are zeros. */
static inline uint64_t peek_bits(Words words, int64_t at)
{
    uint64_t word = (uint64_t)at >> 6, size = (uint64_t)words.size;
    int bit = (int)(at & 63);
    uint64_t first = word < size ? native(words.at[word]) : 0;
    if (bit == 0)
        return first;
    uint64_t second = word + 1 < size ? native(words.at[word + 1]) : 0;
    return first << bit | second >> (WORD_BITS - bit);
}

/* The caller has made room for the bits. */
static inline int64_t write_bits(Words words, int64_t at, uint64_t value, int width)
{
    int64_t word = at >> 6;
    int free_bits = WORD_BITS - (int)(at & 63);
    if (width == 0)
        return at;
    if (width <= free_bits) {
        words.at[word] |= native(value << (free_bits - width));
    } else {
        int rest = width - free_bits;
        words.at[word] |= native(value >> rest);
        words.at[word + 1] |= native(value << (WORD_BITS - rest));
    }
    return at + width;
}

static inline int64_t write_unary(Words words, int64_t at, int64_t n)
{
    return write_bits(words, at + n, 1, 1);
}

static inline int64_t read_unary(Words words, int64_t *at)
{
    int zeros = leading_zeros(peek_bits(words, *at));
    int64_t n = zeros;
    while (zeros == WORD_BITS && n < MAX_UNARY) {
        zeros = leading_zeros(peek_bits(words, *at + n));
        n += zeros;
    }
    if (zeros == WORD_BITS) {
        *at = BROKEN;
        return 0;
    }
    *at += n + 1;
    return n;
}

static inline int exponent(int64_t n)
{
    return 63 - leading_zeros((uint64_t)n + 1);
}

static inline int64_t write_gamma(Words words, int64_t at, int64_t n)
{
    int bits = exponent(n);
    return write_bits(words, at + bits, (uint64_t)n + 1, bits + 1);
}

static inline int64_t read_gamma(Words words, int64_t *at)
{
    uint64_t ahead = peek_bits(words, *at);
    int bits = leading_zeros(ahead);
    if (*at < 0 || bits > MAX_EXPONENT) {
        *at = BROKEN;
        return 0;
    }
    if (2 * bits >= WORD_BITS)
        ahead = peek_bits(words, *at + bits) >> (WORD_BITS - 1 - bits);
    else
        ahead >>= WORD_BITS - 1 - 2 * bits;
    *at += 2 * bits + 1;
    return (int64_t)ahead - 1;
}

static inline int zeta_bits(int bits, int k)
{
    int h = bits / k;
    return h + h * k + k + (bits > h * k);
}

static inline int64_t write_zeta(Words words, int64_t at, int64_t n, int k)
{
    uint64_t value = (uint64_t)n + 1;
    int h = exponent(n) / k;
    uint64_t low = UINT64_C(1) << (h * k);
    int width = h * k + k;
    at = write_unary(words, at, h);
    if (value - low < low)
        return write_bits(words, at, value - low, width - 1);
    return write_bits(words, at, value, width);
}

static inline int64_t read_zeta(Words words, int64_t *at, int k)
{
    uint64_t ahead = peek_bits(words, *at);
    int h = leading_zeros(ahead);
    if (*at < 0 || h * k + k > MAX_EXPONENT) {
        *at = BROKEN;
        return 0;
    }
    int64_t low = INT64_C(1) << (h * k);
    int width = h * k + k - 1;
    *at += h + 1;
    if (h + 2 + width > WORD_BITS)
        ahead = peek_bits(words, *at); /* the code ends beyond these bits */
    else
        ahead <<= h + 1;
    int64_t value = (int64_t)(ahead >> (WORD_BITS - 1 - width));
    if (value >> 1 < low) {
        *at += width;
        return (value >> 1) + low - 1;
    }
    *at += width + 1;
    return value - 1;
}

static inline int64_t natural(int64_t n)
{
    return n >= 0 ? 2 * n : -2 * n - 1;
}

static inline int64_t integer(int64_t n)
{
    return n & 1 ? -((n + 1) >> 1) : n >> 1;
}

typedef struct {
    int64_t window, min_interval;
    int zeta;
} Shape;

static inline bool get_shape(const Value *given, Shape *shape)
{
    int64_t window = given[0].number, min_interval = given[1].number, zeta = given[2].number;
    *shape = (Shape){window, min_interval, (int)zeta};
    return 0 <= window && window <= MAX_PARAMETER && 0 <= min_interval &&
           min_interval <= MAX_PARAMETER && 1 <= zeta && zeta <= MAX_ZETA;
}

static const char NO_SHAPE[] = "parameters of no graph";

#endif
