/* A table of words and their terms: gossamer/index/format/term_table.py has the definition. */

#include "texts.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, FIRST_BYTES = 1 << 14, CHUNK = 16, BLOCK = 64 };

static const uint32_t UNKNOWN = UINT32_MAX;
static const Py_ssize_t MOST_BYTES = 1 << 30; /* of a text, as places have 32 bits */
static const size_t BYTES_PER_WORD = 64;      /* of which a table is cleared if it has more */

/* A word, and its terms between spaces. Both are in the bytes of the table. */
typedef struct {
    uint64_t start; /* the first bytes, which are all of most words */
    uint32_t hash, word, size;
    uint32_t terms; /* UNKNOWN: not made yet */
    uint32_t terms_size : 31, is_beyond_ascii : 1;
    uint32_t met; /* in which call, the last time */
} Entry;

/* A word of a text. */
typedef struct {
    uint64_t start;
    uint32_t hash, at, size;
} Word;

/* What is known of the texts of a call. */
typedef struct {
    char *text;       /* all of them */
    Py_ssize_t texts;
    uint32_t *begins; /* of each text, and behind the last one */
    uint32_t *ends;   /* of the words of each text */
    uint32_t *found;  /* the entries of all words */
    uint32_t *different, *asked; /* those that differ, and those without terms */
    uint32_t words, differ, clears;
} Call;

/* `slots` are numbers of entries, from 1, with open addressing. Hashes depend on a key, which nobody
   knows who could write a text whose words come to one place. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t most;
    uint64_t key;
    Entry *entries;
    uint32_t *slots;
    char *bytes;
    uint32_t count, mask;
    size_t used, room;
    uint32_t calls, clears;
} TermTable;

static inline bool is_part(unsigned char byte)
{
    return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

static inline uint64_t mix(uint64_t one, uint64_t other)
{
    unsigned __int128 product = (unsigned __int128)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to 8 bytes, of `size` that are left; as many can be read. */
static inline uint64_t load(const char *at, size_t size)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return size < 8 ? word & (((uint64_t)1 << 8 * size) - 1) : word;
}

/* Room for more bytes, with some behind, which may be read and written; false if there is none. */
static bool has_bytes(TermTable *table, size_t more)
{
    size_t needed = table->used + more + CHUNK;
    if (needed <= table->room)
        return true;
    size_t room = table->room ? table->room : FIRST_BYTES;
    while (room < needed)
        room *= 2;
    char *bytes = room < UNKNOWN ? PyMem_Realloc(table->bytes, room) : NULL;
    if (bytes == NULL)
        return false;
    table->bytes = bytes;
    table->room = room;
    return true;
}

static uint32_t append_bytes(TermTable *table, const char *from, size_t size)
{
    uint32_t place = (uint32_t)table->used;
    memcpy(table->bytes + place, from, size);
    table->used += size;
    return place;
}

/* Room for another entry: at most half of the slots are taken. */
static bool has_slot(TermTable *table)
{
    if (table->slots != NULL && 2 * (table->count + 1) <= table->mask)
        return true;
    uint32_t size = table->slots == NULL ? FIRST_SLOTS : 2 * (table->mask + 1);
    Entry *entries = PyMem_Realloc(table->entries, size / 2 * sizeof *entries);
    if (entries == NULL)
        return false;
    table->entries = entries;
    uint32_t *slots = PyMem_Calloc(size, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t number = 0; number < table->count; number++) {
        uint32_t n = entries[number].hash;
        while (slots[n & (size - 1)])
            n++;
        slots[n & (size - 1)] = number + 1;
    }
    PyMem_Free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    return true;
}

/* The number of a word's entry, which is added if there is none; UNKNOWN without memory. */
static inline uint32_t entry_of(TermTable *table, const char *text, Word word)
{
    uint32_t n = word.hash;
    for (; table->slots[n & table->mask]; n++) {
        const Entry *entry = &table->entries[table->slots[n & table->mask] - 1];
        if (entry->hash == word.hash && entry->size == word.size && entry->start == word.start &&
            (word.size <= 8 || memcmp(table->bytes + entry->word, text + word.at, word.size) == 0))
            return table->slots[n & table->mask] - 1;
    }
    if (!has_slot(table) || !has_bytes(table, word.size))
        return UNKNOWN;
    for (n = word.hash; table->slots[n & table->mask];)
        n++;
    uint32_t place = append_bytes(table, text + word.at, word.size);
    table->entries[table->count] =
        (Entry){word.start, word.hash, place, word.size, UNKNOWN, 0, 0, 0};
    return (table->slots[n & table->mask] = ++table->count) - 1;
}

