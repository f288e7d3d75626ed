/* Names of nodes: gossamer/links/graph/ has the definitions in Python (name_arrays.py,
   string_arrays.py and numbering.py), and links/rank/kernels.py that of hashes.

   The bytes of string n are those from offsets[n] to before offsets[n + 1]. */

#include "loops.h"

static const char NOT_INSIDE[] = "strings that are not inside their bytes";
static const char NO_ROOM[] = "more than there is room for";

typedef struct {
    const uint8_t *at;
    int64_t size;
} String;

static inline String string_at(Numbers offsets, Bytes data, int64_t n)
{
    return (String){data.at + offsets.at[n], offsets.at[n + 1] - offsets.at[n]};
}

/* ---- string_arrays.py ---- */

static inline int64_t common_prefix(String ours, String theirs, int64_t known)
{
    int64_t size = least(ours.size, theirs.size);
    while (known < size && ours.at[known] == theirs.at[known])
        known++;
    return known;
}

static inline bool is_smaller(String ours, String theirs, int64_t same)
{
    return same < theirs.size && (same == ours.size || ours.at[same] < theirs.at[same]);
}

static const char *search_ascending(const Value *given, Found *found)
{
    (void)found;
    Numbers offsets = numbers_of(given[0]), other_offsets = numbers_of(given[2]);
    Bytes data = bytes_of(given[1]), others = bytes_of(given[3]);
    Numbers places = numbers_of(given[4]);
    if (!are_starts(offsets, data.size) || !are_starts(other_offsets, others.size))
        return NOT_INSIDE;
    if (places.size != offsets.size - 1)
        return NO_ROOM;
    int64_t count = other_offsets.size - 1, low = 0;
    for (int64_t n = 0; n < places.size; n++) {
        String wanted = string_at(offsets, data, n);
        int64_t step = 1, high = low, below = 0, above = 0;
        while (high < count) {
            String other = string_at(other_offsets, others, high);
            int64_t same = common_prefix(wanted, other, 0);
            if (!is_smaller(other, wanted, same)) {
                above = same;
                break;
            }
            below = same;
            low = high + 1;
            high += step;
            step *= 2;
        }
        high = least(high, count);
        while (low < high) {
            int64_t middle = (low + high) / 2;
            String other = string_at(other_offsets, others, middle);
            int64_t same = common_prefix(wanted, other, least(below, above));
            if (is_smaller(other, wanted, same)) {
                low = middle + 1;
                below = same;
            } else {
                high = middle;
                above = same;
            }
        }
        bool is_there = low < count && above == wanted.size &&
                        above == other_offsets.at[low + 1] - other_offsets.at[low];
        places.at[n] = is_there ? low : ~low;
    }
    return NULL;
}

/* ---- numbering.py ---- */

static const char *distinct_places(const Value *given, Found *found)
{
    Numbers offsets = numbers_of(given[0]), ascending = numbers_of(given[2]);
    Bytes data = bytes_of(given[1]);
    Numbers firsts = numbers_of(given[3]), numbers = numbers_of(given[4]);
    if (!are_starts(offsets, data.size) ||
        !are_places(ascending.at, ascending.size, offsets.size - 1, true))
        return NOT_INSIDE;
    if (firsts.size != ascending.size || numbers.size != offsets.size - 1)
        return NO_ROOM;
    int64_t count = 0;
    for (int64_t n = 0; n < ascending.size; n++) {
        String string = string_at(offsets, data, ascending.at[n]);
        bool is_new = true;
        if (count) {
            String before = string_at(offsets, data, firsts.at[count - 1]);
            is_new = before.size != string.size ||
                     memcmp(before.at, string.at, (size_t)string.size) != 0;
        }
        if (is_new)
            firsts.at[count++] = ascending.at[n];
        numbers.at[ascending.at[n]] = count - 1;
    }
    found->numbers[0] = count;
    return NULL;
}

/* ---- name_arrays.py ---- */

static inline uint8_t *append(uint8_t *to, const uint8_t *begin, const uint8_t *end)
{
    if (end <= begin)
        return to;
    memcpy(to, begin, (size_t)(end - begin));
    return to + (end - begin);
}

static inline bool is_digit(uint8_t byte)
{
    return '0' <= byte && byte <= '9';
}

/* Where the scheme of a URL ends, its port begins, and its path. */
typedef struct {
    const uint8_t *colon, *port, *slash;
} Fields;

static Fields find_fields(const uint8_t *begin, const uint8_t *end)
{
    const Fields none = {end, end, end};
    const uint8_t *colon = begin;
    while (colon < end && (('a' <= *colon && *colon <= 'z') ||
                           (colon > begin && (is_digit(*colon) || *colon == '+' ||
                                              *colon == '-' || *colon == '.'))))
        colon++;
    if (colon == begin || end - colon <= 3 || memcmp(colon, "://", 3) != 0)
        return none;
    const uint8_t *host = colon + 3, *slash = host;
    while (slash < end && *slash != '/')
        slash++;
    const uint8_t *port = slash;
    while (port > host && is_digit(port[-1]))
        port--;
    bool has_port = host < port && port < slash && port[-1] == ':';
    return (Fields){colon, has_port ? port - 1 : slash, slash};
}

