/* Text with folded white space: gossamer/parse/parsed_page.py has the definition; and lines of it:
   gossamer/parse/html/lines.py has theirs. */

#include "texts.h"

static const Py_UCS4 BREAK = 0; /* ends a line */
static const Py_UCS4 NONE = 0x110000; /* no character */

/* The line that begins at `*at`, with one space for each run of white space between its words; `*at`
   is put behind its end, which is the character `end`. `folded` has room for the rest of the text, in
   its kind. */
static inline PyObject *next_line(int kind, const void *data, Py_ssize_t size, Py_ssize_t *at,
                                  Py_UCS4 end, void *folded)
{
    Py_ssize_t length = 0, n = *at;
    bool is_apart = false; /* white space comes before the next character */
    for (; n < size; n++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, n);
        if (letter == end)
            break;
        if ((letter <= ' ' || letter >= 0x80) && Py_UNICODE_ISSPACE(letter)) {
            is_apart = length > 0;
            continue;
        }
        if (is_apart)
            PyUnicode_WRITE(kind, folded, length++, ' ');
        is_apart = false;
        PyUnicode_WRITE(kind, folded, length++, letter);
    }
    *at = n + 1;
    return PyUnicode_FromKindAndData(kind, folded, length);
}

static inline bool add_lines(int kind, const void *data, Py_ssize_t size, void *folded,
                             PyObject *lines)
{
    for (Py_ssize_t at = 0; at <= size;) {
        PyObject *line = next_line(kind, data, size, &at, BREAK, folded);
        bool is_added = line != NULL && PyList_Append(lines, line) == 0;
        Py_XDECREF(line);
        if (!is_added)
            return false;
    }
    return true;
}

PyObject *fold_lines(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "fold_lines(text): a text");
        return NULL;
    }
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    void *folded = PyMem_Malloc((size_t)(size ? size : 1) * (size_t)PyUnicode_KIND(text));
    PyObject *lines = folded == NULL ? PyErr_NoMemory() : PyList_New(0);
    bool is_made = lines != NULL;
    if (is_made && PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND)
        is_made = add_lines(PyUnicode_1BYTE_KIND, data, size, folded, lines);
    else if (is_made && PyUnicode_KIND(text) == PyUnicode_2BYTE_KIND)
        is_made = add_lines(PyUnicode_2BYTE_KIND, data, size, folded, lines);
    else if (is_made)
        is_made = add_lines(PyUnicode_4BYTE_KIND, data, size, folded, lines);
    PyMem_Free(folded);
    if (!is_made)
        Py_CLEAR(lines);
    return lines;
}

static inline bool is_folded(int kind, const void *data, Py_ssize_t size)
{
    bool is_apart = true; /* white space, or the beginning, is before the next character */
    for (Py_ssize_t n = 0; n < size; n++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, n);
        bool is_space = (letter <= ' ' || letter >= 0x80) && Py_UNICODE_ISSPACE(letter);
        if (is_space && (is_apart || letter != ' '))
            return false;
        is_apart = is_space;
    }
    return size == 0 || !is_apart;
}

PyObject *fold(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_CheckExact(text)) {
        PyErr_SetString(PyExc_TypeError, "fold(text): a text");
        return NULL;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text), at = 0;
    if (kind == PyUnicode_1BYTE_KIND ? is_folded(PyUnicode_1BYTE_KIND, data, size)
                                     : is_folded(kind, data, size))
        return Py_NewRef(text);
    void *folded = PyMem_Malloc((size_t)size * (size_t)kind);
    if (folded == NULL)
        return PyErr_NoMemory();
    PyObject *line = next_line(kind, data, size, &at, NONE, folded);
    PyMem_Free(folded);
    return line;
}