static void clear(TermTable *table)
{
    PyMem_Free(table->entries);
    PyMem_Free(table->slots);
    PyMem_Free(table->bytes);
    table->entries = NULL;
    table->slots = NULL;
    table->bytes = NULL;
    table->count = table->mask = 0;
    table->used = table->room = 0;
    table->clears++;
}

/* The next words of texts, up to BLOCK, from `at` to `size`. Zeros are behind each text. */
static inline uint32_t next_words(const TermTable *table, const char *text, uint32_t size,
                                  uint32_t *at, Word *words)
{
    uint32_t count = 0, end = *at;
    for (; end < size && count < BLOCK; end++) {
        if (!is_part((unsigned char)text[end]))
            continue;
        uint32_t begin = end;
        while (is_part((unsigned char)text[end]))
            end++;
        uint32_t length = end - begin;
        uint64_t start = load(text + begin, length), hash = table->key ^ length;
        hash = mix(hash ^ start ^ 0x9E3779B97F4A7C15u, table->key | 1);
        for (uint32_t n = 8; n < length; n += 8)
            hash = mix(hash ^ load(text + begin + n, length - n) ^ 0x9E3779B97F4A7C15u,
                        table->key | 1);
        words[count] = (Word){start, (uint32_t)(hash ^ hash >> 32), begin, length};
        __builtin_prefetch(&table->slots[words[count++].hash & table->mask]);
    }
    *at = end;
    return count;
}

/* Find the entries of the words of a text from `at` to `size`; false with an exception. Words that
   have no terms yet are appended to `new`.

   The table is larger than the caches near the processor. So words are sought by the block: what
   one needs is fetched while others are read. */
static bool find_words(TermTable *table, Call *call, uint32_t at, uint32_t size, PyObject *new)
{
    Word words[BLOCK];
    uint32_t count;
    while ((count = next_words(table, call->text, size, &at, words)) > 0) {
        for (uint32_t n = 0; n < count; n++)
            __builtin_prefetch(&table->entries[table->slots[words[n].hash & table->mask]] - 1);
        for (uint32_t n = 0; n < count; n++) {
            uint32_t number = entry_of(table, call->text, words[n]);
            if (number == UNKNOWN) {
                PyErr_NoMemory();
                return false;
            }
            call->found[call->words++] = number;
            Entry *entry = &table->entries[number];
            if (entry->met == table->calls)
                continue;
            entry->met = table->calls;
            call->different[call->differ++] = number;
            if (entry->terms != UNKNOWN)
                continue;
            call->asked[PyList_GET_SIZE(new)] = number;
            PyObject *word = PyUnicode_DecodeUTF8(call->text + words[n].at, words[n].size, NULL);
            bool is_done = word != NULL && PyList_Append(new, word) == 0;
            Py_XDECREF(word);
            if (!is_done)
                return false;
        }
    }
    return true;
}

/* Keep the terms that were made of some entries; false with an exception. */
static bool keep_terms(TermTable *table, const uint32_t *asked, Py_ssize_t count, PyObject *made)
{
    if (!PyList_Check(made) || PyList_GET_SIZE(made) != count) {
        PyErr_SetString(PyExc_TypeError, "a list with the terms of each word");
        return false;
    }
    for (Py_ssize_t n = 0; n < count; n++) {
        Py_ssize_t size;
        const char *terms = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(made, n), &size);
        if (terms == NULL)
            return false;
        if (size > MOST_BYTES || !has_bytes(table, (size_t)size)) {
            PyErr_NoMemory();
            return false;
        }
        Entry *entry = &table->entries[asked[n]];
        entry->terms = append_bytes(table, terms, (size_t)size);
        entry->terms_size = (uint32_t)size & INT32_MAX;
        entry->is_beyond_ascii = !PyUnicode_IS_ASCII(PyList_GET_ITEM(made, n));
    }
    return true;
}

