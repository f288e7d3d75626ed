/* Which texts say when something was written: gossamer/parse/maintext/threads.py has the definition,
   as regular expressions. */

#include "texts.h"

enum { MAX_CHARS = 100 }; /* MAX_STAMP_CHARS there */

typedef struct {
    int kind;
    const void *data;
    Py_ssize_t size;
} Text;

/* 0 outside the text, which is no character that is looked for. */
static inline Py_UCS4 letter_at(Text text, Py_ssize_t at)
{
    return at < 0 || at >= text.size ? 0 : PyUnicode_READ(text.kind, text.data, at);
}

static inline bool is_digit_at(Text text, Py_ssize_t at)
{
    Py_UCS4 letter = letter_at(text, at);
    return letter < 128 ? letter >= '0' && letter <= '9' : Py_UNICODE_ISDECIMAL(letter);
}

static inline bool is_separator_at(Text text, Py_ssize_t at)
{
    Py_UCS4 letter = letter_at(text, at);
    return letter == '.' || letter == '/' || letter == '-';
}

static inline Py_ssize_t count_digits(Text text, Py_ssize_t at, Py_ssize_t most)
{
    Py_ssize_t count = 0;
    while (count < most && is_digit_at(text, at + count))
        count++;
    return count;
}

/* 9:15, 09h15 */
static bool is_time(Text text, Py_ssize_t at)
{
    at += count_digits(text, at, 2);
    Py_UCS4 letter = letter_at(text, at);
    return (letter == ':' || letter == 'h') && count_digits(text, at + 1, 3) == 2;
}

/* 1.5.24, 2024-05-01 */
static bool is_day(Text text, Py_ssize_t at)
{
    at += count_digits(text, at, 4);
    if (!is_separator_at(text, at))
        return false;
    Py_ssize_t digits = count_digits(text, at + 1, 2);
    at += 1 + digits;
    return digits > 0 && is_separator_at(text, at) && is_digit_at(text, at + 1);
}

/* 2024, with more before it and behind it, or a text before it that is not a number. */
static bool is_year(Text text, Py_ssize_t at)
{
    Py_UCS4 first = letter_at(text, at), second = letter_at(text, at + 1);
    if (!(first == '1' && second == '9') && !(first == '2' && second == '0'))
        return false;
    if (count_digits(text, at + 2, 3) != 2 || is_digit_at(text, at - 1))
        return false;
    return at + 4 < text.size || at > 0;
}

/* A number of at most three digits with words, as in "3 hours ago"; `at` is the first digit. */
static bool has_passed(Text text, Py_ssize_t at)
{
    at += count_digits(text, at, 4);
    if (at == text.size)
        return false;
    for (; at < text.size; at++)
        if (is_digit_at(text, at))
            return false;
    return true;
}

static bool is_stamp(Text text)
{
    Py_ssize_t digit = 0;
    while (digit < text.size && !is_digit_at(text, digit))
        digit++;
    if (digit == text.size)
        return false;
    for (Py_ssize_t at = digit; at < text.size; at++)
        if (is_digit_at(text, at) &&
            (is_time(text, at) || is_day(text, at) || is_year(text, at)))
            return true;
    return count_digits(text, digit, 4) < 4 && has_passed(text, digit);
}

PyObject *find_stamps(PyObject *module, PyObject *texts)
{
    (void)module;
    if (!PyList_Check(texts)) {
        PyErr_SetString(PyExc_TypeError, "find_stamps(texts): a list");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    for (Py_ssize_t n = 0; found != NULL && n < PyList_GET_SIZE(texts); n++) {
        PyObject *given = PyList_GET_ITEM(texts, n);
        if (!PyUnicode_Check(given)) {
            PyErr_SetString(PyExc_TypeError, "find_stamps(texts): texts");
            Py_CLEAR(found);
        } else if (PyUnicode_GET_LENGTH(given) <= MAX_CHARS) {
            Text text = {PyUnicode_KIND(given), PyUnicode_DATA(given), PyUnicode_GET_LENGTH(given)};
            PyObject *number = is_stamp(text) ? PyLong_FromSsize_t(n) : NULL;
            if (PyErr_Occurred() || (number != NULL && PyList_Append(found, number) < 0))
                Py_CLEAR(found);
            Py_XDECREF(number);
        }
    }
    return found;
}
