/* Whether a text has marks that change its direction: gossamer/web/directions.py has the
   definition. */

#include "texts.h"

/* The marks are U+202A to U+202E and U+2066 to U+2069. */
static inline bool is_mark(Py_UCS4 letter)
{
    return letter - 0x202A <= 4 || letter - 0x2066 <= 3;
}

PyObject *has_overrides(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "has_overrides(text): a text");
        return NULL;
    }
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    bool found = false;
    if (PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND) {
        const Py_UCS2 *data = PyUnicode_2BYTE_DATA(text);
        for (Py_ssize_t n = 0; n < size; n++)
            found |= is_mark(data[n]);
    } else if (PyUnicode_KIND(text) == PyUnicode_4BYTE_KIND) {
        const Py_UCS4 *data = PyUnicode_4BYTE_DATA(text);
        for (Py_ssize_t n = 0; n < size; n++)
            found |= is_mark(data[n]);
    }
    return PyBool_FromLong(found);
}