/* The terms of some entries, with a space between the words. */
static PyObject *join_terms(const TermTable *table, const uint32_t *found, Py_ssize_t words)
{
    Py_ssize_t size = 0;
    bool is_ascii = true;
    for (Py_ssize_t n = 0; n < words; n++) {
        const Entry *entry = &table->entries[found[n]];
        size += entry->terms_size + (entry->terms_size > 0);
        is_ascii &= !entry->is_beyond_ascii;
        __builtin_prefetch(table->bytes + entry->terms);
    }
    if (size == 0)
        return PyUnicode_New(0, 0);
    PyObject *joined = is_ascii ? PyUnicode_New(size - 1, 0x7f) : NULL;
    char *begin = is_ascii ? (joined ? PyUnicode_DATA(joined) : NULL) : PyMem_Malloc((size_t)size);
    if (begin == NULL)
        return is_ascii ? NULL : PyErr_NoMemory();
    char *at = begin, *end = begin + size - 1;
    for (Py_ssize_t n = 0; n < words; n++) {
        const Entry *entry = &table->entries[found[n]];
        uint32_t length = entry->terms_size;
        if (length == 0)
            continue;
        if (at > begin)
            *at++ = ' ';
        if (length <= CHUNK && end - at >= CHUNK)
            memcpy(at, table->bytes + entry->terms, CHUNK); /* as a whole, which is quick */
        else
            memcpy(at, table->bytes + entry->terms, length);
        at += length;
    }
    if (!is_ascii) {
        joined = PyUnicode_DecodeUTF8(begin, size - 1, NULL);
        PyMem_Free(begin);
    }
    return joined;
}

/* The words of some entries, with a space between. */
static PyObject *join_words(const TermTable *table, const uint32_t *different, uint32_t count)
{
    size_t size = 0;
    for (uint32_t n = 0; n < count; n++)
        size += table->entries[different[n]].size + 1;
    char *joined = PyMem_Malloc(size + 1), *at = joined;
    if (joined == NULL)
        return PyErr_NoMemory();
    for (uint32_t n = 0; n < count; n++) {
        const Entry *entry = &table->entries[different[n]];
        memcpy(at, table->bytes + entry->word, entry->size);
        at += entry->size;
        *at++ = ' ';
    }
    PyObject *words = PyUnicode_DecodeUTF8(joined, size ? (Py_ssize_t)size - 1 : 0, NULL);
    PyMem_Free(joined);
    return words;
}

/* Look up all words, and have the terms of new ones made; false with an exception. */
static bool look_up(TermTable *table, Call *call, PyObject *make)
{
    PyObject *new = PyList_New(0), *made = NULL; /* first: a search for cycles may let others run */
    if (new == NULL)
        return false;
    if (table->count >= table->most || table->used >= BYTES_PER_WORD * (size_t)table->most)
        clear(table);
    bool is_done = has_slot(table);
    if (!is_done)
        PyErr_NoMemory();
    call->words = call->differ = 0;
    call->clears = table->clears;
    table->calls++;
    for (Py_ssize_t n = 0; is_done && n < call->texts; n++) {
        is_done = find_words(table, call, call->begins[n], call->begins[n + 1], new);
        call->ends[n] = call->words;
    }
    if (is_done && PyList_GET_SIZE(new)) {
        made = PyObject_CallOneArg(make, new);
        is_done = made != NULL;
        if (is_done && call->clears == table->clears)
            is_done = keep_terms(table, call->asked, PyList_GET_SIZE(new), made);
    }
    Py_XDECREF(new);
    Py_XDECREF(made);
    return is_done;
}

/* The terms of each text, which are put into `written`, and the different words of all. */
static PyObject *results_of(const TermTable *table, const Call *call, PyObject *written)
{
    bool is_done = true;
    for (Py_ssize_t n = 0, begin = 0; is_done && n < call->texts; begin = call->ends[n++]) {
        PyObject *terms = join_terms(table, call->found + begin, call->ends[n] - begin);
        is_done = terms != NULL;
        if (is_done)
            PyList_SET_ITEM(written, n, terms);
    }
    PyObject *words = is_done ? join_words(table, call->different, call->differ) : NULL;
    PyObject *results = words ? PyTuple_Pack(2, written, words) : NULL;
    Py_XDECREF(words);
    return results;
}

