/* References whose normal form needs no parser: gossamer/web/urls.py has the definition, as regular
   expressions. */

#include "texts.h"

#include <string.h>

enum { MAX_LABEL = 60, MIN_LABELS = 2, MAX_LABELS = 4 };

typedef struct {
    int kind;
    const void *data;
    Py_ssize_t size; /* without the fragment */
} Href;

/* 0 outside the reference, which no plain one contains. */
static inline Py_UCS4 letter_at(Href href, Py_ssize_t at)
{
    return at < href.size ? PyUnicode_READ(href.kind, href.data, at) : 0;
}

static inline bool is_small(Py_UCS4 letter)
{
    return letter >= 'a' && letter <= 'z';
}

static inline bool is_digit(Py_UCS4 letter)
{
    return letter >= '0' && letter <= '9';
}

/* Of a name of a file or folder, which begins with another one than a dot. */
static inline bool is_unreserved(Py_UCS4 letter)
{
    return is_small(letter | 0x20) || is_digit(letter) || letter == '-' || letter == '_' ||
           letter == '~' || letter == '.';
}

static inline bool begins_at(Href href, Py_ssize_t at, const char *what)
{
    for (; *what; what++, at++)
        if (letter_at(href, at) != (Py_UCS4)*what)
            return false;
    return true;
}

/* Whether there are only names from `at` on, separated by slashes, and at least one. */
static inline bool has_names(Href href, Py_ssize_t at)
{
    if (at == href.size)
        return false;
    while (at < href.size) {
        Py_UCS4 letter = letter_at(href, at);
        if (!is_unreserved(letter) || letter == '.')
            return false;
        while (is_unreserved(letter_at(href, at)))
            at++;
        if (at < href.size && letter_at(href, at++) != '/')
            return false;
    }
    return true;
}

/* Where the path begins behind a scheme of the Web and a host that has no other form; 0: there are
   none. */
static Py_ssize_t path_of(Href href)
{
    if (!begins_at(href, 0, "http"))
        return 0;
    Py_ssize_t at = letter_at(href, 4) == 's' ? 5 : 4;
    if (!begins_at(href, at, "://"))
        return 0;
    at += 3;
    for (int labels = 1; labels <= MAX_LABELS; labels++) {
        Py_ssize_t begin = at, others = 0; /* than letters */
        for (;; at++) {
            Py_UCS4 letter = letter_at(href, at);
            if (is_digit(letter) || letter == '-')
                others++;
            else if (!is_small(letter))
                break;
        }
        Py_ssize_t length = at - begin;
        if (length < 1 || length > MAX_LABEL)
            return 0;
        if (letter_at(href, at) == '/')
            return labels >= MIN_LABELS && length >= 2 && others == 0 ? at : 0;
        if (letter_at(href, at++) != '.')
            return 0;
    }
    return 0;
}

/* `size` letters of `base`, and the reference from `at` on, all of ASCII. */
static PyObject *joined(PyObject *base, Py_ssize_t size, Href href, Py_ssize_t at)
{
    PyObject *url = PyUnicode_New(size + href.size - at, 127);
    if (url == NULL)
        return NULL;
    Py_UCS1 *written = PyUnicode_1BYTE_DATA(url);
    memcpy(written, PyUnicode_1BYTE_DATA(base), (size_t)size);
    for (written += size; at < href.size; at++)
        *written++ = (Py_UCS1)letter_at(href, at);
    return url;
}

/* The length of the folder that is so many levels above `directory`; the root has none above it. */
static Py_ssize_t folder_above(PyObject *directory, Py_ssize_t origin, Py_ssize_t levels)
{
    const Py_UCS1 *letters = PyUnicode_1BYTE_DATA(directory);
    Py_ssize_t end = PyUnicode_GET_LENGTH(directory);
    for (; levels > 0 && end > origin + 1; levels--)
        for (end--; end > origin + 1 && letters[end - 1] != '/';)
            end--;
    return end;
}

/* None if the reference is not plain, or relative and there is no base. */
static PyObject *plain_url(Href href, PyObject *origin, PyObject *directory, bool on_web)
{
    Py_ssize_t path = on_web ? path_of(href) : 0;
    if (path)
        return has_names(href, path + 1) ? joined(origin, 0, href, 0) : Py_NewRef(Py_None);
    Py_ssize_t folder = PyUnicode_GET_LENGTH(directory), at = 0;
    while (begins_at(href, at, "../"))
        at += 3;
    bool is_rooted = at == 0 && letter_at(href, 0) == '/';
    if (folder == 0 || !((at > 0 && at == href.size) || has_names(href, at + is_rooted)))
        return Py_NewRef(Py_None);
    Py_ssize_t root = PyUnicode_GET_LENGTH(origin);
    return joined(directory, is_rooted ? root : folder_above(directory, root, at / 3), href, at);
}

PyObject *plain_urls(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !PyList_Check(given[0]) || !PyUnicode_Check(given[1]) ||
        !PyUnicode_Check(given[2]) || !PyUnicode_IS_ASCII(given[1]) ||
        !PyUnicode_IS_ASCII(given[2]) ||
        PyUnicode_Tailmatch(given[2], given[1], 0, PY_SSIZE_T_MAX, -1) != 1) {
        PyErr_SetString(PyExc_TypeError, "plain_urls(hrefs, origin, directory, on_web)");
        return NULL;
    }
    Py_ssize_t size = PyList_GET_SIZE(given[0]);
    int on_web = PyObject_IsTrue(given[3]);
    PyObject *urls = on_web < 0 ? NULL : PyList_New(size);
    for (Py_ssize_t n = 0; urls != NULL && n < size; n++) {
        PyObject *text = PyList_GET_ITEM(given[0], n);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "plain_urls: a reference that is no text");
            Py_CLEAR(urls);
            break;
        }
        Href href = {PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)};
        Py_ssize_t fragment = PyUnicode_FindChar(text, '#', 0, href.size, 1);
        href.size = fragment < 0 ? href.size : fragment;
        PyObject *url = plain_url(href, given[1], given[2], on_web);
        if (url == NULL)
            Py_CLEAR(urls);
        else
            PyList_SET_ITEM(urls, n, url);
    }
    return urls;
}
