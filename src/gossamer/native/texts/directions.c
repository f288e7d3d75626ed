/* Whether a text has marks that change its direction: gossamer/web/directions.py has the
   definition. */

#include "texts.h"

/* The marks are U+202A to U+202E and U+2066 to U+2069. */
static inline bool is_mark(Py_UCS4 letter)
{
    return letter - 0x202A <= 4 || letter - 0x2066 <= 3;
}

/* In numbers as wide as the letters, many are compared at once. */
static bool has_narrow_mark(const Py_UCS2 *data, Py_ssize_t size)
{
    Py_UCS2 found = 0;
    for (Py_ssize_t n = 0; n < size; n++) {
        Py_UCS2 embedding = (Py_UCS2)(data[n] - 0x202A), isolate = (Py_UCS2)(data[n] - 0x2066);
        found |= (Py_UCS2)((embedding <= 4) | (isolate <= 3));
    }
    return found;
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
        found = has_narrow_mark(PyUnicode_2BYTE_DATA(text), size);
    } else if (PyUnicode_KIND(text) == PyUnicode_4BYTE_KIND) {
        const Py_UCS4 *data = PyUnicode_4BYTE_DATA(text);
        for (Py_ssize_t n = 0; n < size; n++)
            found |= is_mark(data[n]);
    }
    return PyBool_FromLong(found);
}
