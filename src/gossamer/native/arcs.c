/* Rows of arcs: gossamer/links/graph/ has the definitions in Python (arc_sorting.py, arc_rows.py,
   hosts.py and overlay.py).

   The arcs of row n lead to the nodes from targets[starts[n]] to before targets[starts[n + 1]]. */

#include "loops.h"

static const char NOT_INSIDE[] = "rows that are not inside their arrays";
static const char NO_ROOM[] = "more arcs than there is room for";
static const char NO_NODE[] = "a node that does not exist";

/* ---- arc_sorting.py ---- */

/* Where rows begin that have an arc for each time that they are among `ends`. */
static void count_into_starts(const int32_t *ends, int64_t count, Numbers starts)
{
    memset(starts.at, 0, (size_t)starts.size * 8);
    for (int64_t n = 0; n < count; n++)
        starts.at[ends[n] + 1]++;
    for (int64_t row = 1; row < starts.size; row++)
        starts.at[row] += starts.at[row - 1];
}

static void transpose(
    Numbers starts, const int32_t *targets, int64_t *free_places, int32_t *sources)
{
    for (int64_t row = 0; row < starts.size - 1; row++)
        for (int64_t n = starts.at[row]; n < starts.at[row + 1]; n++)
            sources[free_places[targets[n]]++] = (int32_t)row;
}

static const char *fill_transposed(const Value *given, Found *found)
{
    (void)found;
    Numbers starts = numbers_of(given[0]), begins = numbers_of(given[2]);
    int64_t count = given[1].size, nodes = starts.size - 1;
    if (!are_starts(starts, count) || starts.at[0] != 0 || starts.at[nodes] != count ||
        begins.size != starts.size || given[3].size != count)
        return NOT_INSIDE;
    if (!are_places(given[1].data, count, nodes, false))
        return NO_NODE;
    int64_t *free_places = new_items(nodes);
    if (free_places == NULL)
        return NO_MEMORY;
    count_into_starts(given[1].data, count, begins);
    memcpy(free_places, begins.at, (size_t)nodes * 8);
    transpose(starts, given[1].data, free_places, given[3].data);
    free(free_places);
    return NULL;
}

static int64_t drop_repeats(Numbers starts, int32_t *targets)
{
    int64_t at = 0, begin = 0;
    for (int64_t row = 0; row < starts.size - 1; row++) {
        int64_t first = at, end = starts.at[row + 1];
        for (int64_t n = begin; n < end; n++)
            if (at == first || targets[at - 1] != targets[n])
                targets[at++] = targets[n];
        begin = end;
        starts.at[row + 1] = at;
    }
    return at;
}

static const char *fill_rows_of_arcs(const Value *given, Found *found)
{
    const int32_t *sources = given[0].data, *targets = given[1].data;
    int64_t count = given[0].size;
    Numbers starts = numbers_of(given[2]);
    int64_t nodes = starts.size - 1;
    if (nodes < 0 || given[1].size != count || given[3].size != count)
        return NOT_INSIDE;
    if (!are_places(sources, count, nodes, false) || !are_places(targets, count, nodes, false))
        return NO_NODE;
    Numbers by_target = {new_items(nodes + 1), nodes + 1};
    int64_t *free_places = new_items(nodes);
    int32_t *listed = new_items(count);
    bool has_memory = by_target.at != NULL && free_places != NULL && listed != NULL;
    if (has_memory) {
        count_into_starts(targets, count, by_target);
        memcpy(free_places, by_target.at, (size_t)nodes * 8);
        for (int64_t n = 0; n < count; n++)
            listed[free_places[targets[n]]++] = sources[n];
        count_into_starts(sources, count, starts);
        memcpy(free_places, starts.at, (size_t)nodes * 8);
        transpose(by_target, listed, free_places, given[3].data);
        found->numbers[0] = drop_repeats(starts, given[3].data);
    }
    free(by_target.at);
    free(free_places);
    free(listed);
    return has_memory ? NULL : NO_MEMORY;
}

/* ---- arc_rows.py ---- */

