/* The loops of an iteration of `rank`: gossamer/links/rank/kernels.py has the definitions. */

#include <math.h>

#include "loops.h"

static const char NOT_INSIDE[] = "rows that are not inside their arrays";
static const char NO_NODE[] = "a node or a vote that does not exist";

static inline uint64_t place_at(const void *places, int64_t n, bool is_wide)
{
    return is_wide ? ((const uint64_t *)places)[n] : ((const uint32_t *)places)[n];
}

FOR_WIDER_REGISTERS static uint64_t largest_place(const uint32_t *places, int64_t count)
{
    uint32_t largest = 0;
    for (int64_t n = 0; n < count; n++)
        largest = places[n] > largest ? places[n] : largest;
    return largest;
}

/* Looked at once per iteration, so it has to be fast. */
static bool are_votes(
    const void *places, int64_t begin, int64_t end, int64_t votes, bool is_wide)
{
    if (begin >= end)
        return true;
    if (!is_wide)
        return largest_place((const uint32_t *)places + begin, end - begin) < (uint64_t)votes;
    bool exist = true;
    for (int64_t n = begin; n < end; n++)
        exist &= place_at(places, n, true) < (uint64_t)votes;
    return exist;
}

enum { LENGTHS = 256 }; /* by which rows are ordered: this many, less one, and all that are longer */

static const char *address_votes(const Value *given, Found *found)
{
    (void)found;
    int64_t first = given[0].number, beyond = given[4].number;
    Numbers starts = numbers_of(given[1]), sources = numbers_of(given[2]);
    const int32_t *domains = given[3].data;
    uint32_t *counts = given[5].data;
    void *links = given[6].data;
    bool is_wide = given[6].is_wide;
    uint16_t *order = given[7].data;
    int64_t rows = given[7].size, nodes = given[3].size;
    if (!are_starts(starts, sources.size) || starts.at[0] != 0 || starts.size != rows + 1 ||
        rows > 1 << 16 || given[5].size != rows || given[6].size != starts.at[rows])
        return NOT_INSIDE;
    if (first < 0 || first > nodes - rows || beyond < 0 || beyond > INT64_MAX / 4 ||
        (!is_wide && nodes + beyond > (INT64_C(1) << 32)) ||
        !are_places(sources.at, sources.size, nodes, true))
        return NO_NODE;
    int64_t begins[LENGTHS + 1] = {0};
    for (int64_t row = 0; row < rows; row++)
        begins[least(starts.at[row + 1] - starts.at[row], LENGTHS - 1) + 1]++;
    for (int length = 1; length <= LENGTHS; length++)
        begins[length] += begins[length - 1];
    for (int64_t row = 0; row < rows; row++)
        order[begins[least(starts.at[row + 1] - starts.at[row], LENGTHS - 1)]++] = (uint16_t)row;
    int64_t at = 0;
    for (int64_t n = 0; n < rows; n++) {
        int64_t row = order[n];
        int32_t domain = domains[first + row];
        counts[n] = (uint32_t)(starts.at[row + 1] - starts.at[row]);
        for (int64_t link = starts.at[row]; link < starts.at[row + 1]; link++) {
            int64_t source = sources.at[link];
            int64_t place = domains[source] == domain ? source : source + beyond;
            if (is_wide)
                ((uint64_t *)links)[at++] = (uint64_t)place;
            else
                ((uint32_t *)links)[at++] = (uint32_t)place;
        }
    }
    return NULL;
}

static const char *count_votes(const Value *given, Found *found)
{
    (void)found;
    const void *links = given[0].data;
    int32_t *counts = given[1].data;
    int64_t size = given[0].size;
    if (!are_votes(links, 0, size, given[1].size, given[0].is_wide))
        return NO_NODE;
    if (given[0].is_wide)
        for (int64_t n = 0; n < size; n++)
            counts[place_at(links, n, true)]++;
    else
        for (int64_t n = 0; n < size; n++)
            counts[place_at(links, n, false)]++;
    return NULL;
}

/* Add up the votes for the nodes of a chunk, and add all to a total. */
static inline double pull(
    double total, const uint32_t *counts, const void *links, const uint16_t *order, int64_t size,
    const double *votes, double *received, bool is_wide)
{
    int64_t at = 0;
    for (int64_t n = 0; n < size; n++) {
        double of_row = 0.0;
        for (int64_t end = at + counts[n]; at < end; at++)
            of_row += votes[place_at(links, at, is_wide)];
        received[order[n]] = of_row;
        total += of_row;
    }
    return total;
}

