/* Words that are written apart or together: gossamer/index/format/joined_words.py has the
   definitions. */

#include "texts.h"

static const Py_ssize_t MOST_PREFIX = 5, LEAST_REST = 2, MOST_REST = 40;

static inline bool is_digit(Py_UCS4 letter)
{
    return letter >= '0' && letter <= '9';
}

static inline bool is_letter(Py_UCS4 letter)
{
    return letter < 0x80 ? (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'
                         : Py_UNICODE_ISALNUM(letter) && !Py_UNICODE_ISDECIMAL(letter);
}

/* Whether a character next to a word with a hyphen makes it another one: \w or a hyphen. */
static inline bool is_part(Py_UCS4 letter)
{
    return letter == '-' || letter == '_' || Py_UNICODE_ISALNUM(letter);
}

/* Append the joined form of the word whose hyphen is at `at`, if it is one; false if that fails. */
static bool append_joined(PyObject *text, Py_ssize_t at, PyObject *found)
{
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), begin = at, end = at + 1;
    while (begin > 0 && at - begin <= MOST_PREFIX && is_letter(PyUnicode_READ(kind, data, begin - 1)))
        begin--;
    while (end < size && end - at - 1 <= MOST_REST && is_letter(PyUnicode_READ(kind, data, end)))
        end++;
    Py_ssize_t prefix = at - begin, rest = end - at - 1;
    if (prefix < 1 || prefix > MOST_PREFIX || rest < LEAST_REST || rest > MOST_REST ||
        (begin > 0 && is_part(PyUnicode_READ(kind, data, begin - 1))) ||
        (end < size && is_part(PyUnicode_READ(kind, data, end))))
        return true;
    PyObject *first = PyUnicode_Substring(text, begin, at);
    PyObject *second = PyUnicode_Substring(text, at + 1, end);
    PyObject *joined = first && second ? PyUnicode_Concat(first, second) : NULL;
    bool is_done = joined != NULL && PyList_Append(found, joined) == 0;
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(joined);
    return is_done;
}

PyObject *hyphened_words(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "hyphened_words(text): a text");
        return NULL;
    }
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    PyObject *found = PyList_New(0);
    for (Py_ssize_t at = 0; found != NULL && at < size; at++) {
        at = PyUnicode_FindChar(text, '-', at, size, 1);
        if (at < 0)
            break;
        if (!append_joined(text, at, found))
            Py_CLEAR(found);
    }
    return found;
}

static inline bool is_separator(Py_UCS4 letter)
{
    return letter == ',' || letter == '.' || letter == '\'' || letter == ' ' || letter == 0xa0 ||
           letter == 0x2009 || letter == 0x2019 || letter == 0x202f;
}

static inline bool groups_digits(int kind, const void *data, Py_ssize_t size)
{
    Py_ssize_t digits = 0; /* as many as the run before `at` has */
    for (Py_ssize_t at = 0; at <= size; at++) {
        if (at < size && is_digit(PyUnicode_READ(kind, data, at))) {
            digits++;
            continue;
        }
        if (digits == 3 && at >= 5 && is_separator(PyUnicode_READ(kind, data, at - 4)) &&
            is_digit(PyUnicode_READ(kind, data, at - 5)))
            return true;
        digits = 0;
    }
    return false;
}

PyObject *has_groups(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "has_groups(text): a text");
        return NULL;
    }
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    if (PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND)
        return PyBool_FromLong(groups_digits(PyUnicode_1BYTE_KIND, data, size));
    if (PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND)
        return PyBool_FromLong(groups_digits(PyUnicode_2BYTE_KIND, data, size));
    return PyBool_FromLong(groups_digits(PyUnicode_4BYTE_KIND, data, size));
}
