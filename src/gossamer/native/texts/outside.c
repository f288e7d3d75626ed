/* The lines of a text that are not in another one: gossamer/parse/step/page_writer.py has the
   definition.

   Lines are kept in a table by Python's own hash of bytes, whose key nobody outside knows, so a
   page cannot make them collide. */

#include "texts.h"

#include <string.h>

typedef struct {
    const char *at; /* NULL: a free slot */
    Py_ssize_t size;
    Py_hash_t hash;
} Line;

typedef struct {
    Line *slots;
    size_t mask;
    Py_hash_t (*hash)(const void *, Py_ssize_t);
} Table;

static Line line_at(const Table *table, const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    Py_ssize_t size = (stop == NULL ? end : stop) - at;
    return (Line){at, size, table->hash(at, size)};
}

/* Whether a line is new in the table, to which it then belongs. */
static bool add_line(Table *table, Line line)
{
    size_t slot = (size_t)line.hash & table->mask;
    for (; table->slots[slot].at != NULL; slot = (slot + 1) & table->mask) {
        const Line *known = &table->slots[slot];
        if (known->hash == line.hash && known->size == line.size &&
            memcmp(known->at, line.at, (size_t)line.size) == 0)
            return false;
    }
    table->slots[slot] = line;
    return true;
}

/* Of those that are not empty. */
static size_t count_lines(const char *at, const char *end)
{
    size_t count = 0;
    for (const char *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        count += stop > at;
    }
    return count;
}

static PyObject *outside(const char *text, const char *text_end, const char *other,
                         const char *other_end)
{
    size_t lines = count_lines(text, text_end) + count_lines(other, other_end), size = 1;
    while (size <= 2 * lines)
        size *= 2;
    Table table = {PyMem_Calloc(size, sizeof(Line)), size - 1, PyHash_GetFuncDef()->hash};
    char *found = PyMem_Malloc((size_t)(text_end - text) + 1), *end = found;
    PyObject *result = NULL;
    if (table.slots != NULL && found != NULL) {
        for (const char *at = other; at < other_end;) {
            Line line = line_at(&table, at, other_end);
            if (line.size > 0)
                add_line(&table, line);
            at += line.size + 1;
        }
        for (const char *at = text; at < text_end;) {
            Line line = line_at(&table, at, text_end);
            if (line.size > 0 && add_line(&table, line)) {
                if (end > found)
                    *end++ = '\n';
                memcpy(end, line.at, (size_t)line.size);
                end += line.size;
            }
            at += line.size + 1;
        }
        result = PyUnicode_DecodeUTF8(found, end - found, "strict");
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(table.slots);
    PyMem_Free(found);
    return result;
}

/* Raises UnicodeEncodeError for surrogates. */
PyObject *lines_outside(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyUnicode_Check(given[0]) || !PyUnicode_Check(given[1])) {
        PyErr_SetString(PyExc_TypeError, "lines_outside(text, other): two texts");
        return NULL;
    }
    Py_ssize_t text_size, other_size;
    const char *text = PyUnicode_AsUTF8AndSize(given[0], &text_size);
    const char *other = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(given[1], &other_size);
    if (other == NULL)
        return NULL;
    return outside(text, text + text_size, other, other + other_size);
}
