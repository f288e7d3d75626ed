/* Bits become rows: gossamer/links/bvgraph/ has the format, and the definitions in Python
   (decoding.py, measuring.py and offsets.py).

   Bits of strangers are safe to read: what no writer makes gives the position BROKEN. */

#include "codes.h"

/* ---- decoding.py ---- */

static inline int64_t read_header(Words words, int64_t *at, int64_t window, int64_t *distance)
{
    int64_t degree = read_gamma(words, at);
    *distance = *at >= 0 && degree && window ? read_unary(words, at) : 0;
    return degree;
}

static int64_t copy_blocks(Words words, int64_t *at, Numbers reference, Numbers row)
{
    int64_t blocks = read_gamma(words, at), count = 0, begin = 0;
    for (int64_t block = 0; block <= blocks && *at >= 0; block++) {
        int64_t end = reference.size;
        if (block < blocks)
            end = begin + read_gamma(words, at) + (block > 0);
        if (*at < 0 || end > reference.size)
            break;
        if ((block & 1) == 0) {
            if (count + end - begin > row.size)
                break;
            memcpy(row.at + count, reference.at + begin, (size_t)(end - begin) * 8);
            count += end - begin;
        }
        if (block == blocks)
            return count;
        begin = end;
    }
    *at = BROKEN;
    return 0;
}

static int64_t read_intervals(
    Words words, int64_t *at, int64_t node, int64_t min_interval, Numbers found)
{
    int64_t intervals = read_gamma(words, at), count = 0, before = 0;
    for (int64_t interval = 0; interval < intervals && *at >= 0; interval++) {
        int64_t gap = read_gamma(words, at);
        int64_t length = *at >= 0 ? read_gamma(words, at) + min_interval : 0;
        int64_t start = interval ? before + gap + 1 : node + integer(gap);
        if (*at < 0 || start < 0 || start > MAX_NUMBER || length > found.size - count) {
            *at = BROKEN;
            break;
        }
        for (int64_t n = 0; n < length; n++)
            found.at[count++] = start + n;
        before = start + length;
    }
    return *at < 0 ? 0 : count;
}

static void merge_ascending(Numbers row, int64_t copied, Numbers intervals, Numbers residuals)
{
    int64_t i = copied - 1, j = intervals.size - 1, k = residuals.size - 1;
    for (int64_t at = row.size - 1; at >= 0; at--) {
        if (k >= 0 && (j < 0 || residuals.at[k] > intervals.at[j]) &&
            (i < 0 || residuals.at[k] > row.at[i]))
            row.at[at] = residuals.at[k--];
        else if (j >= 0 && (i < 0 || intervals.at[j] > row.at[i]))
            row.at[at] = intervals.at[j--];
        else if (j < 0 && k < 0)
            return;
        else
            row.at[at] = row.at[i--];
    }
}

/* `spare` has room for twice as many numbers as `row`. */
static int64_t decode_successors(
    Words words, int64_t at, int64_t node, Numbers reference, bool refers, const Shape *shape,
    Numbers row, int64_t *spare)
{
    int64_t copied = 0, intervals = 0;
    if (refers && row.size)
        copied = copy_blocks(words, &at, reference, row);
    int64_t left = row.size - copied;
    if (at >= 0 && left && shape->min_interval)
        intervals = read_intervals(words, &at, node, shape->min_interval, (Numbers){spare, left});
    if (at < 0 || !left)
        return at;
    Numbers residuals = {spare + left, left - intervals};
    int64_t value = 0;
    for (int64_t n = 0; n < residuals.size; n++) {
        int64_t gap = read_zeta(words, &at, shape->zeta);
        value = n ? value + gap + 1 : node + integer(gap);
        if (at < 0 || value < 0 || value > MAX_NUMBER)
            return BROKEN;
        residuals.at[n] = value;
    }
    merge_ascending(row, copied, (Numbers){spare, intervals}, residuals);
    return at;
}

/* Room for `size` numbers in `*spare`, which has `*room`. */
static bool make_room(int64_t **spare, int64_t *room, int64_t size)
{
    if (size <= *room && *spare != NULL)
        return true;
    free(*spare);
    *room = size + size / 2;
    *spare = new_items(*room);
    return *spare != NULL;
}

static const char *decode_rows(const Value *given, Found *found)
{
    Words words = words_of(given[0]);
    int64_t at = given[1].number, first = given[2].number, have = given[3].number;
    Numbers starts = numbers_of(given[4]), targets = numbers_of(given[5]);
    Shape shape;
    if (!get_shape(given + 6, &shape))
        return NO_SHAPE;
    if (at < 0 || first < 0 || first > MAX_NUMBER || have < 0 || have >= starts.size ||
        !are_starts((Numbers){starts.at, have + 1}, targets.size))
        return "rows that are not inside their array";
    int64_t *spare = NULL, room = 0;
    for (int64_t n = have; n < starts.size - 1 && at >= 0; n++) {
        int64_t distance, degree = read_header(words, &at, shape.window, &distance);
        int64_t begin = starts.at[n];
        if (at < 0 || distance > n || degree > targets.size - begin) {
            at = BROKEN;
            break;
        }
        if (!make_room(&spare, &room, 2 * degree))
            return NO_MEMORY;
        starts.at[n + 1] = begin + degree;
        int64_t other = starts.at[n - distance];
        Numbers reference = {targets.at + other, starts.at[n - distance + 1] - other};
        Numbers row = {targets.at + begin, degree};
        at = decode_successors(words, at, first + n, reference, distance > 0, &shape, row, spare);
    }
    free(spare);
    found->numbers[0] = at;
    return NULL;
}

