/* Characters that normalisation may replace: gossamer/index/format/normalization.py has the
   definition. */

#include "texts.h"

#include <string.h>

enum { SPECIAL = 1, JOINED = 2 };

static const Py_UCS4 PLANE = 0x10000, MIDDLE_DOT = 0xb7, CLOSING_QUOTE = 0x2019, SARA_E = 0xe40;

static inline unsigned class_of(const unsigned char *classes, Py_UCS4 letter)
{
    return letter < PLANE ? classes[letter] : SPECIAL;
}

static inline bool is_special(int kind, const void *data, Py_ssize_t size, Py_ssize_t at,
                              const unsigned char *classes)
{
    Py_UCS4 letter = PyUnicode_READ(kind, data, at);
    if (class_of(classes, letter) & SPECIAL)
        return true;
    if (letter != '\'' && letter != '"' && letter != MIDDLE_DOT && letter != CLOSING_QUOTE &&
        letter != SARA_E)
        return false;
    if (at + 1 == size)
        return false;
    Py_UCS4 next = PyUnicode_READ(kind, data, at + 1);
    if (letter == SARA_E)
        return next == SARA_E;
    if (at == 0)
        return false;
    Py_UCS4 last = PyUnicode_READ(kind, data, at - 1);
    if (letter == MIDDLE_DOT)
        return (last == 'l' || last == 'L') && (next == 'l' || next == 'L');
    return class_of(classes, last) & JOINED && class_of(classes, next) & JOINED;
}

/* Characters that are written one by one, in room that grows. */
typedef struct {
    Py_UCS4 *data;
    Py_ssize_t length, room;
} Written;

static inline bool make_room(Written *to, Py_ssize_t more)
{
    if (more <= to->room - to->length)
        return true;
    if (more > PY_SSIZE_T_MAX / 16 - to->room)
        return PyErr_NoMemory() != NULL;
    Py_ssize_t room = 2 * (to->room + more);
    Py_UCS4 *larger = PyMem_Realloc(to->data, (size_t)room * sizeof *larger);
    if (larger == NULL)
        return PyErr_NoMemory() != NULL;
    to->data = larger;
    to->room = room;
    return true;
}

/* The different characters of a text that are special where they stand; those that have any class if
   it does not matter where that is (`anywhere`). */
static inline PyObject *different(PyObject *text, const unsigned char *classes, bool anywhere)
{
    unsigned char *seen = PyMem_Calloc(PyUnicode_MAX_CHAR_VALUE(text) / 8 + 1, 1);
    if (seen == NULL)
        return PyErr_NoMemory();
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    Written found = {NULL, 0, 0};
    bool is_done = true;
    for (Py_ssize_t at = 0; is_done && at < size; at++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, at);
        if (!(anywhere ? class_of(classes, letter) : is_special(kind, data, size, at, classes)) ||
            seen[letter >> 3] >> (letter & 7) & 1)
            continue;
        seen[letter >> 3] |= (unsigned char)(1 << (letter & 7));
        is_done = make_room(&found, 1);
        if (is_done)
            found.data[found.length++] = letter;
    }
    PyObject *result =
        is_done ? PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, found.data, found.length) : NULL;
    PyMem_Free(found.data);
    PyMem_Free(seen);
    return result;
}

static inline bool has_special(int kind, const void *data, Py_ssize_t size,
                               const unsigned char *classes)
{
    for (Py_ssize_t at = 0; at < size; at++)
        if (is_special(kind, data, size, at, classes))
            return true;
    return false;
}

static bool takes_classes(PyObject *const *given, Py_ssize_t count)
{
    if (count == 2 && PyUnicode_Check(given[0]) && PyBytes_Check(given[1]) &&
        PyBytes_GET_SIZE(given[1]) == (Py_ssize_t)PLANE)
        return true;
    PyErr_SetString(PyExc_TypeError, "a text, and bytes for each class");
    return false;
}

