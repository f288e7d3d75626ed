/* The walk over a page: gossamer/parse/html/walk.py has the definition. Elements that occur often are
   treated here, if they have no attributes that matter; all others by their kind's methods. */

#include "tree.h"

#include <string.h>

enum {
    TEXT_TAG = 2,
    TAGS = 256,          /* of HTML; others are custom elements */
    MAX_BOXES = 200000,  /* as in cursor.py */
    MAX_KNOWN = 4096,    /* class attributes per tag */
    MAX_NAME_BYTES = 200,
    OUTSIDE = -4,
};

/* How a kind is treated, as in elements.py: the others by their methods. */
enum { CALLED, VISITED, BOXED, SPANNED, LINKING };

/* Of attributes and methods. */
static PyObject *name_alt, *name_box, *name_in_link, *name_tag, *name_enter, *name_leave,
    *name_end_anchor, *name_plain_marks;

typedef struct {
    TreeNode *node;
    PyObject *plain; /* how it is treated if it is plain: way, name, marks by classes, and whether its
                        id does not matter */
    PyObject *kind, *object; /* of Python; the latter if it is CALLED */
    long way, box;
    bool in_link;
} Open;

/* The classes of a tag's latest element, and its marks; NULL: none yet. */
typedef struct {
    const TreeText *classes;
    PyObject *marks;
} Latest;

typedef struct {
    PyObject *cursor, *root, *kinds, *plain;
    PyObject *pieces, *ends, *boxes, *linked, *links, *anchors, *found;
    PyObject *opened, *closed, *line_end, *empty;
    Open *open;
    size_t depth, room;
    unsigned char *is_code; /* by the number of a box, whether it is that of a pre */
    Py_ssize_t count, code_room;
    long box;
    bool in_link;
    Latest latest[TAGS + 1];
} Walk;

static bool append_number(PyObject *list, long number)
{
    PyObject *object = PyLong_FromLong(number);
    bool is_done = object != NULL && PyList_Append(list, object) == 0;
    Py_XDECREF(object);
    return is_done;
}

/* Append a tuple of two or three objects, which are taken over; NULL: not made. */
static bool append_tuple(PyObject *list, Py_ssize_t size, PyObject *one, PyObject *two,
                         PyObject *three)
{
    PyObject *tuple = one && two && (size < 3 || three) ? PyTuple_New(size) : NULL;
    if (tuple == NULL) {
        Py_XDECREF(one);
        Py_XDECREF(two);
        Py_XDECREF(three);
        return false;
    }
    PyTuple_SET_ITEM(tuple, 0, one);
    PyTuple_SET_ITEM(tuple, 1, two);
    if (size == 3)
        PyTuple_SET_ITEM(tuple, 2, three);
    bool is_done = PyList_Append(list, tuple) == 0;
    Py_DECREF(tuple);
    return is_done;
}

static bool end_line(Walk *walk, long end)
{
    return PyList_Append(walk->pieces, walk->line_end) == 0 && append_number(walk->ends, end);
}

static bool add_text(Walk *walk, const TreeText *text)
{
    if (text->data == NULL || text->length == 0 ||
        (text->length == 2 && text->data[0] == 0xc2 && text->data[1] == 0xb6)) /* PERMALINK */
        return true;
    PyObject *piece = text_object(text);
    if (piece == NULL || PyList_Append(walk->pieces, piece) < 0) {
        Py_XDECREF(piece);
        return false;
    }
    bool is_done = true;
    if (walk->in_link && walk->box >= 0) {
        int kind = PyUnicode_KIND(piece);
        const void *data = PyUnicode_DATA(piece);
        Py_ssize_t begin = 0, end = PyUnicode_GET_LENGTH(piece);
        while (begin < end && Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, begin)))
            begin++;
        while (begin < end && Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, end - 1)))
            end--;
        if (begin < end)
            is_done = append_tuple(walk->linked, 2,
                                   PyLong_FromSsize_t(PyList_GET_SIZE(walk->ends)),
                                   PyLong_FromSsize_t(end - begin), NULL);
    }
    Py_DECREF(piece);
    return is_done;
}