static const char *fill_names(const Value *given, Found *found)
{
    (void)found;
    Numbers offsets = numbers_of(given[0]);
    Bytes data = bytes_of(given[1]), made = bytes_of(given[2]);
    if (!are_starts(offsets, data.size))
        return NOT_INSIDE;
    if (made.size != offsets.at[offsets.size - 1] - offsets.at[0])
        return NO_ROOM;
    uint8_t *at = made.at; /* a name is as long as its URL */
    for (int64_t url = 0; url < offsets.size - 1; url++) {
        const uint8_t *begin = data.at + offsets.at[url], *end = data.at + offsets.at[url + 1];
        Fields fields = find_fields(begin, end);
        if (fields.slash == end) {
            at = append(at, begin, end);
            continue;
        }
        const uint8_t *host = fields.colon + 3, *after = fields.port;
        for (const uint8_t *label = fields.port; label >= host; label--) {
            if (label > host && label[-1] != '.')
                continue;
            at = append(at, label, after);
            after = label - 1;
            if (label > host)
                *at++ = ',';
        }
        *at++ = ' ';
        at = append(at, fields.port, fields.slash);
        *at++ = ' ';
        at = append(at, begin, fields.colon);
        *at++ = ' ';
        at = append(at, fields.slash, end);
    }
    return NULL;
}

static const char *fill_host_runs(const Value *given, Found *found)
{
    Numbers offsets = numbers_of(given[0]);
    Bytes data = bytes_of(given[1]);
    Numbers starts = numbers_of(given[2]), lengths = numbers_of(given[3]);
    if (!are_starts(offsets, data.size))
        return NOT_INSIDE;
    if (starts.size != offsets.size - 1 || lengths.size != starts.size)
        return NO_ROOM;
    int64_t count = 0;
    for (int64_t n = 0; n < starts.size; n++) {
        String name = string_at(offsets, data, n);
        if (count) {
            int64_t known = lengths.at[count - 1];
            const uint8_t *before = data.at + offsets.at[starts.at[count - 1]];
            if (known < name.size && name.at[known] == ' ' &&
                memcmp(name.at, before, (size_t)known) == 0)
                continue;
        }
        int64_t length = 0;
        for (int spaces = 0; length < name.size; length++) {
            spaces += name.at[length] == ' ';
            if (spaces == 2)
                break;
        }
        starts.at[count] = n;
        lengths.at[count++] = length;
    }
    found->numbers[0] = count;
    return NULL;
}

static const char *fill_urls(const Value *given, Found *found)
{
    Numbers offsets = numbers_of(given[0]), starts = numbers_of(given[2]);
    Numbers lengths = numbers_of(given[3]), host_offsets = numbers_of(given[4]);
    Bytes data = bytes_of(given[1]), hosts = bytes_of(given[5]), made = bytes_of(given[7]);
    Numbers ends = numbers_of(given[6]);
    if (!are_starts(offsets, data.size) || !are_starts(host_offsets, hosts.size))
        return NOT_INSIDE;
    int64_t count = offsets.size - 1, run = -1;
    if (lengths.size != starts.size || host_offsets.size != starts.size + 1 ||
        (count && (starts.size < 1 || starts.at[0] != 0)))
        return "runs that do not belong to the names";
    if (ends.size != count + 1)
        return NO_ROOM;
    uint8_t *at = made.at;
    ends.at[0] = 0;
    for (int64_t n = 0; n < count; n++) {
        if (run + 1 < starts.size && starts.at[run + 1] == n)
            run++;
        String name = string_at(offsets, data, n), host = string_at(host_offsets, hosts, run);
        if (made.size - (at - made.at) < name.size + host.size + 3)
            return NO_ROOM;
        const uint8_t *begin = name.at + name.size, *end = begin;
        if (lengths.at[run] >= 0 && lengths.at[run] < name.size) {
            begin = name.at + lengths.at[run] + 1;
            while (begin < end && *begin != ' ')
                *at++ = *begin++;
            memcpy(at, "://", 3);
            at += 3;
        }
        at = append(at, host.at, host.at + host.size);
        at = append(at, begin + (begin < end), end);
        ends.at[n + 1] = at - made.at;
    }
    found->numbers[0] = at - made.at;
    return NULL;
}

/* ---- kernels.py ---- */

static const char *hash_each(const Value *given, Found *found)
{
    (void)found;
    Numbers offsets = numbers_of(given[0]);
    Bytes data = bytes_of(given[1]);
    Words hashes = words_of(given[2]);
    if (!are_starts(offsets, data.size))
        return NOT_INSIDE;
    if (hashes.size != offsets.size - 1)
        return NO_ROOM;
    for (int64_t n = 0; n < hashes.size; n++) {
        String string = string_at(offsets, data, n);
        uint64_t hash = UINT64_C(0xCBF29CE484222325);
        for (int64_t at = 0; at < string.size; at++)
            hash = (hash ^ string.at[at]) * UINT64_C(0x100000001B3);
        hashes.at[n] = hash;
    }
    return NULL;
}

const Loop NAME_LOOPS[] = {
    {"search_ascending", "NBNBN+", "", search_ascending},
    {"distinct_places", "NBNN+N+", "i", distinct_places},
    {"fill_names", "NBB+", "", fill_names},
    {"fill_host_runs", "NBN+N+", "i", fill_host_runs},
    {"fill_urls", "NBNNNBN+B+", "i", fill_urls},
    {"hash_each", "NBW+", "", hash_each},
    {NULL, NULL, NULL, NULL},
};