/* special_characters(text, classes): a class of each character of the first plane. */
PyObject *special_characters(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (!takes_classes(given, count))
        return NULL;
    const void *data = PyUnicode_DATA(given[0]);
    Py_ssize_t size = PyUnicode_GET_LENGTH(given[0]);
    const unsigned char *classes = (const unsigned char *)PyBytes_AS_STRING(given[1]);
    bool is_found;
    if (PyUnicode_KIND(given[0]) == PyUnicode_1BYTE_KIND)
        is_found = has_special(PyUnicode_1BYTE_KIND, data, size, classes);
    else if (PyUnicode_KIND(given[0]) == PyUnicode_2BYTE_KIND)
        is_found = has_special(PyUnicode_2BYTE_KIND, data, size, classes);
    else
        is_found = has_special(PyUnicode_4BYTE_KIND, data, size, classes);
    return is_found ? different(given[0], classes, false) : PyUnicode_New(0, 0);
}

/* marked_characters(text, marks): a mark of each character of the first plane, 0 or another. */
PyObject *marked_characters(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (!takes_classes(given, count))
        return NULL;
    return different(given[0], (const unsigned char *)PyBytes_AS_STRING(given[1]), true);
}

/* Write what a table has for a character, or the character. */
static bool write_translated(Written *to, PyObject *table, Py_UCS4 letter)
{
    PyObject *key = PyLong_FromLong((long)letter);
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(table, key);
    Py_XDECREF(key);
    if (found == NULL) {
        if (PyErr_Occurred() || !make_room(to, 1))
            return false;
        to->data[to->length++] = letter;
        return true;
    }
    if (!PyUnicode_Check(found)) {
        PyErr_SetString(PyExc_TypeError, "a table of texts");
        return false;
    }
    Py_ssize_t more = PyUnicode_GET_LENGTH(found);
    if (!make_room(to, more))
        return false;
    for (Py_ssize_t at = 0; at < more; at++)
        to->data[to->length++] = PyUnicode_READ_CHAR(found, at);
    return true;
}

static inline bool translate_all(int kind, const void *data, Py_ssize_t size, PyObject *table,
                                 const unsigned char *has, Written *to)
{
    for (Py_ssize_t at = 0; at < size; at++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, at);
        if (letter >= PLANE || has[letter >> 3] >> (letter & 7) & 1) {
            if (!write_translated(to, table, letter))
                return false;
        } else if (to->length < to->room || make_room(to, size - at))
            to->data[to->length++] = letter;
        else
            return false;
    }
    return true;
}

/* translate(text, table): as str.translate, with texts in a dictionary. */
PyObject *translate(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyUnicode_Check(given[0]) || !PyDict_Check(given[1])) {
        PyErr_SetString(PyExc_TypeError, "translate(text, table): a text and a dictionary");
        return NULL;
    }
    unsigned char has[0x10000 / 8] = {0};
    PyObject *key;
    for (Py_ssize_t at = 0; PyDict_Next(given[1], &at, &key, NULL);) {
        long code = PyLong_AsLong(key);
        if (code == -1 && PyErr_Occurred())
            return NULL;
        if (code >= 0 && code < (long)PLANE)
            has[code >> 3] |= (unsigned char)(1 << (code & 7));
    }
    const void *data = PyUnicode_DATA(given[0]);
    Py_ssize_t size = PyUnicode_GET_LENGTH(given[0]);
    Written to = {NULL, 0, 0};
    bool is_done = make_room(&to, size + 1);
    if (is_done && PyUnicode_KIND(given[0]) == PyUnicode_1BYTE_KIND)
        is_done = translate_all(PyUnicode_1BYTE_KIND, data, size, given[1], has, &to);
    else if (is_done && PyUnicode_KIND(given[0]) == PyUnicode_2BYTE_KIND)
        is_done = translate_all(PyUnicode_2BYTE_KIND, data, size, given[1], has, &to);
    else if (is_done)
        is_done = translate_all(PyUnicode_4BYTE_KIND, data, size, given[1], has, &to);
    PyObject *result =
        is_done ? PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, to.data, to.length) : NULL;
    PyMem_Free(to.data);
    return result;
}