/* Keep room for boxes up to `count`, of which the new ones are no code. */
static bool add_boxes(Walk *walk, Py_ssize_t count)
{
    if (count > walk->code_room) {
        Py_ssize_t room = 2 * count + 64;
        unsigned char *larger = PyMem_Realloc(walk->is_code, (size_t)room);
        if (larger == NULL)
            return PyErr_NoMemory() != NULL;
        walk->is_code = larger;
        walk->code_room = room;
    }
    while (walk->count < count)
        walk->is_code[walk->count++] = false;
    return true;
}

static bool open_box(Walk *walk, PyObject *tag, PyObject *marks)
{
    if (walk->count >= MAX_BOXES)
        return true;
    bool is_done = PyList_Append(walk->opened, tag) == 0 &&
                   append_number(walk->opened, walk->box) &&
                   append_number(walk->opened, (long)PyList_GET_SIZE(walk->ends)) &&
                   PyList_Append(walk->opened, marks) == 0 && add_boxes(walk, walk->count + 1);
    walk->box = walk->count - 1;
    return is_done;
}

static bool close_box(Walk *walk, long around)
{
    return walk->box == around || walk->box < 0 ||
           (append_number(walk->closed, walk->box) &&
            append_number(walk->closed, (long)PyList_GET_SIZE(walk->ends)));
}

static const Attribute *find(const TreeNode *node, uintptr_t name)
{
    const Attribute *attribute = ((const Element *)node)->first;
    while (attribute != NULL && attribute->node.name != name)
        attribute = attribute->next;
    return attribute;
}

static bool has_value(const Attribute *attribute)
{
    return attribute != NULL && attribute->value != NULL && attribute->value->data != NULL;
}

/* The marks of elements of a kind with these classes, or None if its kind says that it is not plain;
   NULL if that fails. */
static PyObject *ask_marks(Walk *walk, const Open *open, const TreeText *classes)
{
    PyObject *text = classes == NULL ? Py_NewRef(walk->empty) : text_object(classes);
    PyObject *known = PyTuple_GET_ITEM(open->plain, 2);
    PyObject *marks = text == NULL ? NULL : PyDict_GetItemWithError(known, text);
    Py_XINCREF(marks);
    if (marks == NULL && text != NULL && !PyErr_Occurred()) {
        marks = PyObject_CallMethodOneArg(open->kind, name_plain_marks, text);
        if (PyDict_GET_SIZE(known) >= MAX_KNOWN)
            PyDict_Clear(known);
        if (marks != NULL && PyDict_SetItem(known, text, marks) < 0)
            Py_CLEAR(marks);
    }
    Py_XDECREF(text);
    return marks;
}

static bool are_equal(const TreeText *one, const TreeText *other)
{
    return one == other || (one != NULL && other != NULL && one->length == other->length &&
                            memcmp(one->data, other->data, one->length) == 0);
}

/* Borrowed: the marks of an element whose classes are those of an attribute, if it is plain. Otherwise
   NULL, also if that fails. */
static PyObject *plain_marks(Walk *walk, const Open *open, const Attribute *attribute)
{
    const TreeText *classes = has_value(attribute) ? attribute->value : NULL;
    if (classes != NULL && classes->length > MAX_NAME_BYTES)
        return NULL;
    Latest *latest = &walk->latest[open->node->name];
    if (latest->marks == NULL || !are_equal(latest->classes, classes)) {
        PyObject *before = latest->marks;
        latest->classes = classes;
        latest->marks = ask_marks(walk, open, classes);
        Py_XDECREF(before);
    }
    return latest->marks == Py_None ? NULL : latest->marks;
}