static void copy_small(const char *restrict from, Py_ssize_t size, char *restrict to)
{
    for (Py_ssize_t at = 0; at < size; at++)
        to[at] = (char)(from[at] + ((unsigned char)(from[at] - 'A') < 26 ? 'a' - 'A' : 0));
}

/* Copy texts, in small letters where they are ASCII, with zeros behind each. */
static bool copy_texts(Call *call, PyObject *texts)
{
    char *to = call->text;
    for (Py_ssize_t n = 0; n < call->texts; n++) {
        Py_ssize_t size;
        const char *raw = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, n), &size);
        if (raw == NULL)
            return false;
        call->begins[n] = (uint32_t)(to - call->text);
        copy_small(raw, size, to);
        memset(to + size, 0, CHUNK);
        to += size + 1;
    }
    call->begins[call->texts] = (uint32_t)(to - call->text);
    return true;
}

/* How many bytes some texts have, with a zero behind each; -1 with an exception. */
static Py_ssize_t size_of(PyObject *texts)
{
    Py_ssize_t all = 0;
    for (Py_ssize_t n = 0; n < PyList_GET_SIZE(texts); n++) {
        Py_ssize_t size;
        if (PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(texts, n), &size) == NULL)
            return -1;
        all += size + 1;
        if (all > MOST_BYTES) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return all;
}

static PyObject *write_texts(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    if (count != 2 || !PyList_Check(given[0])) {
        PyErr_SetString(PyExc_TypeError, "write(texts, make): a list, and a function");
        return NULL;
    }
    Py_ssize_t size = size_of(given[0]), texts = PyList_GET_SIZE(given[0]);
    if (size < 0)
        return NULL;
    size_t most_words = (size_t)size / 2 + 1;
    uint32_t *numbers = PyMem_Malloc((3 * most_words + 2 * (size_t)texts + 1) * sizeof *numbers);
    char *text = PyMem_Malloc((size_t)size + CHUNK);
    Call call = {.text = text, .texts = texts};
    PyObject *results = NULL, *written = PyList_New(texts); /* now, as in `look_up` */
    if (numbers == NULL || text == NULL)
        PyErr_NoMemory();
    else if (written != NULL) {
        call.found = numbers;
        call.different = call.found + most_words;
        call.asked = call.different + most_words;
        call.begins = call.asked + most_words;
        call.ends = call.begins + texts + 1;
        bool is_done = copy_texts(&call, given[0]);
        do
            is_done = is_done && look_up((TermTable *)self, &call, given[1]);
        while (is_done && call.clears != ((TermTable *)self)->clears); /* by another thread */
        if (is_done)
            results = results_of((TermTable *)self, &call, written);
    }
    Py_XDECREF(written);
    PyMem_Free(text);
    PyMem_Free(numbers);
    return results;
}

static PyObject *new_table(PyTypeObject *type, PyObject *given, PyObject *named)
{
    Py_ssize_t most;
    if ((named != NULL && PyDict_GET_SIZE(named)) || !PyArg_ParseTuple(given, "n", &most))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "TermTable(most)");
    PyObject *any = PyUnicode_FromString("key"), *self = NULL;
    Py_hash_t key = any != NULL ? PyObject_Hash(any) : -1; /* Python's hashes have a secret key */
    Py_XDECREF(any);
    if (key != -1 && (self = type->tp_alloc(type, 0)) != NULL) {
        ((TermTable *)self)->most = most < 0 ? 0 : most;
        ((TermTable *)self)->key = (uint64_t)key;
    }
    return self;
}

static void free_table(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    clear((TermTable *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"write", (PyCFunction)(void (*)(void))write_texts, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new_table},
    {Py_tp_dealloc, free_table},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec term_table = {"gossamer._texts.TermTable", sizeof(TermTable), 0, Py_TPFLAGS_DEFAULT,
                          slots};
