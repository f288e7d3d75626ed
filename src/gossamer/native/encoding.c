/* Rows become bits: gossamer/links/bvgraph/ has the format, and the definitions in Python
   (encoding.py and codes.py). */

#include "codes.h"

/* ---- codes.py ---- */

static const char *copy_bits(const Value *given, Found *found)
{
    Words words = words_of(given[0]), source = words_of(given[2]);
    int64_t at = given[1].number, begin = given[3].number, bits = given[4].number;
    if (at < 0 || begin < 0 || bits < 0 || begin > INT64_MAX - bits ||
        at > WORD_BITS * words.size - bits)
        return "more bits than there is room for";
    for (int64_t done = 0; done < bits;) {
        int width = (int)least(WORD_BITS, bits - done);
        write_bits(words, at + done, peek_bits(source, begin + done) >> (WORD_BITS - width), width);
        done += width;
    }
    found->numbers[0] = at + bits;
    return NULL;
}

static const char *write_gammas(const Value *given, Found *found)
{
    Words words = words_of(given[0]);
    Numbers numbers = numbers_of(given[2]);
    int64_t at = given[1].number, bits = 0;
    for (int64_t n = 0; n < numbers.size; n++) {
        if (numbers.at[n] < 0 || numbers.at[n] > MAX_NUMBER)
            return "a number that has no code";
        bits += 2 * exponent(numbers.at[n]) + 1;
    }
    if (at < 0 || at > WORD_BITS * words.size - bits)
        return "more bits than there is room for";
    for (int64_t n = 0; n < numbers.size; n++)
        at = write_gamma(words, at, numbers.at[n]);
    found->numbers[0] = at;
    return NULL;
}

/* ---- encoding.py ---- */

/* A list of numbers that describe a row: `gammas` of them in γ, and others in ζ. */
typedef struct {
    int64_t *values, gammas, total;
} Described;

static int64_t count_bits(const Described *row, const int *zeta_lengths)
{
    int64_t bits = 0;
    for (int64_t n = 0; n < row->gammas; n++)
        bits += 2 * exponent(row->values[n]) + 1;
    for (int64_t n = row->gammas; n < row->total; n++)
        bits += zeta_lengths[exponent(row->values[n])];
    return bits;
}

/* Without branches: what comes next in two rows is hard to predict. */
static int64_t list_blocks(
    Numbers row, Numbers reference, int64_t *values, int64_t *extras, int64_t *left)
{
    int64_t count = 1, kept = 0, i = 0, j = 0, run = 0, copying = 1;
    while (i < row.size && j < reference.size) {
        int64_t ours = row.at[i], theirs = reference.at[j];
        extras[kept] = ours;
        kept += ours < theirs;
        int64_t is_passed = theirs <= ours;
        int64_t turns = is_passed & (copying != (ours == theirs));
        values[count] = run - (count > 1);
        count += turns;
        run = run * (1 - turns) + is_passed;
        copying ^= turns;
        i += ours <= theirs;
        j += is_passed;
    }
    if (copying && j < reference.size) {
        values[count] = run - (count > 1);
        count++;
    }
    values[0] = count - 1;
    memcpy(extras + kept, row.at + i, (size_t)(row.size - i) * 8);
    *left = kept + row.size - i;
    return count;
}

static int64_t list_intervals(
    int64_t node, int64_t *extras, int64_t size, int64_t min_interval, int64_t *values,
    int64_t count, int64_t *left)
{
    int64_t number = count++, before = -1, kept = 0;
    values[number] = 0;
    for (int64_t start = 0, end; start < size; start = end) {
        for (end = start + 1; end < size && extras[end] == extras[end - 1] + 1;)
            end++;
        if (end - start >= min_interval) {
            int64_t first = extras[start];
            values[count++] = values[number] ? first - before - 1 : natural(first - node);
            values[count++] = end - start - min_interval;
            values[number]++;
            before = first + end - start;
        } else {
            for (int64_t n = start; n < end; n++)
                extras[kept++] = extras[n];
        }
    }
    *left = kept;
    return count;
}

static void list_rest(
    int64_t node, int64_t *extras, int64_t left, int64_t min_interval, Described *row, int64_t count)
{
    if (left && min_interval)
        count = list_intervals(node, extras, left, min_interval, row->values, count, &left);
    row->gammas = count;
    row->total = count + left;
    if (left)
        row->values[count] = natural(extras[0] - node);
    for (int64_t n = 1; n < left; n++)
        row->values[count + n] = extras[n] - extras[n - 1] - 1;
}

