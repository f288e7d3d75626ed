/* What is asked of all texts of a page: functions that get and return objects of Python, since the
   texts are there as such. Each has a definition in Python, in the module that calls it. */

#ifndef GOSSAMER_TEXTS_H
#define GOSSAMER_TEXTS_H

#include <Python.h>
#include <stdbool.h>

PyObject *fold(PyObject *module, PyObject *text);
PyObject *fold_lines(PyObject *module, PyObject *text);
PyObject *find_stamps(PyObject *module, PyObject *texts);
PyObject *plain_urls(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *can_read_tree(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *visit_nodes(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *mentions(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *has_overrides(PyObject *module, PyObject *text);
PyObject *lines_outside(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *hash_words(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *space_words(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *pair_clusters(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *words_beyond_ascii(PyObject *module, PyObject *text);
PyObject *special_characters(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *marked_characters(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *translate(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *hyphened_words(PyObject *module, PyObject *text);
PyObject *has_groups(PyObject *module, PyObject *text);
extern PyType_Spec term_table;

#endif
