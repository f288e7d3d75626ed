/* The functions as a module of Python. */

#include "texts.h"

static PyMethodDef methods[] = {
    {"fold_lines", fold_lines, METH_O, NULL},
    {"find_stamps", find_stamps, METH_O, NULL},
    {"has_overrides", has_overrides, METH_O, NULL},
    {"lines_outside", (PyCFunction)(void (*)(void))lines_outside, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_texts", "Functions of gossamer.native.texts in C.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__texts(void)
{
    return PyModule_Create(&definition);
}
