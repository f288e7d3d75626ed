/* Text with folded white space: gossamer/parse/parsed_page.py has the definition; and lines of it:
   gossamer/parse/html/lines.py has theirs. */

#include "texts.h"

static const Py_UCS4 BREAK = 0;       /* ends a line */
static const Py_UCS4 NONE = 0x110000; /* no character */

/* The words of a line that were read so far, with one space between them, in letters as wide as the
   widest needs. */
typedef struct {
    void *letters;
    int kind;
    Py_ssize_t length;
    bool is_apart; /* white space comes before the next word */
} Line;

static inline bool is_space(Py_UCS4 letter)
{
    return (letter <= ' ' || letter >= 0x80) && Py_UNICODE_ISSPACE(letter);
}

static bool end_line(Line *line, PyObject *lines)
{
    PyObject *text = PyUnicode_FromKindAndData(line->kind, line->letters, line->length);
    line->length = 0;
    line->is_apart = false;
    bool is_added = text != NULL && PyList_Append(lines, text) == 0;
    Py_XDECREF(text);
    return is_added;
}

/* Add letters of kind `in` to a line of kind `out`. The character `end` ends a line. */
static inline bool add(Line *line, int out, int in, const void *data, Py_ssize_t size, Py_UCS4 end,
                       PyObject *lines)
{
    for (Py_ssize_t n = 0; n < size; n++) {
        Py_UCS4 letter = PyUnicode_READ(in, data, n);
        if (letter == end) {
            if (!end_line(line, lines))
                return false;
        } else if (is_space(letter)) {
            line->is_apart = line->length > 0;
        } else {
            if (line->is_apart)
                PyUnicode_WRITE(out, line->letters, line->length++, ' ');
            line->is_apart = false;
            PyUnicode_WRITE(out, line->letters, line->length++, letter);
        }
    }
    return true;
}

static void widen(Line *line, int kind)
{
    for (Py_ssize_t n = line->length; n-- > 0;) {
        Py_UCS4 letter = PyUnicode_READ(line->kind, line->letters, n);
        PyUnicode_WRITE(kind, line->letters, n, letter);
    }
    line->kind = kind;
}

static bool add_text(Line *line, PyObject *text, Py_UCS4 end, PyObject *lines)
{
    int in = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    if (line->length == 0)
        line->kind = in;
    else if (line->kind < in)
        widen(line, in);
    if (line->kind == PyUnicode_1BYTE_KIND)
        return add(line, PyUnicode_1BYTE_KIND, PyUnicode_1BYTE_KIND, data, size, end, lines);
    if (line->kind == PyUnicode_2BYTE_KIND && in == PyUnicode_1BYTE_KIND)
        return add(line, PyUnicode_2BYTE_KIND, PyUnicode_1BYTE_KIND, data, size, end, lines);
    if (line->kind == PyUnicode_2BYTE_KIND)
        return add(line, PyUnicode_2BYTE_KIND, PyUnicode_2BYTE_KIND, data, size, end, lines);
    return add(line, PyUnicode_4BYTE_KIND, in, data, size, end, lines);
}

/* The most bytes that the letters of a line can have; -1 if not all pieces are texts. */
static Py_ssize_t most_bytes(PyObject *pieces)
{
    Py_ssize_t letters = 1, kind = 1;
    for (Py_ssize_t n = 0; n < PyList_GET_SIZE(pieces); n++) {
        PyObject *piece = PyList_GET_ITEM(pieces, n);
        if (!PyUnicode_Check(piece))
            return -1;
        letters += PyUnicode_GET_LENGTH(piece);
        kind = PyUnicode_KIND(piece) > kind ? PyUnicode_KIND(piece) : kind;
    }
    return letters <= PY_SSIZE_T_MAX / kind ? letters * kind : PY_SSIZE_T_MAX;
}

PyObject *fold_lines(PyObject *module, PyObject *pieces)
{
    (void)module;
    Py_ssize_t most = PyList_Check(pieces) ? most_bytes(pieces) : -1;
    if (most < 0) {
        PyErr_SetString(PyExc_TypeError, "fold_lines(pieces): a list of texts");
        return NULL;
    }
    Line line = {PyMem_Malloc((size_t)most), PyUnicode_1BYTE_KIND, 0, false};
    PyObject *lines = line.letters == NULL ? PyErr_NoMemory() : PyList_New(0);
    bool is_made = lines != NULL;
    for (Py_ssize_t n = 0; is_made && n < PyList_GET_SIZE(pieces); n++)
        is_made = add_text(&line, PyList_GET_ITEM(pieces, n), BREAK, lines);
    if (!is_made || !end_line(&line, lines))
        Py_CLEAR(lines);
    PyMem_Free(line.letters);
    return lines;
}

static inline bool is_folded(int kind, const void *data, Py_ssize_t size)
{
    bool is_apart = true; /* white space, or the beginning, is before the next character */
    for (Py_ssize_t n = 0; n < size; n++) {
        Py_UCS4 letter = PyUnicode_READ(kind, data, n);
        bool is_blank = is_space(letter);
        if (is_blank && (is_apart || letter != ' '))
            return false;
        is_apart = is_blank;
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
    Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    if (kind == PyUnicode_1BYTE_KIND ? is_folded(PyUnicode_1BYTE_KIND, data, size)
                                     : is_folded(kind, data, size))
        return Py_NewRef(text);
    Line line = {PyMem_Malloc((size_t)size * (size_t)kind), kind, 0, false};
    if (line.letters == NULL)
        return PyErr_NoMemory();
    add_text(&line, text, NONE, NULL);
    PyObject *folded = PyUnicode_FromKindAndData(line.kind, line.letters, line.length);
    PyMem_Free(line.letters);
    return folded;
}