static const char *copy_rows(const Value *given, Found *found)
{
    (void)found;
    Numbers rows = numbers_of(given[0]), starts = numbers_of(given[1]);
    Numbers targets = numbers_of(given[2]), links = numbers_of(given[3]);
    Numbers places = numbers_of(given[4]), into = numbers_of(given[5]);
    Numbers links_into = numbers_of(given[6]);
    if (starts.size != rows.size + 1 || !are_starts(starts, targets.size) ||
        (links_into.size && (links.size < targets.size || links_into.size < into.size)))
        return NOT_INSIDE;
    if (!are_places(rows.at, rows.size, places.size, true))
        return NO_NODE;
    for (int64_t n = 0; n < rows.size; n++) {
        int64_t at = places.at[rows.at[n]], begin = starts.at[n];
        int64_t size = starts.at[n + 1] - begin;
        if (at < 0 || at > into.size - size)
            return NO_ROOM;
        memcpy(into.at + at, targets.at + begin, (size_t)size * 8);
        if (links_into.size)
            memcpy(links_into.at + at, links.at + begin, (size_t)size * 8);
        places.at[rows.at[n]] = at + size;
    }
    return NULL;
}

/* The end of the ascending run that begins at a place. */
static int64_t run_end(const int64_t *keys, int64_t begin, int64_t size)
{
    int64_t end = begin + 1;
    while (end < size && keys[end - 1] <= keys[end])
        end++;
    return least(end, size);
}

/* Sort by keys, with values beside them unless these are NULL. `spare` has room for all of both.

   Rows consist of a few runs that ascend, so runs are merged in pairs until there is one: the
   natural merge sort of Knuth, The Art of Computer Programming 3, 5.2.4. */
void sort_pairs(int64_t *keys, int64_t *values, int64_t size, int64_t *spare)
{
    for (bool is_sorted = false; !is_sorted;) {
        is_sorted = true;
        for (int64_t begin = 0; begin < size;) {
            int64_t middle = run_end(keys, begin, size);
            if (middle == size)
                break;
            is_sorted = false;
            int64_t end = run_end(keys, middle, size), i = 0, j = middle, at = begin;
            int64_t left = middle - begin;
            memcpy(spare, keys + begin, (size_t)left * 8);
            if (values != NULL)
                memcpy(spare + size, values + begin, (size_t)left * 8);
            while (i < left) {
                bool is_right = j < end && keys[j] < spare[i];
                keys[at] = is_right ? keys[j] : spare[i];
                if (values != NULL)
                    values[at] = is_right ? values[j] : spare[size + i];
                at++;
                i += !is_right;
                j += is_right;
            }
            begin = end;
        }
    }
}

static const char *sort_rows(const Value *given, Found *found)
{
    (void)found;
    Numbers starts = numbers_of(given[0]), targets = numbers_of(given[1]);
    Numbers links = numbers_of(given[2]);
    if (!are_starts(starts, targets.size) || starts.at[0] != 0 ||
        (links.size && links.size < targets.size))
        return NOT_INSIDE;
    int64_t longest = 0;
    for (int64_t row = 0; row < starts.size - 1; row++)
        longest = largest(longest, starts.at[row + 1] - starts.at[row]);
    int64_t *spare = new_items(2 * longest);
    if (spare == NULL)
        return NO_MEMORY;
    int64_t at = 0, begin = 0;
    for (int64_t row = 0; row < starts.size - 1; row++) {
        int64_t end = starts.at[row + 1], first = at;
        sort_pairs(targets.at + begin, links.size ? links.at + begin : NULL, end - begin, spare);
        for (int64_t n = begin; n < end; n++) {
            if (at > first && targets.at[at - 1] == targets.at[n]) {
                if (links.size)
                    links.at[at - 1] += links.at[n];
                continue;
            }
            targets.at[at] = targets.at[n];
            if (links.size)
                links.at[at] = links.at[n];
            at++;
        }
        begin = end;
        starts.at[row + 1] = at;
    }
    free(spare);
    return NULL;
}

/* ---- hosts.py ---- */

