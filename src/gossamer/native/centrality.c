/* How near nodes are to all others: gossamer/links/graph/ has the definitions in Python
   (centrality.py and hyperball.py). */

#include "windows.h"

/* ---- centrality.py ---- */

enum { SOURCES = 64 };

typedef struct {
    uint64_t *seen, *fresh, *found;
    int64_t *here, *there;
} Frontier;

ALWAYS_INLINE int64_t follow_links(
    const Window *window, const Frontier *state, int64_t count, bool is_wide)
{
    int64_t met = 0;
    for (int64_t n = 0; n < count; n++) {
        int64_t node = state->here[n];
        for (int64_t at = window->starts.at[node]; at < window->starts.at[node + 1]; at++) {
            int64_t target = item(window->targets, at, is_wide);
            uint64_t more = state->fresh[node] & ~state->seen[target];
            if (more) {
                if (!state->found[target])
                    state->there[met++] = target;
                state->found[target] |= more;
            }
        }
    }
    return met;
}

static const char *search_from(const Value *given, Found *found)
{
    (void)found;
    int64_t nodes = given[4].size, begin = given[2].number, end = given[3].number;
    double *values = given[4].data;
    const Value rows[] = {{.number = 0}, given[0], given[1]};
    Window window;
    const char *wrong = get_window(rows, nodes, &window);
    if (wrong != NULL)
        return wrong;
    if (window.starts.size != nodes + 1 || begin < 0 || end > nodes)
        return NO_NODE;
    Frontier state = {new_zeros(nodes), new_zeros(nodes), new_zeros(nodes), new_items(nodes),
                      new_items(nodes)};
    bool has_memory = state.seen != NULL && state.fresh != NULL && state.found != NULL &&
                      state.here != NULL && state.there != NULL;
    for (int64_t first = begin; first < end && has_memory; first += SOURCES) {
        memset(state.seen, 0, (size_t)nodes * 8);
        int64_t count = least(SOURCES, end - first);
        for (int64_t source = 0; source < count; source++) {
            int64_t node = state.here[source] = first + source;
            state.seen[node] = state.fresh[node] = UINT64_C(1) << source;
        }
        for (int64_t steps = 1; count; steps++) {
            int64_t met = given[1].is_wide ? follow_links(&window, &state, count, true)
                                           : follow_links(&window, &state, count, false);
            for (int64_t n = 0; n < count; n++)
                state.fresh[state.here[n]] = 0;
            for (int64_t n = 0; n < met; n++) {
                int64_t node = state.there[n];
                uint64_t reached = state.found[node];
                state.fresh[node] = reached;
                state.seen[node] |= reached;
                values[node] += (double)__builtin_popcountll(reached) / (double)steps;
                state.found[node] = 0;
            }
            int64_t *swapped = state.here;
            state.here = state.there;
            state.there = swapped;
            count = met;
        }
    }
    free(state.seen);
    free(state.fresh);
    free(state.found);
    free(state.here);
    free(state.there);
    return has_memory ? NULL : NO_MEMORY;
}

/* ---- hyperball.py ---- */

enum { FIELDS = 12, BITS = 5, MOST = 31 };
static const uint64_t HIGH = UINT64_C(0x0842108421084210); /* the highest bit of each register */