static bool are_rows(Numbers starts, Numbers targets)
{
    bool ascend = are_starts(starts, targets.size);
    for (int64_t row = 0; ascend && row < starts.size - 1; row++) {
        int64_t before = -1;
        for (int64_t n = starts.at[row]; n < starts.at[row + 1]; n++) {
            ascend &= before < targets.at[n];
            before = targets.at[n];
        }
        ascend &= before <= MAX_NUMBER / 4;
    }
    return ascend;
}

static const char *fill_words(const Value *given, Found *found)
{
    int64_t first = given[0].number, max_references = given[4].number;
    Numbers starts = numbers_of(given[1]), targets = numbers_of(given[2]);
    int64_t row_number = given[7].number, at = given[8].number;
    Numbers chains = numbers_of(given[9]), ends = numbers_of(given[10]);
    Words words = words_of(given[11]);
    Value of_shape[3] = {given[3], given[5], given[6]};
    Shape shape;
    if (!get_shape(of_shape, &shape))
        return NO_SHAPE;
    if (starts.size != ends.size + 1 || chains.size != ends.size || first < 0 ||
        first > MAX_NUMBER / 4 || row_number < 0 || at < 0 || !are_rows(starts, targets))
        return "rows that do not ascend in their array";
    int64_t most = 0;
    for (int64_t n = 0; n < ends.size; n++)
        most = largest(most, starts.at[n + 1] - starts.at[n]);
    /* A row is described by at most two numbers per successor, and four more. */
    int64_t *lists = new_items(3 * (2 * most + 8));
    if (lists == NULL)
        return NO_MEMORY;
    Described best = {lists, 0, 0}, tried = {lists + 2 * most + 8, 0, 0};
    int64_t *extras = lists + 2 * (2 * most + 8);
    int zeta_lengths[WORD_BITS];
    for (int bits = 0; bits < WORD_BITS; bits++)
        zeta_lengths[bits] = zeta_bits(bits, shape.zeta);
    for (; row_number < ends.size; row_number++) {
        int64_t node = first + row_number, begin = starts.at[row_number];
        Numbers row = {targets.at + begin, starts.at[row_number + 1] - begin};
        memcpy(extras, row.at, (size_t)row.size * 8);
        list_rest(node, extras, row.size, shape.min_interval, &best, 0);
        int64_t bits = 1 + count_bits(&best, zeta_lengths), chosen = 0;
        int64_t farthest = row.size ? least(shape.window, row_number) : 0;
        for (int64_t distance = 1; distance <= farthest; distance++) {
            int64_t other = row_number - distance, left;
            Numbers reference = {
                targets.at + starts.at[other], starts.at[other + 1] - starts.at[other]};
            if (chains.at[other] >= max_references || !reference.size)
                continue;
            int64_t count = list_blocks(row, reference, tried.values, extras, &left);
            if (left == row.size) /* nothing is copied, and the same bits follow */
                continue;
            list_rest(node, extras, left, shape.min_interval, &tried, count);
            int64_t needed = distance + 1 + count_bits(&tried, zeta_lengths);
            if (needed < bits) {
                Described swapped = best;
                best = tried;
                tried = swapped;
                chosen = distance;
                bits = needed;
            }
        }
        if (bits + MAX_CODE_BITS > WORD_BITS * words.size - at) /* until the caller makes room */
            break;
        chains.at[row_number] = chosen ? chains.at[row_number - chosen] + 1 : 0;
        at = write_gamma(words, at, row.size);
        if (row.size && shape.window)
            at = write_unary(words, at, chosen);
        for (int64_t n = 0; n < best.gammas; n++)
            at = write_gamma(words, at, best.values[n]);
        for (int64_t n = best.gammas; n < best.total; n++)
            at = write_zeta(words, at, best.values[n], shape.zeta);
        ends.at[row_number] = at;
    }
    free(lists);
    found->numbers[0] = row_number;
    found->numbers[1] = at;
    return NULL;
}

const Loop ENCODING_LOOPS[] = {
    {"copy_bits", "W+iWii", "i", copy_bits},
    {"write_gammas", "W+iN", "i", write_gammas},
    {"fill_words", "iNNiiiiiiN+N+W+", "ii", fill_words},
    {NULL, NULL, NULL, NULL},
};