/* As `plain_marks`, of an element without attributes that matter besides its classes. */
static PyObject *only_marks(Walk *walk, const Open *open)
{
    const Attribute *classes = NULL, *attribute = ((const Element *)open->node)->first;
    for (; attribute != NULL; attribute = attribute->next)
        if (attribute->node.name == known_names.class)
            classes = attribute;
        else if (attribute->node.name != known_names.id || PyTuple_GET_ITEM(open->plain, 3) != Py_True)
            return NULL;
    return plain_marks(walk, open, classes);
}

/* Whether a span in code may be a number of its line: if its text has no word. */
static bool may_be_number(const TreeNode *child)
{
    if (child->name != TEXT_TAG)
        return false;
    const TreeText *text = &((const TextNode *)child)->text;
    for (size_t n = 0; text->data != NULL && n < text->length; n++) {
        unsigned char letter = text->data[n];
        if (letter > ' ')
            return letter >= 0x80 || (letter >= '0' && letter <= '9');
    }
    return text->data != NULL;
}

static PyObject *value_object(const Attribute *attribute)
{
    return has_value(attribute) ? text_object(attribute->value) : Py_NewRef(Py_None);
}

static bool end_anchor(Walk *walk)
{
    PyObject *done = PyObject_CallMethodNoArgs(walk->cursor, name_end_anchor);
    Py_XDECREF(done);
    return done != NULL;
}

/* Whether it is no target or fragment of the page; it may be empty, which is neither. */
static bool leads_away(const Attribute *href)
{
    return has_value(href) && (href->value->length == 0 || href->value->data[0] != '#');
}

/* An anchor that is not the number of a line. */
static bool enter_anchor(Walk *walk, TreeNode *node, const Attribute *href)
{
    bool is_done = append_tuple(walk->anchors, 3, value_object(href),
                                value_object(find(node, known_names.rel)),
                                PyLong_FromSsize_t(PyList_GET_SIZE(walk->pieces))) &&
                   PyObject_SetAttr(walk->found, name_alt, walk->empty) == 0;
    if (!is_done || node->first == NULL)
        return is_done && end_anchor(walk);
    if (walk->box >= 0 && leads_away(href) && href->value->length > 0) {
        walk->in_link = true;
        return append_number(walk->links, (long)PyList_GET_SIZE(walk->ends));
    }
    return true;
}

/* Get the state that a method may have changed. */
static bool read_cursor(Walk *walk)
{
    PyObject *box = PyObject_GetAttr(walk->cursor, name_box);
    PyObject *in_link = box == NULL ? NULL : PyObject_GetAttr(walk->cursor, name_in_link);
    bool is_read = in_link != NULL;
    if (is_read) {
        walk->box = PyLong_AsLong(box);
        walk->in_link = in_link == Py_True;
        is_read = !PyErr_Occurred();
    }
    Py_XDECREF(box);
    Py_XDECREF(in_link);
    Py_ssize_t before = walk->count, count = PyList_GET_SIZE(walk->boxes);
    if (!is_read || !add_boxes(walk, count))
        return false;
    for (Py_ssize_t n = before; n < count; n++) {
        PyObject *tag = PyObject_GetAttr(PyList_GET_ITEM(walk->boxes, n), name_tag);
        if (tag == NULL)
            return false;
        walk->is_code[n] = PyUnicode_CompareWithASCIIString(tag, "pre") == 0;
        Py_DECREF(tag);
    }
    return true;
}

/* Whether an element's children are to be visited: by the method of its kind. -1 if that fails. */
static int call_enter(Walk *walk, Open *open)
{
    open->object = node_object(walk->root, open->node);
    if (open->object == NULL)
        return -1;
    open->way = CALLED;
    PyObject *box = PyLong_FromLong(walk->box), *in_link = walk->in_link ? Py_True : Py_False;
    PyObject *given[] = {walk->cursor, open->kind, open->object, box, in_link, walk->opened};
    PyObject *visits =
        box == NULL ? NULL : PyObject_VectorcallMethod(name_enter, given, 6, NULL);
    Py_XDECREF(box);
    bool is_done = visits != NULL && read_cursor(walk);
    Py_XDECREF(visits);
    return is_done ? visits == Py_True : -1;
}