static const char *pull_votes(const Value *given, Found *found)
{
    int64_t chunk = given[0].number, rows = given[1].size, begin = 0;
    const uint32_t *counts = given[1].data;
    const char *links = given[2].data;
    bool is_wide = given[2].is_wide;
    const uint16_t *order = given[3].data;
    double *received = given[5].data;
    if (chunk < 1 || given[3].size != rows || given[5].size != rows)
        return NOT_INSIDE;
    for (int64_t first = 0; first < rows; first += chunk) {
        int64_t size = least(chunk, rows - first), end = begin;
        bool is_inside = true;
        for (int64_t n = first; n < first + size; n++) {
            end += counts[n];
            is_inside &= order[n] < size;
        }
        if (!is_inside || end > given[2].size)
            return NOT_INSIDE;
        if (!are_votes(links, begin, end, given[4].size, is_wide))
            return NO_NODE;
        found->real = is_wide ? pull(found->real, counts + first, links + 8 * begin, order + first,
                                     size, given[4].data, received + first, true)
                              : pull(found->real, counts + first, links + 4 * begin, order + first,
                                     size, given[4].data, received + first, false);
        begin = end;
    }
    return NULL;
}

/* The sums below may be in any order (-fopenmp-simd), so a processor adds up several at once. */

typedef struct {
    double *received, *within, *beyond;
    const double *ranks, *preference, *inner, *outer;
    double damping, spread;
} Move;

FOR_WIDER_REGISTERS static double move(Move of, int64_t size)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t node = 0; node < size; node++) {
        double rank = of.damping * of.received[node] + of.spread * of.preference[node];
        total += fabs(rank - of.ranks[node]);
        of.received[node] = rank;
        of.within[node] = of.inner[node] * rank;
        of.beyond[node] = of.outer[node] * rank;
    }
    return total;
}

static const char *move_ranks(const Value *given, Found *found)
{
    const Move of = {given[0].data, given[7].data, given[8].data, given[1].data, given[2].data,
                     given[5].data, given[6].data, given[3].real, given[4].real};
    for (int n = 1; n < 9; n++)
        if (n != 3 && n != 4 && given[n].size != given[0].size)
            return NOT_INSIDE;
    found->real = move(of, given[0].size);
    return NULL;
}

enum { KEPT = 4, BLOCK = 1024 }; /* as in extrapolation.py; nodes that fit into the first cache */

FOR_WIDER_REGISTERS static double product(const double *ours, const double *theirs, int64_t size)
{
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t n = 0; n < size; n++)
        total += ours[n] * theirs[n];
    return total;
}

static bool are_equally_long(const Value *given, int count)
{
    for (int n = 1; n < count; n++)
        if (given[n].size != given[0].size)
            return false;
    return true;
}

static const char *multiply_changes(const Value *given, Found *found)
{
    (void)found;
    double *products = given[KEPT + 1].data, changes[KEPT][BLOCK];
    if (!are_equally_long(given, KEPT + 1) || given[KEPT + 1].size != KEPT * KEPT)
        return NOT_INSIDE;
    for (int64_t first = 0; first < given[0].size; first += BLOCK) {
        int64_t size = least(BLOCK, given[0].size - first);
        for (int n = 0; n < KEPT; n++) {
            const double *newer = given[n].data, *older = given[n + 1].data;
            for (int64_t node = 0; node < size; node++)
                changes[n][node] = newer[first + node] - older[first + node];
        }
        for (int n = 0; n < KEPT; n++)
            for (int other = 0; other <= n; other++) {
                products[n * KEPT + other] += product(changes[n], changes[other], size);
                products[other * KEPT + n] = products[n * KEPT + other];
            }
    }
    return NULL;
}

static const char *combine_ranks(const Value *given, Found *found)
{
    (void)found;
    const double *one = given[0].data, *two = given[1].data, *three = given[2].data;
    const double *four = given[3].data, *weights = given[KEPT + 1].data;
    double *into = given[KEPT].data;
    if (!are_equally_long(given, KEPT + 1) || given[KEPT + 1].size != KEPT)
        return NOT_INSIDE;
    for (int64_t node = 0; node < given[0].size; node++)
        into[node] = weights[0] * one[node] + weights[1] * two[node] + weights[2] * three[node] +
                     weights[3] * four[node];
    return NULL;
}

const Loop RANK_LOOPS[] = {
    {"address_votes", "iNNniC+P+H+", "", address_votes},
    {"count_votes", "Pn+", "", count_votes},
    {"pull_votes", "iCPHDD+", "f", pull_votes},
    {"move_ranks", "D+DDffDDD+D+", "f", move_ranks},
    {"multiply_changes", "DDDDDD+", "", multiply_changes},
    {"combine_ranks", "DDDDD+D", "", combine_ranks},
    {NULL, NULL, NULL, NULL},
};
