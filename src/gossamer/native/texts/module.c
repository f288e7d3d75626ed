/* The functions as a module of Python. */

#include "texts.h"

static PyMethodDef methods[] = {
    {"fold", fold, METH_O, NULL},
    {"fold_lines", fold_lines, METH_O, NULL},
    {"find_stamps", find_stamps, METH_O, NULL},
    {"plain_urls", (PyCFunction)(void (*)(void))plain_urls, METH_FASTCALL, NULL},
    {"can_read_tree", (PyCFunction)(void (*)(void))can_read_tree, METH_FASTCALL, NULL},
    {"visit_nodes", (PyCFunction)(void (*)(void))visit_nodes, METH_FASTCALL, NULL},
    {"mentions", (PyCFunction)(void (*)(void))mentions, METH_FASTCALL, NULL},
    {"has_overrides", has_overrides, METH_O, NULL},
    {"lines_outside", (PyCFunction)(void (*)(void))lines_outside, METH_FASTCALL, NULL},
    {"hash_words", (PyCFunction)(void (*)(void))hash_words, METH_FASTCALL, NULL},
    {"space_words", (PyCFunction)(void (*)(void))space_words, METH_FASTCALL, NULL},
    {"pair_clusters", (PyCFunction)(void (*)(void))pair_clusters, METH_FASTCALL, NULL},
    {"words_beyond_ascii", words_beyond_ascii, METH_O, NULL},
    {"special_characters", (PyCFunction)(void (*)(void))special_characters, METH_FASTCALL, NULL},
    {"marked_characters", (PyCFunction)(void (*)(void))marked_characters, METH_FASTCALL, NULL},
    {"translate", (PyCFunction)(void (*)(void))translate, METH_FASTCALL, NULL},
    {"hyphened_words", hyphened_words, METH_O, NULL},
    {"has_groups", has_groups, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_texts", "Functions of gossamer.native.texts in C.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__texts(void)
{
    PyObject *module = PyModule_Create(&definition);
    PyObject *table = PyType_FromSpec(&term_table);
    if (module == NULL || table == NULL || PyModule_AddObjectRef(module, "TermTable", table) < 0)
        Py_CLEAR(module);
    Py_XDECREF(table);
    return module;
}
