/* Whether markup has a word in large or small letters: gossamer/parse/html/html_page.py has the
   definition. */

#include "texts.h"

enum { PREFIX = 8, BLOCK = 1024 }; /* letters that are compared in all places; places at once */

static inline unsigned char lower(unsigned char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter;
}

static bool is_at(const unsigned char *at, const unsigned char *word, Py_ssize_t length)
{
    for (Py_ssize_t n = 0; n < length; n++)
        if (lower(at[n]) != word[n])
            return false;
    return true;
}

/* Whether the beginning of the word may be in one of so many places. No jumps: many are compared at
   once. */
static bool may_begin(const unsigned char *at, Py_ssize_t places, const unsigned char *word)
{
    unsigned char found = 0;
    for (Py_ssize_t n = 0; n < places; n++) {
        unsigned char differs = 0;
        for (int k = 0; k < PREFIX; k++)
            differs |= (unsigned char)((at[n + k] | 0x20) ^ word[k]);
        found |= (unsigned char)(differs == 0);
    }
    return found;
}

static bool has_word(const unsigned char *data, Py_ssize_t size, const unsigned char *word,
                     Py_ssize_t length)
{
    Py_ssize_t places = size - length + 1;
    for (Py_ssize_t at = 0; at < places; at += BLOCK) {
        Py_ssize_t block = places - at < BLOCK ? places - at : BLOCK;
        if (may_begin(data + at, block, word))
            for (Py_ssize_t n = at; n < at + block; n++)
                if (is_at(data + n, word, length))
                    return true;
    }
    return false;
}

/* The word is of ASCII, without letters or marks that differ from small ones in one bit. */
static bool is_word(PyObject *word)
{
    if (!PyUnicode_Check(word) || !PyUnicode_IS_ASCII(word) || PyUnicode_GET_LENGTH(word) < PREFIX)
        return false;
    const Py_UCS1 *letters = PyUnicode_1BYTE_DATA(word);
    for (Py_ssize_t n = 0; n < PyUnicode_GET_LENGTH(word); n++)
        if (!(letters[n] & 0x20) || lower(letters[n]) != letters[n])
            return false;
    return true;
}

PyObject *mentions(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !is_word(given[1]) ||
        (!PyBytes_Check(given[0]) && !PyUnicode_Check(given[0]))) {
        PyErr_SetString(PyExc_TypeError, "mentions(markup, word)");
        return NULL;
    }
    const Py_UCS1 *word = PyUnicode_1BYTE_DATA(given[1]);
    Py_ssize_t length = PyUnicode_GET_LENGTH(given[1]);
    if (PyBytes_Check(given[0]))
        return PyBool_FromLong(has_word((const unsigned char *)PyBytes_AS_STRING(given[0]),
                                        PyBytes_GET_SIZE(given[0]), word, length));
    if (PyUnicode_KIND(given[0]) == PyUnicode_1BYTE_KIND)
        return PyBool_FromLong(has_word(PyUnicode_1BYTE_DATA(given[0]),
                                        PyUnicode_GET_LENGTH(given[0]), word, length));
    PyObject *folded = PyObject_CallMethod(given[0], "lower", NULL);
    int found = folded == NULL ? -1 : PyUnicode_Contains(folded, given[1]);
    Py_XDECREF(folded);
    return found < 0 ? NULL : PyBool_FromLong(found);
}
