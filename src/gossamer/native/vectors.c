/* Which of many vectors are nearest to one: gossamer/semantic/scanning.py has the definitions. */

#include "loops.h"

enum { MAX_WORDS = 256 }; /* of a vector's signs: 16,384 dimensions */

static const char NOT_VECTORS[] = "no vectors of this dimension";

static inline int64_t distance(const uint64_t *one, const uint64_t *other, int64_t words)
{
    int64_t sum = 0;
    for (int64_t n = 0; n < words; n++)
        sum += __builtin_popcountll(one[n] ^ other[n]);
    return sum;
}

/* Two passes: the distances and how often each occurs, then the places up to the last that fits. */
FOR_WIDER_REGISTERS
static const char *find_nearest_signs(const Value *given, Found *found)
{
    Words signs = words_of(given[0]), query = words_of(given[1]);
    Numbers places = numbers_of(given[2]);
    int64_t words = query.size;
    if (words < 1 || words > MAX_WORDS || signs.size % words != 0)
        return NOT_VECTORS;
    int64_t count = signs.size / words, most = least(places.size, count);
    uint16_t *distances = malloc(count > 0 ? (size_t)count * 2 : 2);
    if (distances == NULL)
        return NO_MEMORY;
    int64_t having[64 * MAX_WORDS + 1];
    memset(having, 0, sizeof(int64_t) * (size_t)(64 * words + 1));
    for (int64_t n = 0; n < count; n++) {
        int64_t far = words == 8 ? distance(signs.at + 8 * n, query.at, 8)
                                 : distance(signs.at + words * n, query.at, words);
        distances[n] = (uint16_t)far;
        having[far]++;
    }
    int64_t last = 0, nearer = 0;
    while (last < 64 * words && nearer + having[last] < most)
        nearer += having[last++];
    int64_t equal = most - nearer, written = 0;
    for (int64_t n = 0; n < count && written < most; n++)
        if (distances[n] < last || (distances[n] == last && equal-- > 0))
            places.at[written++] = n;
    free(distances);
    found->numbers[0] = written;
    return NULL;
}

FOR_WIDER_REGISTERS
static const char *multiply_vectors(const Value *given, Found *found)
{
    (void)found;
    const int8_t *vectors = given[0].data, *query = given[1].data;
    Numbers places = numbers_of(given[2]), products = numbers_of(given[3]);
    int64_t dimension = given[1].size;
    if (dimension < 1 || dimension > 64 * MAX_WORDS || given[0].size % dimension != 0)
        return NOT_VECTORS;
    if (products.size < places.size)
        return "more than there is room for";
    if (!are_places(places.at, places.size, given[0].size / dimension, true))
        return "a place outside the vectors";
    for (int64_t n = 0; n < places.size; n++) {
        const int8_t *vector = vectors + places.at[n] * dimension;
        int32_t sum = 0;
        for (int64_t at = 0; at < dimension; at++)
            sum += (int32_t)vector[at] * (int32_t)query[at];
        products.at[n] = sum;
    }
    return NULL;
}

const Loop VECTOR_LOOPS[] = {
    {"find_nearest_signs", "WWN+", "i", find_nearest_signs},
    {"multiply_vectors", "BBNN+", "", multiply_vectors},
    {NULL, NULL, NULL, NULL},
};
