/* Whether lexbor's tree can be read in place: gossamer/parse/html/walk.py asks. */

#include "tree.h"

#include <string.h>

KnownNames known_names = {0, 0, 0, 0, 0};

/* Another node of the same tree, as selectolax's LexborNode.new makes it. */
PyObject *node_object(PyObject *like, TreeNode *node)
{
    PyObject *none = PyTuple_New(0); /* one object for all */
    PyObject *made = none == NULL ? NULL : Py_TYPE(like)->tp_new(Py_TYPE(like), none, NULL);
    Py_XDECREF(none);
    if (made == NULL)
        return NULL;
    NodeObject *object = (NodeObject *)made;
    PyObject *before = object->parser;
    object->node = node;
    object->parser = Py_NewRef(((NodeObject *)like)->parser);
    Py_XDECREF(before);
    object->is_fragment_root = object->is_template_content = 0;
    return made;
}

/* What lexbor cannot decode is in the tree as it was. */
PyObject *text_object(const TreeText *text)
{
    return PyUnicode_DecodeUTF8((const char *)text->data, (Py_ssize_t)text->length, "replace");
}

static bool is_address(PyObject *address, const void *of)
{
    return PyLong_AsVoidPtr(address) == of && of != NULL;
}

static bool is_text(const TreeText *text, const char *expected)
{
    return text != NULL && text->length == strlen(expected) && text->data != NULL &&
           memcmp(text->data, expected, text->length) == 0;
}

/* The node is <a href="h" rel="r" class="c" id="i">text</a>, with a node behind it. */
PyObject *can_read_tree(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "can_read_tree(node, parser, node, parent, next, child)");
        return NULL;
    }
    NodeObject *object = (NodeObject *)given[0];
    if (Py_TYPE(object)->tp_basicsize != (Py_ssize_t)sizeof(NodeObject) ||
        !is_address(given[2], object->node) || object->parser != given[1])
        Py_RETURN_FALSE;
    const Element *element = (const Element *)object->node;
    if (!is_address(given[3], element->node.parent) || !is_address(given[4], element->node.next) ||
        !is_address(given[5], element->node.first) || element->node.type != ELEMENT_TYPE)
        Py_RETURN_FALSE;
    const TextNode *text = (const TextNode *)element->node.first;
    if (text->node.type != TEXT_TYPE || !is_text(&text->text, "text"))
        Py_RETURN_FALSE;
    static const char *const values[] = {"h", "r", "c", "i"};
    uintptr_t names[4];
    const Attribute *attribute = element->first;
    for (int n = 0; n < 4; n++, attribute = attribute->next) {
        if (attribute == NULL || attribute->node.type != ATTRIBUTE_TYPE ||
            !is_text(attribute->value, values[n]))
            Py_RETURN_FALSE;
        names[n] = attribute->node.name;
    }
    known_names = (KnownNames){names[0], names[1], names[2], names[3], element->node.space};
    return PyBool_FromLong(attribute == NULL);
}