/* As `call_enter`; what is not plain is called. */
static int enter(Walk *walk, Open *open)
{
    TreeNode *node = open->node, *child = node->first;
    PyObject *marks;
    const Attribute *href, *classes;
    switch (open->way) {
    case VISITED:
        return child != NULL;
    case BOXED:
        if (child == NULL)
            return end_line(walk, walk->box) ? 0 : -1;
        if (walk->box < 0)
            return end_line(walk, walk->box) ? 1 : -1;
        marks = only_marks(walk, open);
        if (marks == NULL)
            break;
        return end_line(walk, walk->box) &&
                       open_box(walk, PyTuple_GET_ITEM(open->plain, 1), marks)
                   ? 1
                   : -1;
    case SPANNED:
        if (child == NULL || walk->box < 0)
            return child != NULL;
        if (walk->is_code[walk->box] ? !may_be_number(child) : only_marks(walk, open) != NULL)
            return 1;
        break;
    case LINKING:
        href = find(node, known_names.href);
        classes = find(node, known_names.class);
        if (classes != NULL && !leads_away(href) && plain_marks(walk, open, classes) == NULL)
            break;
        if (!enter_anchor(walk, node, href))
            return -1;
        return child != NULL;
    }
    return PyErr_Occurred() ? -1 : call_enter(walk, open);
}

static bool call_leave(Walk *walk, Open *open)
{
    PyObject *around = PyLong_FromLong(open->box), *box = PyLong_FromLong(walk->box);
    PyObject *given[] = {walk->cursor, open->kind, open->object, around, box, walk->opened};
    PyObject *done = around == NULL || box == NULL
                         ? NULL
                         : PyObject_VectorcallMethod(name_leave, given, 6, NULL);
    Py_XDECREF(around);
    Py_XDECREF(box);
    Py_XDECREF(done);
    return done != NULL;
}

static bool leave(Walk *walk, Open *open)
{
    switch (open->way) {
    case CALLED:
        return call_leave(walk, open);
    case BOXED:
        return end_line(walk, walk->box) && close_box(walk, open->box);
    case LINKING:
        return end_anchor(walk);
    }
    return true;
}

static bool push(Walk *walk, Open open)
{
    if (walk->depth == walk->room) {
        size_t room = 2 * walk->room + 64;
        Open *larger = PyMem_Realloc(walk->open, room * sizeof *larger);
        if (larger == NULL)
            return PyErr_NoMemory() != NULL;
        walk->open = larger;
        walk->room = room;
    }
    walk->open[walk->depth++] = open;
    return true;
}

static bool visit_all(Walk *walk)
{
    TreeNode *node = ((NodeObject *)walk->root)->node;
    while (node != NULL) {
        if (node->name == TEXT_TAG) {
            if (!add_text(walk, &((const TextNode *)node)->text))
                return false;
        } else {
            Py_ssize_t tag = node->name < TAGS ? (Py_ssize_t)node->name : TAGS;
            PyObject *plain = PyList_GET_ITEM(walk->plain, tag);
            Open open = {node, plain, PyList_GET_ITEM(walk->kinds, tag), NULL, CALLED, walk->box,
                         walk->in_link};
            if (node->type != ELEMENT_TYPE || node->space == known_names.html)
                open.way = PyLong_AsLong(PyTuple_GET_ITEM(plain, 0));
            int visits = enter(walk, &open);
            if (visits > 0 && push(walk, open)) {
                node = node->first;
                continue;
            }
            Py_XDECREF(open.object);
            if (visits != 0)
                return false;
        }
        node = node->next;
        while (node == NULL && walk->depth > 0) {
            Open open = walk->open[--walk->depth];
            bool is_done = leave(walk, &open);
            Py_XDECREF(open.object);
            if (!is_done)
                return false;
            walk->box = open.box;
            walk->in_link = open.in_link;
            node = open.node->next;
        }
        if (walk->depth == 0) /* only comments follow the root */
            break;
    }
    return true;
}

