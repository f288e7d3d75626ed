/* Words of any script: gossamer/index/format/unspaced.py has the definitions. */

#include "texts.h"

enum { WORD = 1, LETTER = 2, MARK = 4, STACKED = 8, STACKABLE = 16, SYLLABLE = 32 };

static const Py_ssize_t PLANE = 0x10000, CLASSES = 0x10000 + 0x11;

/* A text and the classes of its characters: one of each character of the first plane, and then one
   of each plane. */
typedef struct {
    int kind;
    const void *data;
    Py_ssize_t size;
    const unsigned char *classes;
} Text;

static inline unsigned class_at(const Text *text, int kind, Py_ssize_t at)
{
    if (at >= text->size)
        return 0;
    Py_UCS4 letter = PyUnicode_READ(kind, text->data, at);
    return text->classes[letter < PLANE ? (Py_ssize_t)letter : PLANE + (letter >> 16)];
}

/* Behind the end of the grapheme cluster that begins at `at`. */
static inline Py_ssize_t cluster_end(const Text *text, int kind, Py_ssize_t at)
{
    for (at++;;) {
        unsigned found = class_at(text, kind, at);
        if (found & STACKED && class_at(text, kind, at + 1) & STACKABLE)
            at += 2;
        else if (found & MARK)
            at++;
        else
            return at;
    }
}

static inline Py_ssize_t copy(const Text *text, int kind, Py_ssize_t begin, Py_ssize_t end,
                              void *found, Py_ssize_t length)
{
    for (; begin < end; begin++)
        PyUnicode_WRITE(kind, found, length++, PyUnicode_READ(kind, text->data, begin));
    return length;
}

/* Write the words, with a space before each but the first; return their length. */
static inline Py_ssize_t write_spaced(const Text *text, int kind, void *found)
{
    Py_ssize_t length = 0;
    for (Py_ssize_t at = 0, end; at < text->size; at = end) {
        unsigned first = class_at(text, kind, at);
        end = at + 1;
        if (!(first & (WORD | LETTER)))
            continue;
        if (first & LETTER)
            end = cluster_end(text, kind, at);
        else
            while (class_at(text, kind, end) & WORD)
                end++;
        if (length)
            PyUnicode_WRITE(kind, found, length++, ' ');
        length = copy(text, kind, at, end, found, length);
    }
    return length;
}

/* Write each two neighbours of a run, with a space before each pair but the first. */
static inline Py_ssize_t write_pairs(const Text *text, int kind, void *found)
{
    Py_ssize_t length = 0;
    for (Py_ssize_t at = 0, end; at < text->size; at = end) {
        unsigned run = class_at(text, kind, at) & (LETTER | SYLLABLE);
        end = at + 1;
        if (!run)
            continue;
        if (run & LETTER)
            end = cluster_end(text, kind, at);
        if (!(class_at(text, kind, end) & run))
            continue;
        Py_ssize_t next = run & LETTER ? cluster_end(text, kind, end) : end + 1;
        if (length)
            PyUnicode_WRITE(kind, found, length++, ' ');
        length = copy(text, kind, at, next, found, length);
    }
    return length;
}

typedef Py_ssize_t Writer(const Text *text, int kind, void *found);

/* What a writer makes of a text with at most `growth` characters for each. The constant kinds make
   a loop of its own of each. */
static inline PyObject *write_text(PyObject *const *given, Py_ssize_t count, Py_ssize_t growth,
                              Writer *writer)
{
    if (count != 2 || !PyUnicode_Check(given[0]) || !PyBytes_Check(given[1]) ||
        PyBytes_GET_SIZE(given[1]) != CLASSES) {
        PyErr_SetString(PyExc_TypeError, "a text, and bytes for each class");
        return NULL;
    }
    Text text = {PyUnicode_KIND(given[0]), PyUnicode_DATA(given[0]),
                 PyUnicode_GET_LENGTH(given[0]),
                 (const unsigned char *)PyBytes_AS_STRING(given[1])};
    if (text.size > PY_SSIZE_T_MAX / (growth * text.kind) - 1)
        return PyErr_NoMemory();
    void *found = PyMem_Malloc((size_t)(growth * (text.size + 1) * text.kind));
    if (found == NULL)
        return PyErr_NoMemory();
    Py_ssize_t length;
    if (text.kind == PyUnicode_1BYTE_KIND)
        length = writer(&text, PyUnicode_1BYTE_KIND, found);
    else if (text.kind == PyUnicode_2BYTE_KIND)
        length = writer(&text, PyUnicode_2BYTE_KIND, found);
    else
        length = writer(&text, PyUnicode_4BYTE_KIND, found);
    PyObject *result = PyUnicode_FromKindAndData(text.kind, found, length);
    PyMem_Free(found);
    return result;
}

PyObject *space_words(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    return write_text(given, count, 2, write_spaced);
}

PyObject *pair_clusters(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    return write_text(given, count, 3, write_pairs);
}

/* A list of the words between single spaces that have a character beyond ASCII. */
PyObject *words_beyond_ascii(PyObject *module, PyObject *text)
{
    (void)module;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "words_beyond_ascii(text): a text");
        return NULL;
    }
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t size = PyUnicode_IS_ASCII(text) ? 0 : PyUnicode_GET_LENGTH(text);
    PyObject *words = PyList_New(0);
    Py_UCS4 all = 0;
    for (Py_ssize_t at = 0, begin = 0; words != NULL && at <= size; at++) {
        Py_UCS4 letter = at < size ? PyUnicode_READ(kind, data, at) : ' ';
        all |= letter;
        if (letter != ' ')
            continue;
        if (all >= 0x80) {
            PyObject *word = PyUnicode_Substring(text, begin, at);
            if (word == NULL || PyList_Append(words, word) < 0)
                Py_CLEAR(words);
            Py_XDECREF(word);
        }
        begin = at + 1;
        all = 0;
    }
    return words;
}
