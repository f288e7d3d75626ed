/* What is asked of all texts of a page: functions that get and return objects of Python, since the
   texts are there as such. Each has a definition in Python, in the module that calls it. */

#ifndef GOSSAMER_TEXTS_H
#define GOSSAMER_TEXTS_H

#include <Python.h>
#include <stdbool.h>

PyObject *fold_lines(PyObject *module, PyObject *text);
PyObject *find_stamps(PyObject *module, PyObject *texts);
PyObject *has_overrides(PyObject *module, PyObject *text);
PyObject *lines_outside(PyObject *module, PyObject *const *given, Py_ssize_t count);

#endif