/* The first of sorted items that is not smaller. */
ALWAYS_INLINE int64_t place_of(
    const void *items, int64_t low, int64_t high, int64_t wanted, bool is_wide)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (item(items, middle, is_wide) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef struct {
    int64_t words; /* of a counter */
    const uint64_t *counters;
    uint64_t *grown;
    uint8_t *is_met;
    int64_t begin, end; /* the nodes whose counters are looked at */
    bool is_whole;
} Balls;

ALWAYS_INLINE int64_t unite(
    Window window, Numbers changed, int64_t at, Balls balls, bool is_wide)
{
    for (int64_t begin, end; at < changed.size; at++) {
        int64_t node = changed.at[at];
        if (!find_row(&window, node, &begin, &end))
            break;
        if (!balls.is_whole) {
            begin = place_of(window.targets, begin, end, balls.begin, is_wide);
            end = place_of(window.targets, begin, end, balls.end, is_wide);
        }
        const uint64_t *restrict ours = balls.counters + node * balls.words;
        for (int64_t n = begin; n < end; n++) {
            int64_t target = item(window.targets, n, is_wide);
            uint64_t *restrict theirs = balls.grown + target * balls.words;
            balls.is_met[target] = true;
            for (int64_t word = 0; word < balls.words; word++) {
                uint64_t x = ours[word], y = theirs[word];
                uint64_t less = ((((y | HIGH) - (x & ~HIGH)) | (x ^ y)) ^ (y | ~x)) & HIGH;
                uint64_t mask = (less << 1) - (less >> 4); /* where y < x */
                theirs[word] = (x & mask) | (y & ~mask);
            }
        }
    }
    return at;
}

FOR_WIDER_REGISTERS static int64_t unite_narrow(
    const Window *window, Numbers changed, int64_t at, const Balls *balls)
{
    return unite(*window, changed, at, *balls, false);
}

FOR_WIDER_REGISTERS static int64_t unite_wide(
    const Window *window, Numbers changed, int64_t at, const Balls *balls)
{
    return unite(*window, changed, at, *balls, true);
}

static const char *unite_counters(const Value *given, Found *found)
{
    Numbers changed = numbers_of(given[3]);
    int64_t at = given[4].number, nodes = given[7].size;
    int64_t begin = given[8].number, end = given[9].number;
    Window window;
    const char *wrong = get_window(given, nodes, &window);
    if (wrong != NULL)
        return wrong;
    if (at < 0 || given[5].size != given[6].size || (nodes && given[5].size % nodes) ||
        begin < 0 || begin > end || end > nodes)
        return NO_NODE;
    Balls balls = {nodes ? given[5].size / nodes : 0, given[5].data, given[6].data,
                   given[7].data, begin, end, begin == 0 && end == nodes};
    found->numbers[0] = given[2].is_wide ? unite_wide(&window, changed, at, &balls)
                                         : unite_narrow(&window, changed, at, &balls);
    return NULL;
}

/* `few`: the sizes of counters in which so many registers are zero. */
static double estimate_size(
    const uint64_t *counter, int64_t registers, const double *few, double alpha)
{
    int64_t zeros = 0;
    double total = 0.0, count = (double)registers;
    double parts[MOST + 1]; /* 1 / 2^n */
    for (int n = 0; n <= MOST; n++)
        parts[n] = 1.0 / (double)(UINT64_C(1) << n);
    for (int64_t first = 0; first < registers; first += FIELDS) {
        uint64_t word = *counter++;
        for (int64_t n = least(FIELDS, registers - first); n > 0; n--) {
            zeros += (word & MOST) == 0;
            total += parts[word & MOST];
            word >>= BITS;
        }
    }
    double size = alpha * count * count / total;
    if (size <= 2.5 * count && zeros)
        return few[zeros];
    return size;
}

static const char *take_over(const Value *given, Found *found)
{
    (void)found;
    Numbers met = numbers_of(given[0]);
    uint64_t *counters = given[1].data, *grown = given[2].data;
    double *sizes = given[3].data, *values = given[4].data, alpha = given[6].real;
    const double *few = given[5].data;
    int64_t nodes = given[3].size, registers = given[5].size - 1, steps = given[7].number;
    uint8_t *is_grown = given[8].data;
    int64_t words = nodes ? given[1].size / nodes : 0;
    if (given[2].size != given[1].size || given[4].size != nodes || given[8].size != met.size ||
        registers < 1 || (nodes && registers > words * FIELDS) ||
        !are_places(met.at, met.size, nodes, true))
        return NO_NODE;
    for (int64_t n = 0; n < met.size; n++) {
        int64_t node = met.at[n];
        size_t bytes = (size_t)words * 8;
        is_grown[n] = memcmp(counters + node * words, grown + node * words, bytes) != 0;
        if (is_grown[n]) {
            memcpy(counters + node * words, grown + node * words, bytes);
            double size = estimate_size(counters + node * words, registers, few, alpha);
            values[node] += (size - sizes[node]) / (double)steps;
            sizes[node] = size;
        }
    }
    return NULL;
}

const Loop CENTRALITY_LOOPS[] = {
    {"search_from", "NXiiD+", "", search_from},
    {"unite_counters", "iNXNiWW+b+ii", "i", unite_counters},
    {"take_over", "NW+WD+D+Dfib+", "", take_over},
    {NULL, NULL, NULL, NULL},
};