/* The host of a page: the last one whose first page is not after it. */
static int64_t host_of(Numbers first_pages, int64_t page)
{
    int64_t low = 0, high = first_pages.size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (first_pages.at[middle] <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

static const char *fill_host_arcs(const Value *given, Found *found)
{
    Numbers starts = numbers_of(given[0]), targets = numbers_of(given[1]);
    Numbers first_pages = numbers_of(given[2]);
    int64_t first = given[3].number, rows = starts.size - 1, hosts = first_pages.size - 1;
    int64_t *sources = given[4].data, *ends = given[5].data, *links = given[6].data;
    int64_t room = least(given[4].size, least(given[5].size, given[6].size));
    if (!are_starts(starts, targets.size) || hosts < 0 || first_pages.at[0] != 0 ||
        !are_starts(first_pages, INT64_MAX))
        return NOT_INSIDE;
    int64_t pages = first_pages.at[hosts];
    if (first < 0 || first > pages - rows || !are_places(targets.at, targets.size, pages, true))
        return NO_NODE;
    int64_t *counts = new_zeros(hosts), *met = new_items(hosts), *spare = new_items(2 * hosts);
    bool has_memory = counts != NULL && met != NULL && spare != NULL, has_room = true;
    int64_t size = 0;
    for (int64_t begin = 0; begin < rows && has_memory && has_room;) {
        int64_t ours = host_of(first_pages, first + begin), theirs = ours, many = 0;
        int64_t end = least(first_pages.at[ours + 1] - first, rows);
        for (int64_t n = starts.at[begin]; n < starts.at[end]; n++) {
            int64_t target = targets.at[n];
            if (target < first_pages.at[theirs] || target >= first_pages.at[theirs + 1])
                theirs = host_of(first_pages, target);
            if (!counts[theirs])
                met[many++] = theirs;
            counts[theirs]++;
        }
        sort_pairs(met, NULL, many, spare);
        has_room = many <= room - size;
        for (int64_t n = 0; n < many && has_room; n++) {
            if (met[n] != ours) {
                sources[size] = ours;
                ends[size] = met[n];
                links[size++] = counts[met[n]];
            }
            counts[met[n]] = 0;
        }
        begin = end;
    }
    free(counts);
    free(met);
    free(spare);
    found->numbers[0] = size;
    return !has_memory ? NO_MEMORY : has_room ? NULL : NO_ROOM;
}

/* ---- overlay.py ---- */

static const char *fill_changed_rows(const Value *given, Found *found)
{
    Numbers starts = numbers_of(given[0]), targets = numbers_of(given[1]);
    int64_t first = given[2].number;
    Numbers sources = numbers_of(given[3]), changed = numbers_of(given[4]);
    Numbers ends = numbers_of(given[5]), merged = numbers_of(given[6]);
    if (!are_starts(starts, targets.size) || first < 0 || first > INT64_MAX / 4 ||
        ends.size != starts.size || sources.size != changed.size ||
        merged.size != targets.size + changed.size)
        return NOT_INSIDE;
    int64_t count = 0, change = 0;
    ends.at[0] = 0;
    for (int64_t row = 0; row < starts.size - 1; row++) {
        int64_t at = starts.at[row], end = starts.at[row + 1];
        for (; change < changed.size && sources.at[change] <= first + row; change++) {
            int64_t value = changed.at[change], target = value >= 0 ? value : ~value;
            while (at < end && targets.at[at] < target)
                merged.at[count++] = targets.at[at++];
            if (value >= 0)
                merged.at[count++] = target;
            else if (at < end && targets.at[at] == target)
                at++;
        }
        memcpy(merged.at + count, targets.at + at, (size_t)(end - at) * 8);
        count += end - at;
        ends.at[row + 1] = count;
    }
    found->numbers[0] = count;
    return NULL;
}

const Loop ARC_LOOPS[] = {
    {"fill_transposed", "NnN+n+", "", fill_transposed},
    {"fill_rows_of_arcs", "nnN+n+", "i", fill_rows_of_arcs},
    {"copy_rows", "NNNNN+N+N+", "", copy_rows},
    {"sort_rows", "N+N+N+", "", sort_rows},
    {"fill_host_arcs", "NNNiN+N+N+", "i", fill_host_arcs},
    {"fill_changed_rows", "NNiNNN+N+", "i", fill_changed_rows},
    {NULL, NULL, NULL, NULL},
};