/* A list that an object has as its attribute. */
static PyObject *list_of(PyObject *object, const char *name)
{
    PyObject *list = object == NULL ? NULL : PyObject_GetAttrString(object, name);
    if (list != NULL && !PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "visit_nodes: no list");
        Py_CLEAR(list);
    }
    return list;
}

static bool make_names(void)
{
    return name_plain_marks != NULL ||
           ((name_alt = PyUnicode_InternFromString("alt")) != NULL &&
            (name_box = PyUnicode_InternFromString("box")) != NULL &&
            (name_in_link = PyUnicode_InternFromString("in_link")) != NULL &&
            (name_tag = PyUnicode_InternFromString("tag")) != NULL &&
            (name_enter = PyUnicode_InternFromString("enter")) != NULL &&
            (name_leave = PyUnicode_InternFromString("leave")) != NULL &&
            (name_end_anchor = PyUnicode_InternFromString("end_anchor")) != NULL &&
            (name_plain_marks = PyUnicode_InternFromString("plain_marks")) != NULL);
}

static bool are_tables(PyObject *kinds, PyObject *plain)
{
    if (!PyList_Check(kinds) || !PyList_Check(plain) || PyList_GET_SIZE(kinds) != TAGS + 1 ||
        PyList_GET_SIZE(plain) != TAGS + 1)
        return false;
    for (Py_ssize_t n = 0; n <= TAGS; n++) {
        PyObject *item = PyList_GET_ITEM(plain, n);
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 4 ||
            !PyLong_Check(PyTuple_GET_ITEM(item, 0)) || !PyDict_Check(PyTuple_GET_ITEM(item, 2)))
            return false;
    }
    return true;
}

/* Only after `can_read_tree`. */
PyObject *visit_nodes(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || known_names.href == 0 || !are_tables(given[2], given[3])) {
        PyErr_SetString(PyExc_TypeError, "visit_nodes(root, cursor, kinds, plain)");
        return NULL;
    }
    Walk walk = {.root = given[0], .cursor = given[1], .kinds = given[2], .plain = given[3]};
    walk.found = PyObject_GetAttrString(walk.cursor, "found");
    PyObject *lines = PyObject_GetAttrString(walk.cursor, "lines"), *finished = NULL;
    if (make_names() && (walk.anchors = list_of(walk.found, "anchors")) != NULL &&
        (walk.pieces = list_of(lines, "pieces")) != NULL &&
        (walk.ends = list_of(lines, "ends")) != NULL &&
        (walk.boxes = list_of(lines, "boxes")) != NULL &&
        (walk.linked = list_of(lines, "linked")) != NULL &&
        (walk.links = list_of(lines, "links")) != NULL && (walk.opened = PyList_New(0)) != NULL &&
        (walk.closed = PyList_New(0)) != NULL && (walk.empty = PyUnicode_New(0, 0)) != NULL &&
        (walk.line_end = PyUnicode_FromStringAndSize("\0", 1)) != NULL && read_cursor(&walk) &&
        visit_all(&walk))
        finished = PyObject_CallMethod(walk.cursor, "finish", "lOO", walk.box, walk.opened,
                                       walk.closed);
    while (walk.depth > 0)
        Py_XDECREF(walk.open[--walk.depth].object);
    for (size_t n = 0; n <= TAGS; n++)
        Py_XDECREF(walk.latest[n].marks);
    PyMem_Free(walk.open);
    PyMem_Free(walk.is_code);
    PyObject *owned[] = {walk.found,  lines,      walk.anchors, walk.pieces,
                         walk.ends,   walk.boxes, walk.linked,  walk.links,
                         walk.opened, walk.closed, walk.empty,  walk.line_end};
    for (size_t n = 0; n < sizeof owned / sizeof *owned; n++)
        Py_XDECREF(owned[n]);
    return finished;
}
