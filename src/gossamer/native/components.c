/* What hangs together: gossamer/links/graph/components.py has the definitions in Python, and
   gossamer/schedule/focus/generated_rules/reachability_proof.py that of `mark_reached`. */

#include "windows.h"

/* ---- components.py ---- */

enum { NONE = -1, UNLISTED = -2 };

/* The state of a search: arrays that only the loops here write. */
typedef struct {
    int64_t nodes;
    void *low, *above, *below, *parent;
    uint8_t *heads;
} Search;

ALWAYS_INLINE void put_on_top(const Search *state, int64_t node, int64_t top, bool is_wide)
{
    int64_t higher = item(state->above, node, is_wide);
    if (higher != UNLISTED) { /* another node is above it */
        int64_t lower = item(state->below, node, is_wide);
        set_item(state->below, higher, lower, is_wide);
        if (lower != NONE)
            set_item(state->above, lower, higher, is_wide);
    }
    set_item(state->above, node, NONE, is_wide);
    set_item(state->below, node, top, is_wide);
    set_item(state->above, top, node, is_wide);
}

ALWAYS_INLINE int64_t visit_node(
    const Search *state, int64_t node, const void *targets, int64_t begin, int64_t end,
    bool is_wide)
{
    int64_t top = node;
    for (int64_t n = begin; n < end; n++) {
        int64_t target = item(targets, n, is_wide), low = item(state->low, target, is_wide);
        if (low == 0 && target != top) {
            put_on_top(state, target, top, is_wide);
            set_item(state->parent, target, node, is_wide);
            top = target;
        } else if (0 < low && low < item(state->low, node, is_wide)) {
            set_item(state->low, node, low, is_wide);
            state->heads[node] = false;
        }
    }
    return top;
}

ALWAYS_INLINE int64_t complete_component(
    const Search *state, int64_t head, int64_t left, int64_t component, bool is_wide)
{
    int64_t low = item(state->low, head, is_wide);
    while (left != NONE && item(state->low, left, is_wide) >= low) {
        int64_t following = item(state->below, left, is_wide);
        set_item(state->low, left, -1 - component, is_wide);
        left = following;
    }
    set_item(state->low, head, -1 - component, is_wide);
    return left;
}

ALWAYS_INLINE int64_t search_on(
    const Search *state, const Window *window, int64_t *counters, bool is_wide)
{
    int64_t index = counters[0], top = counters[1], left = counters[2], count = counters[3];
    int64_t start = counters[4];
    for (;;) {
        if (top == NONE) {
            while (start < state->nodes && item(state->low, start, is_wide) != 0)
                start++;
            if (start == state->nodes)
                return NONE;
            top = start;
            set_item(state->above, top, NONE, is_wide);
            set_item(state->below, top, NONE, is_wide);
            set_item(state->parent, top, NONE, is_wide);
        }
        int64_t node = top, begin, end;
        if (item(state->low, node, is_wide) == 0) {
            if (!find_row(window, node, &begin, &end)) {
                const int64_t stopped[] = {index, top, left, count, start};
                memcpy(counters, stopped, sizeof stopped);
                return node;
            }
            set_item(state->low, node, ++index, is_wide);
            state->heads[node] = true;
            top = visit_node(state, node, window->targets, begin, end, is_wide);
            continue;
        }
        top = item(state->below, node, is_wide);
        if (top != NONE)
            set_item(state->above, top, NONE, is_wide);
        if (state->heads[node]) {
            left = complete_component(state, node, left, count, is_wide);
            count++;
        } else {
            set_item(state->below, node, left, is_wide);
            left = node;
            int64_t before = item(state->parent, node, is_wide);
            if (item(state->low, node, is_wide) < item(state->low, before, is_wide)) {
                set_item(state->low, before, item(state->low, node, is_wide), is_wide);
                state->heads[before] = false;
            }
        }
    }
}

static const char *search_components(const Value *given, Found *found)
{
    int64_t nodes = given[3].size, *counters = given[8].data;
    Search state = {
        nodes, given[3].data, given[4].data, given[5].data, given[6].data, given[7].data};
    Window window;
    const char *wrong = get_window(given, nodes, &window);
    if (wrong != NULL)
        return wrong;
    for (int n = 4; n < 8; n++)
        if (given[n].size != nodes)
            return NOT_INSIDE;
    if (given[8].size != 5 || counters[1] < NONE || counters[1] >= nodes ||
        counters[2] < NONE || counters[2] >= nodes || counters[4] < 0 || counters[4] > nodes)
        return NO_NODE;
    found->numbers[0] = given[3].is_wide ? search_on(&state, &window, counters, true)
                                         : search_on(&state, &window, counters, false);
    return NULL;
}

