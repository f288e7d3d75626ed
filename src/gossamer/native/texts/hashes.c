/* Hashes of the words of a text: gossamer/web/sketches.py has the definition. */

#include "texts.h"

#include <string.h>

/* Bits of an item of the table besides the letter. */
static const uint32_t ALONE = UINT32_C(1) << 30, OTHER = UINT32_C(1) << 31;

typedef struct {
    uint64_t *at;
    Py_ssize_t count, room;
} Hashes;

static bool make_room(Hashes *hashes)
{
    Py_ssize_t room = 2 * hashes->room + 16;
    uint64_t *larger = PyMem_Realloc(hashes->at, (size_t)room * sizeof *larger);
    if (larger == NULL)
        return PyErr_NoMemory() != NULL;
    hashes->at = larger;
    hashes->room = room;
    return true;
}

/* A word's hash is a polynomial of its letters; the table has 0 for what is between words. False if
   the table is not enough for the text, or with an error. */
static inline bool hash_all(int kind, const void *data, Py_ssize_t size, const uint32_t *table,
                            Py_UCS4 last, uint64_t base, Hashes *hashes)
{
    uint64_t hash = 0, power = 0;
    bool is_inside = false, was_alone = false;
    for (Py_ssize_t n = 0; n < size; n++) {
        Py_UCS4 code = PyUnicode_READ(kind, data, n);
        uint32_t item = table[code < last ? code : last];
        if (item & OTHER)
            return false;
        uint64_t letter = item & ~ALONE;
        bool is_alone = (item & ALONE) != 0;
        if (letter != 0 && is_inside && !is_alone && !was_alone) {
            hash += letter * power;
            power *= base;
        } else {
            if (is_inside)
                hashes->at[hashes->count++] = hash;
            if (letter != 0 && hashes->count == hashes->room && !make_room(hashes))
                return false;
            hash = letter;
            power = base;
        }
        is_inside = letter != 0;
        was_alone = is_alone;
    }
    if (is_inside)
        hashes->at[hashes->count++] = hash;
    return true;
}

PyObject *hash_words(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 3 || !PyUnicode_Check(given[0]) || !PyBytes_Check(given[1]) ||
        !PyLong_Check(given[2]) || PyBytes_GET_SIZE(given[1]) < (Py_ssize_t)sizeof(uint32_t)) {
        PyErr_SetString(PyExc_TypeError, "hash_words(text, table, base): a text, bytes, a number");
        return NULL;
    }
    uint64_t base = PyLong_AsUnsignedLongLong(given[2]);
    if (PyErr_Occurred())
        return NULL;
    const uint32_t *table = (const uint32_t *)(const void *)PyBytes_AS_STRING(given[1]);
    Py_UCS4 last = (Py_UCS4)(PyBytes_GET_SIZE(given[1]) / (Py_ssize_t)sizeof *table - 1);
    const void *data = PyUnicode_DATA(given[0]);
    Py_ssize_t size = PyUnicode_GET_LENGTH(given[0]);
    Hashes hashes = {NULL, 0, 0};
    bool is_done;
    if (PyUnicode_KIND(given[0]) == PyUnicode_1BYTE_KIND)
        is_done = hash_all(PyUnicode_1BYTE_KIND, data, size, table, last, base, &hashes);
    else if (PyUnicode_KIND(given[0]) == PyUnicode_2BYTE_KIND)
        is_done = hash_all(PyUnicode_2BYTE_KIND, data, size, table, last, base, &hashes);
    else
        is_done = hash_all(PyUnicode_4BYTE_KIND, data, size, table, last, base, &hashes);
    PyObject *found = NULL;
    if (is_done)
        found = PyBytes_FromStringAndSize((const char *)hashes.at,
                                          hashes.count * (Py_ssize_t)sizeof *hashes.at);
    else if (!PyErr_Occurred())
        found = Py_NewRef(Py_None);
    PyMem_Free(hashes.at);
    return found;
}
