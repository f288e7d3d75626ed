/* lexbor's tree, as selectolax 1.0.2 has it: selectolax/lexbor.pxd. */

#ifndef GOSSAMER_TREE_H
#define GOSSAMER_TREE_H

#include "texts.h"

typedef struct {
    const unsigned char *data;
    size_t length;
} TreeText;

typedef struct TreeNode TreeNode;

struct TreeNode {
    void *events;
    uintptr_t name, prefix, space;
    void *document;
    TreeNode *next, *previous, *parent, *first, *last;
    void *user;
    int type;
};

typedef struct {
    TreeNode node;
    TreeText text;
} TextNode;

typedef struct Attribute Attribute;

struct Attribute {
    TreeNode node;
    uintptr_t upper_name, qualified_name;
    TreeText *value; /* NULL or without data: none */
    void *owner;
    Attribute *next, *previous;
};

typedef struct {
    TreeNode node;
    uintptr_t upper_name, qualified_name;
    void *is_value;
    Attribute *first, *last;
} Element;

enum { ELEMENT_TYPE = 1, ATTRIBUTE_TYPE = 2, TEXT_TYPE = 3 };

/* The object of Python for a node. */
typedef struct {
    PyObject_HEAD
    void *methods;
    TreeNode *node;
    PyObject *parser;
    int is_fragment_root, is_template_content;
} NodeObject;

/* Names of attributes that the walk reads and of HTML's namespace, as lexbor numbers them. */
typedef struct {
    uintptr_t href, rel, class, id, html;
} KnownNames;

extern KnownNames known_names; /* 0 before `can_read_tree` */

PyObject *node_object(PyObject *like, TreeNode *node);
PyObject *text_object(const TreeText *text);

#endif
