/* The loops as functions of a module of Python, with one way to call them all.

   Arguments are numbers, or whatever gives its items by the buffer protocol, such as arrays of
   numpy; its headers are not needed. Types are checked here, contents by the loops. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "loops.h"

enum { MAX_ARGUMENTS = 13, MAX_LOOPS = 64 };

const char NO_MEMORY[] = "out of memory";
static const char CAPSULE[] = "gossamer.loop";

/* Types of arguments: what PEP 3118 may call their items, and how many bytes these have. */
typedef struct {
    char letter;
    const char *formats;
    int bytes, or_bytes;
} Type;

static const Type TYPES[] = {
    {'W', "LQ", 8, 8},   {'N', "lq", 8, 8},    {'n', "il", 4, 4},  {'X', "ilq", 4, 8},
    {'P', "ILQ", 4, 8},  {'C', "IL", 4, 4},    {'H', "H", 2, 2},   {'B', "B", 1, 1},
    {'b', "?", 1, 1},    {'D', "d", 8, 8},
};

static const Type *type_of(char letter)
{
    for (size_t n = 0; n < sizeof TYPES / sizeof *TYPES; n++)
        if (TYPES[n].letter == letter)
            return &TYPES[n];
    return NULL;
}

static bool get_array(PyObject *object, char letter, bool is_written, Py_buffer *view, Value *value)
{
    const Type *type = type_of(letter);
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return false;
    const char *format = view->format ? view->format : "B";
    bool fits = strlen(format) == 1 && strchr(type->formats, format[0]) != NULL &&
                (view->itemsize == type->bytes || view->itemsize == type->or_bytes);
    if (!fits) {
        PyErr_Format(PyExc_TypeError, "items of type %s, not %c", format, letter);
        PyBuffer_Release(view);
        return false;
    }
    *value = (Value){view->buf, view->len / view->itemsize, view->itemsize == 8, 0, 0.0};
    return true;
}

static PyObject *result_of(const char *kinds, const Found *found)
{
    size_t count = strlen(kinds);
    if (count == 0)
        Py_RETURN_NONE;
    if (kinds[0] == 'f')
        return PyFloat_FromDouble(found->real);
    if (count == 1)
        return PyLong_FromLongLong(found->numbers[0]);
    PyObject *result = PyTuple_New((Py_ssize_t)count);
    for (size_t n = 0; result != NULL && n < count; n++) {
        PyObject *number = PyLong_FromLongLong(found->numbers[n]);
        if (number == NULL || PyTuple_SetItem(result, (Py_ssize_t)n, number) < 0)
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *call(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Loop *loop = PyCapsule_GetPointer(self, CAPSULE);
    if (loop == NULL)
        return NULL;
    Value values[MAX_ARGUMENTS];
    Py_buffer views[MAX_ARGUMENTS];
    int open = 0, wide = -1;
    Py_ssize_t n = 0;
    bool is_right = true;
    for (const char *kind = loop->arguments; *kind && n < count && is_right; kind++, n++) {
        if (*kind == 'i') {
            values[n].number = PyLong_AsLongLong(given[n]);
            is_right = values[n].number != -1 || !PyErr_Occurred();
        } else if (*kind == 'f') {
            values[n].real = PyFloat_AsDouble(given[n]);
            is_right = values[n].real != -1.0 || !PyErr_Occurred();
        } else {
            char letter = *kind;
            bool is_written = kind[1] == '+';
            is_right = get_array(given[n], letter, is_written, &views[open], &values[n]);
            open += is_right;
            kind += is_written;
            if (is_right && letter == 'X') {
                if (wide >= 0 && wide != values[n].is_wide) {
                    PyErr_SetString(PyExc_TypeError, "indices of different types");
                    is_right = false;
                }
                wide = values[n].is_wide;
            }
        }
    }
    PyObject *result = NULL;
    Py_ssize_t expected = 0;
    for (const char *kind = loop->arguments; *kind; kind++)
        expected += *kind != '+';
    if (is_right && count != expected) {
        PyErr_Format(PyExc_TypeError, "%s: %zd arguments, not %zd", loop->name, count, expected);
    } else if (is_right) {
        Found found = {{0, 0, 0}, 0.0};
        const char *wrong;
        Py_BEGIN_ALLOW_THREADS
        wrong = loop->run(values, &found);
        Py_END_ALLOW_THREADS
        if (wrong == NULL)
            result = result_of(loop->results, &found);
        else if (wrong == NO_MEMORY)
            PyErr_NoMemory();
        else
            PyErr_Format(PyExc_ValueError, "%s: %s", loop->name, wrong);
    }
    while (open > 0)
        PyBuffer_Release(&views[--open]);
    return result;
}

static PyMethodDef methods[MAX_LOOPS];
static int known = 0;

static bool add_loops(PyObject *module, const Loop *loops)
{
    for (; loops->name != NULL; loops++) {
        PyMethodDef *method = &methods[known++];
        *method = (PyMethodDef){loops->name, (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};
        PyObject *loop = PyCapsule_New((void *)loops, CAPSULE, NULL);
        PyObject *made = loop == NULL ? NULL : PyCFunction_NewEx(method, loop, NULL);
        Py_XDECREF(loop);
        if (made == NULL || PyModule_AddObjectRef(module, loops->name, made) < 0) {
            Py_XDECREF(made);
            return false;
        }
        Py_DECREF(made);
    }
    return true;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_loops", "The loops of gossamer.native in C.", -1,
    NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__loops(void)
{
    const Loop *all[] = {DECODING_LOOPS, ENCODING_LOOPS,  NAME_LOOPS,      ARC_LOOPS,
                         RANK_LOOPS,     COMPONENT_LOOPS, CENTRALITY_LOOPS, NGRAM_LOOPS,
                         SKETCH_LOOPS,   CODE_LOOPS,      HASH_LOOPS,      VECTOR_LOOPS};
    PyObject *module = PyModule_Create(&definition);
    known = 0;
    for (size_t n = 0; module != NULL && n < sizeof all / sizeof *all; n++)
        if (!add_loops(module, all[n]))
            Py_CLEAR(module);
    return module;
}