/* ---- measuring.py ---- */

static int64_t count_copied(Words words, int64_t *at, int64_t of_reference)
{
    int64_t blocks = read_gamma(words, at), copied = 0, end = 0;
    for (int64_t block = 0; block < blocks && *at >= 0; block++) {
        int64_t run = read_gamma(words, at) + (block > 0);
        end += run;
        if (*at < 0 || end > of_reference) {
            *at = BROKEN;
            return 0;
        }
        if ((block & 1) == 0)
            copied += run;
    }
    return (blocks & 1) == 0 ? copied + of_reference - end : copied;
}

static int64_t row_end(
    Words words, int64_t at, int64_t degree, int64_t of_reference, bool refers, const Shape *shape)
{
    int64_t left = degree;
    if (refers && left)
        left -= count_copied(words, &at, of_reference);
    if (at >= 0 && left > 0 && shape->min_interval) {
        int64_t intervals = read_gamma(words, &at);
        for (int64_t n = 0; n < intervals && at >= 0; n++) {
            read_gamma(words, &at);
            int64_t length = at >= 0 ? read_gamma(words, &at) : 0;
            if (at < 0 || length > left - shape->min_interval)
                return BROKEN;
            left -= length + shape->min_interval;
        }
    }
    if (at < 0 || left < 0)
        return BROKEN;
    for (int64_t n = 0; n < left && at >= 0; n++)
        read_zeta(words, &at, shape->zeta);
    return at;
}

static const char *measure_rows(const Value *given, Found *found)
{
    Words words = words_of(given[0]);
    int64_t at = given[1].number, first = given[2].number, nodes = given[3].number, arcs = 0;
    Numbers recent = numbers_of(given[4]), lengths = numbers_of(given[5]);
    Shape shape;
    if (!get_shape(given + 6, &shape))
        return NO_SHAPE;
    if (at < 0 || first < 0 || first > MAX_NUMBER || nodes > MAX_NUMBER ||
        recent.size <= shape.window)
        return "no place for the last rows";
    found->numbers[0] = BROKEN;
    found->numbers[1] = 0;
    for (int64_t n = 0; n < lengths.size; n++) {
        int64_t node = first + n, begin = at, distance;
        int64_t degree = read_header(words, &at, shape.window, &distance);
        if (at < 0 || degree > nodes || distance > least(shape.window, node))
            return NULL;
        int64_t of_reference = distance ? recent.at[(node - distance) % recent.size] : 0;
        at = row_end(words, at, degree, of_reference, distance > 0, &shape);
        if (at < 0 || at > WORD_BITS * words.size)
            return NULL;
        recent.at[node % recent.size] = degree;
        lengths.at[n] = at - begin;
        arcs += degree;
    }
    found->numbers[0] = at;
    found->numbers[1] = arcs;
    return NULL;
}

/* ---- offsets.py ---- */

static const char *fill_samples(const Value *given, Found *found)
{
    (void)found;
    Words offsets = words_of(given[0]);
    int64_t nodes = given[1].number, step = given[2].number, last = given[3].number;
    Numbers samples = numbers_of(given[4]);
    if (nodes < 0 || step < 1 || last > MAX_NUMBER || samples.size != 2 * (nodes / step + 2))
        return "no place for the samples";
    int64_t at = 0, row = read_gamma(offsets, &at), end = WORD_BITS * offsets.size;
    int64_t *sample = samples.at;
    for (int64_t node = 0, wait = 0; node < nodes; node++, wait--) {
        if (wait == 0) {
            *sample++ = row;
            *sample++ = at;
            wait = step;
        }
        if (at < 0 || at > end || row > last) {
            row = BROKEN;
            break;
        }
        row += read_gamma(offsets, &at);
    }
    samples.at[samples.size - 2] = at < 0 || at > end ? BROKEN : row;
    samples.at[samples.size - 1] = at;
    return NULL;
}

/* A place in the offsets of a graph. */
typedef struct {
    Words offsets;
    int64_t row, at; /* the position of a row, and that of the code after it */
} Place;

static inline void advance(Place *place)
{
    int64_t length = read_gamma(place->offsets, &place->at);
    place->row = (int64_t)((uint64_t)place->row + (uint64_t)length);
}

/* The place of a node; false if the samples do not have it. */
static bool find_place(const Value *given, int64_t node, Place *place)
{
    Numbers samples = numbers_of(given[1]);
    int64_t step = given[2].number;
    if (step < 1 || node < 0 || node / step >= samples.size / 2)
        return false;
    int64_t *sample = samples.at + 2 * (node / step);
    *place = (Place){words_of(given[0]), sample[0], sample[1]};
    for (int64_t n = node % step; n > 0; n--)
        advance(place);
    return true;
}