/* The root of a set; paths to it are halved on the way. */
ALWAYS_INLINE int64_t find_root(void *parents, int64_t node, bool is_wide)
{
    for (int64_t parent; (parent = item(parents, node, is_wide)) != node;) {
        int64_t next = item(parents, parent, is_wide);
        set_item(parents, node, next, is_wide);
        node = next;
    }
    return node;
}

ALWAYS_INLINE void unite_sets(const Window *window, void *parents, bool is_wide)
{
    for (int64_t row = 0; row < window->starts.size - 1; row++)
        for (int64_t n = window->starts.at[row]; n < window->starts.at[row + 1]; n++) {
            int64_t one = find_root(parents, window->first + row, is_wide);
            int64_t other = find_root(parents, item(window->targets, n, true), is_wide);
            set_item(parents, largest(one, other), least(one, other), is_wide);
        }
}

static const char *unite_linked_sets(const Value *given, Found *found)
{
    (void)found;
    int64_t nodes = given[3].size;
    Window window;
    const char *wrong = get_window(given, nodes, &window);
    if (wrong != NULL)
        return wrong;
    if (given[3].is_wide)
        unite_sets(&window, given[3].data, true);
    else
        unite_sets(&window, given[3].data, false);
    return NULL;
}

typedef struct {
    Numbers order;
    const void *numbers;
    uint8_t *marks, spread;
    bool is_along;
} Marking;

ALWAYS_INLINE int64_t spread_marks(
    const Window *window, const Marking *marking, int64_t at, bool is_wide)
{
    uint8_t *marks = marking->marks;
    for (int64_t begin, end; at < marking->order.size; at++) {
        int64_t node = marking->order.at[at];
        if (!find_row(window, node, &begin, &end))
            break;
        int64_t source = item(marking->numbers, node, is_wide);
        for (int64_t n = begin; n < end; n++) {
            int64_t target = item(marking->numbers, item(window->targets, n, is_wide), is_wide);
            if (marking->is_along)
                marks[target] |= marks[source] & marking->spread;
            else
                marks[source] |= marks[target] & marking->spread;
        }
    }
    return at;
}

static const char *spread_component_marks(const Value *given, Found *found)
{
    int64_t nodes = given[5].size, at = given[4].number;
    Marking marking = {numbers_of(given[3]), given[5].data, given[6].data,
                       (uint8_t)given[7].number, given[8].number != 0};
    Window window;
    const char *wrong = get_window(given, nodes, &window);
    if (wrong != NULL)
        return wrong;
    if (at < 0)
        return NO_NODE;
    found->numbers[0] = given[5].is_wide ? spread_marks(&window, &marking, at, true)
                                         : spread_marks(&window, &marking, at, false);
    return NULL;
}

/* ---- reachability_proof.py ---- */

static const char *mark_reached(const Value *given, Found *found)
{
    (void)found;
    Numbers rows = numbers_of(given[0]), targets = numbers_of(given[1]);
    Numbers from = numbers_of(given[2]);
    const uint8_t *refused = given[3].data;
    uint8_t *reached = given[4].data;
    int64_t nodes = given[4].size, count = 0;
    if (!are_starts(rows, targets.size) || rows.size != nodes + 1 || given[3].size != nodes)
        return NOT_INSIDE;
    if (!are_places(targets.at, targets.size, nodes, true) ||
        !are_places(from.at, from.size, nodes, true))
        return NO_NODE;
    int64_t *waiting = new_items(nodes);
    if (waiting == NULL)
        return NO_MEMORY;
    for (int64_t n = 0; n < from.size; n++) {
        int64_t node = from.at[n];
        if (!refused[node] && !reached[node]) {
            reached[node] = true;
            waiting[count++] = node;
        }
    }
    while (count) {
        int64_t node = waiting[--count];
        for (int64_t n = rows.at[node]; n < rows.at[node + 1]; n++) {
            int64_t target = targets.at[n];
            if (!refused[target] && !reached[target]) {
                reached[target] = true;
                waiting[count++] = target;
            }
        }
    }
    free(waiting);
    return NULL;
}

const Loop COMPONENT_LOOPS[] = {
    {"search_components", "iNXX+X+X+X+b+N+", "i", search_components},
    {"unite_linked_sets", "iNNX+", "", unite_linked_sets},
    {"spread_component_marks", "iNXNiXB+ii", "i", spread_component_marks},
    {"mark_reached", "NNNbb+", "", mark_reached},
    {NULL, NULL, NULL, NULL},
};
