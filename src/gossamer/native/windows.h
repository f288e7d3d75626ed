/* Rows of a part of a graph: gossamer/links/graph/row_windows.py.

   Numbers of nodes have 32 bits or 64, so each loop over them is compiled twice. */

#ifndef GOSSAMER_WINDOWS_H
#define GOSSAMER_WINDOWS_H

#include "loops.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static const char NOT_INSIDE[] = "rows that are not inside their arrays";
static const char NO_NODE[] = "a node that does not exist";

/* Rows of the nodes from `first` on. */
typedef struct {
    int64_t first;
    Numbers starts;
    const void *targets;
} Window;

/* Three arguments as a window of a graph; NULL, or what is wrong with it. There may be a window per
   row, so what has an item per node is not looked at: a node is checked by its row (find_row). */
static inline const char *get_window(const Value *given, int64_t nodes, Window *window)
{
    *window = (Window){given[0].number, numbers_of(given[1]), given[2].data};
    if (!are_starts(window->starts, given[2].size))
        return NOT_INSIDE;
    if (window->first < 0 || window->first > nodes - (window->starts.size - 1))
        return NO_NODE;
    bool are_nodes = are_places(given[2].data, given[2].size, nodes, given[2].is_wide);
    return are_nodes ? NULL : NO_NODE;
}

/* Where the row of a node begins and ends; false if it is not in the window. */
static inline bool find_row(const Window *window, int64_t node, int64_t *begin, int64_t *end)
{
    int64_t row = node - window->first;
    if (row < 0 || row >= window->starts.size - 1)
        return false;
    *begin = window->starts.at[row];
    *end = window->starts.at[row + 1];
    return true;
}

#endif
