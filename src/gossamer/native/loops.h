/* What all loops share: how they are called (module.c), and the checks of their arguments.

   A loop gets numbers and arrays, writes to the arrays, and returns at most three numbers. It runs
   without the GIL, so it touches no object of Python. Links, names and bits may come from files of
   strangers, so whatever they are, a loop reads and writes only inside the arrays. */

#ifndef GOSSAMER_LOOPS_H
#define GOSSAMER_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An argument: a number, or an array, whose items follow each other in memory. */
typedef struct {
    void *data;
    int64_t size;   /* items */
    bool is_wide;   /* of two types that are allowed, the items have the one with 64 bits */
    int64_t number;
    double real;
} Value;

typedef struct {
    int64_t numbers[3];
    double real;
} Found;

typedef struct {
    const char *name;
    const char *arguments; /* a letter each (module.c); + after arrays that are written */
    const char *results;   /* i: an integer; f: a float */
    const char *(*run)(const Value *given, Found *found); /* NULL, or what is wrong */
} Loop;

extern const Loop DECODING_LOOPS[], ENCODING_LOOPS[], NAME_LOOPS[], ARC_LOOPS[], RANK_LOOPS[],
    COMPONENT_LOOPS[], CENTRALITY_LOOPS[], NGRAM_LOOPS[], SKETCH_LOOPS[], CODE_LOOPS[],
    HASH_LOOPS[], VECTOR_LOOPS[];

extern const char NO_MEMORY[];

/* Wheels are for any x86-64: what gains by wider registers is compiled for these, too, and the
   loader chooses. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define FOR_WIDER_REGISTERS __attribute__((target_clones("avx2", "default")))
#else
#define FOR_WIDER_REGISTERS
#endif

typedef struct {
    uint64_t *at;
    int64_t size;
} Words;

typedef struct {
    int64_t *at;
    int64_t size;
} Numbers;

typedef struct {
    uint8_t *at;
    int64_t size;
} Bytes;

static inline Words words_of(Value given)
{
    return (Words){given.data, given.size};
}

static inline Numbers numbers_of(Value given)
{
    return (Numbers){given.data, given.size};
}

static inline Bytes bytes_of(Value given)
{
    return (Bytes){given.data, given.size};
}

/* Memory for items of 8 bytes, at least one of them. */
static inline void *new_items(int64_t count)
{
    size_t size = count > 0 ? (size_t)count : 1;
    return size > SIZE_MAX / 16 ? NULL : malloc(8 * size);
}

static inline void *new_zeros(int64_t count)
{
    return calloc(count > 0 ? (size_t)count : 1, 8);
}

/* Items of arrays whose type is one of two. With a constant `is_wide`, it costs nothing. */
static inline int64_t item(const void *data, int64_t n, bool is_wide)
{
    return is_wide ? ((const int64_t *)data)[n] : ((const int32_t *)data)[n];
}

static inline void set_item(void *data, int64_t n, int64_t value, bool is_wide)
{
    if (is_wide)
        ((int64_t *)data)[n] = value;
    else
        ((int32_t *)data)[n] = (int32_t)value;
}

static inline int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static inline int64_t largest(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* Whether rows or strings are inside `size` items: each begins where the one before ends. */
static inline bool are_starts(Numbers starts, int64_t size)
{
    if (starts.size < 1 || starts.at[0] < 0 || starts.at[starts.size - 1] > size)
        return false;
    bool ascend = true;
    for (int64_t n = 1; n < starts.size; n++)
        ascend &= starts.at[n - 1] <= starts.at[n];
    return ascend;
}

/* Whether all items are places in an array of `size` items. */
static inline bool are_places(const void *items, int64_t count, int64_t size, bool is_wide)
{
    bool inside = true;
    for (int64_t n = 0; n < count; n++)
        inside &= (uint64_t)item(items, n, is_wide) < (uint64_t)size;
    return inside;
}

void sort_pairs(int64_t *keys, int64_t *values, int64_t size, int64_t *spare);

#endif