static const char NO_NODE[] = "a node that the graph does not have";

static const char *row_offset(const Value *given, Found *found)
{
    Place place;
    if (!find_place(given, given[3].number, &place))
        return NO_NODE;
    found->numbers[0] = place.row;
    return NULL;
}

static const char *read_outdegrees(const Value *given, Found *found)
{
    (void)found;
    Words words = words_of(given[0]);
    Numbers degrees = numbers_of(given[5]);
    Place place;
    if (!find_place(given + 1, given[4].number, &place))
        return degrees.size ? NO_NODE : NULL;
    for (int64_t n = 0; n < degrees.size; n++) {
        int64_t at = place.row;
        degrees.at[n] = read_gamma(words, &at);
        if (at < 0)
            degrees.at[n] = BROKEN;
        advance(&place);
    }
    return NULL;
}

/* A row on the way to one that refers to it. */
typedef struct {
    int64_t node, degree, distance, at;
} Link;

typedef struct {
    Link *links;
    int64_t count, room;
    int64_t *rows[2], of_rows[2], *spare, of_spare;
} Chain;

static Link *add_link(Chain *chain)
{
    if (chain->count == chain->room) {
        int64_t room = 2 * chain->room + 4;
        Link *links = realloc(chain->links, (size_t)room * sizeof *links);
        if (links == NULL)
            return NULL;
        chain->links = links;
        chain->room = room;
    }
    return &chain->links[chain->count++];
}

/* Read the row of a node into `row`, which has its length, by way of those to which it refers. */
static const char *decode_chain(
    Words words, Chain *chain, const Shape *shape, Numbers row, int64_t *at)
{
    Numbers before = {NULL, 0};
    for (int64_t n = chain->count - 1; n >= 0; n--) {
        Link link = chain->links[n];
        int side = (int)(n & 1);
        if (!make_room(&chain->spare, &chain->of_spare, 2 * link.degree) ||
            (n && !make_room(&chain->rows[side], &chain->of_rows[side], link.degree)))
            return NO_MEMORY;
        Numbers found = n ? (Numbers){chain->rows[side], link.degree} : row;
        *at = decode_successors(
            words, link.at, link.node, before, link.distance > 0, shape, found, chain->spare);
        if (*at < 0)
            return NULL;
        before = found;
    }
    return NULL;
}

static const char *fill_rows(const Value *given, Found *found)
{
    Words words = words_of(given[0]);
    Numbers nodes = numbers_of(given[4]), starts = numbers_of(given[10]);
    Numbers targets = numbers_of(given[11]);
    int64_t most = given[5].number, done = given[9].number;
    Shape shape;
    if (!get_shape(given + 6, &shape))
        return NO_SHAPE;
    if (done < 0 || starts.size != nodes.size + 1 || done > nodes.size ||
        !are_starts((Numbers){starts.at, done + 1}, targets.size) || most > MAX_NUMBER)
        return "rows that are not inside their array";
    Chain chain = {0};
    const char *wrong = NULL;
    int64_t at = 0;
    for (; done < nodes.size && at >= 0 && wrong == NULL; done++) {
        int64_t node = nodes.at[done], begin = starts.at[done], distance;
        chain.count = 0;
        do {
            Place place;
            if (!find_place(given + 1, node, &place)) {
                wrong = NO_NODE;
                break;
            }
            at = place.row;
            int64_t degree = read_header(words, &at, shape.window, &distance);
            if (at < 0 || degree > most || distance > node) {
                at = BROKEN;
                break;
            }
            Link *link = add_link(&chain);
            if (link == NULL) {
                wrong = NO_MEMORY;
                break;
            }
            *link = (Link){node, degree, distance, at};
            node -= distance;
        } while (distance);
        if (at < 0 || wrong != NULL)
            break;
        int64_t degree = chain.links[0].degree;
        if (degree > targets.size - begin) /* until the caller has made room */
            break;
        Numbers row = {targets.at + begin, degree};
        wrong = decode_chain(words, &chain, &shape, row, &at);
        if (wrong == NULL && at >= 0 && !are_places(row.at, row.size, most, true))
            at = BROKEN;
        starts.at[done + 1] = begin + degree;
    }
    free(chain.links);
    free(chain.rows[0]);
    free(chain.rows[1]);
    free(chain.spare);
    found->numbers[0] = at < 0 ? BROKEN : done;
    return wrong;
}

const Loop DECODING_LOOPS[] = {
    {"decode_rows", "WiiiN+N+iii", "i", decode_rows},
    {"measure_rows", "WiiiN+N+iii", "ii", measure_rows},
    {"fill_samples", "WiiiN+", "", fill_samples},
    {"row_offset", "WNii", "i", row_offset},
    {"read_outdegrees", "WWNiiN+", "", read_outdegrees},
    {"fill_rows", "WWNiNiiiiiN+N+", "i", fill_rows},
    {NULL, NULL, NULL, NULL},
};
