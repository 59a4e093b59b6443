/* A machine for Python pickles that builds values and runs nothing.
 *
 * Calls are kept as what they say (which function, which arguments), never made. Functions must be
 * on the caller's list; any other is refused and named. Objects of classes that are not there are
 * passed over when they hold nothing of what is kept outside. Meaning is the caller's. */
#ifndef WTE_SRC_FORMAT_PICKLE_H
#define WTE_SRC_FORMAT_PICKLE_H
#include "base/alloc.h"
#include "base/span.h"

typedef enum wte__pickle_kind {
    WTE__PICKLE_UNSET = 0,
    WTE__PICKLE_NONE,
    WTE__PICKLE_BOOL,
    WTE__PICKLE_INT,
    WTE__PICKLE_LONG, /* an integer of more than 8 bytes: little-endian, as bytes */
    WTE__PICKLE_FLOAT,
    WTE__PICKLE_TEXT, /* valid UTF-8 */
    WTE__PICKLE_BYTES,
    WTE__PICKLE_TUPLE,
    WTE__PICKLE_LIST,      /* or a set */
    WTE__PICKLE_DICT,      /* keys and values in turn */
    WTE__PICKLE_GLOBAL,    /* a function or class of the list */
    WTE__PICKLE_CALL,      /* of one; what it gives may have been filled as a dict */
    WTE__PICKLE_PERSISTENT /* stands for what is kept outside the pickle */
} wte__pickle_kind;

typedef struct wte__pickle_value {
    uint32_t kind;
    uint32_t n; /* LONG, TEXT, BYTES: bytes; TUPLE: items; GLOBAL: its tag; PERSISTENT: the number
                   that the caller gave it */
    union {
        int64_t integer; /* INT, BOOL */
        double number;
        const uint8_t *bytes;
        const struct wte__pickle_value *items; /* TUPLE; PERSISTENT: the one that tells it apart */
        struct wte__pickle_items *list;        /* LIST, DICT */
        struct wte__pickle_call *call;
        struct wte__pickle_global *global;
    } as;
} wte__pickle_value;

typedef struct wte__pickle_items {
    wte__pickle_value *items;
    uint32_t n, cap; /* values: of a dict twice as many as it has entries */
} wte__pickle_items;

typedef struct wte__pickle_global {
    wte__bytes module, name;
    uint32_t tag; /* of the list; 0 = it is not there */
    bool setting; /* a class of a package of settings: may be called and named, is passed over */
    bool passed;  /* an object of it was made, and passed over */
    struct wte__pickle_global *before; /* the one before that is not on the list */
} wte__pickle_global;

typedef struct wte__pickle_call {
    wte__pickle_items filled;
    wte__pickle_value callee, arguments; /* a GLOBAL, a TUPLE */
    wte__pickle_value state;             /* what its attributes were set from, last; or UNSET */
    uint64_t outside;                    /* how much had been met that is kept outside */
} wte__pickle_call;

/* What may be named. Tags are > 0. The name "*" stands for the classes (names that begin with a
 * capital) of a package and its modules: settings, that are passed over. */
typedef struct wte__pickle_allowed {
    const char *module, *name;
    uint32_t tag;
} wte__pickle_allowed;

typedef struct wte__pickle {
    const uint8_t *data; /* texts and bytes point into it */
    uint64_t size;       /* it may end before */
    const char *path;    /* what messages begin with */
    uint64_t at;         /* of the data in the file ... */
    bool packed;         /* ... where they are packed: then every fault is there */
    const wte__pickle_allowed *allowed;
    size_t n_allowed;
    wte__arena *arena; /* what values are made of */
    /* Called for what is kept outside, if not NULL; `at` is where in the data. */
    wte_status (*persistent)(const struct wte__pickle *p, const wte__pickle_value *id, uint64_t at,
                             uint32_t *number, wte_error *err);
    void *owner; /* the caller's */
    /* what comes out */
    wte__pickle_value root;
    uint64_t used; /* bytes of data */
    uint64_t work; /* bytes that values were looked at for, beside the data */
    bool cut;      /* it failed because the data end too early */
} wte__pickle;

/* pickle_names.c: what a name is on the list, and what is said of one that is refused. */
#define WTE__PICKLE_SAID 400u
void wte__pickle_look_up(const wte__pickle *p, wte__pickle_global *g);
const char *wte__pickle_show(const wte__pickle_global *g, char *out, size_t cap);
const char *wte__pickle_say_import(const wte__pickle_global *g, char out[WTE__PICKLE_SAID]);
const char *wte__pickle_say_object(const wte__pickle_global *g, bool is_root,
                                   char out[WTE__PICKLE_SAID]);

wte_status wte__pickle_read(wte__pickle *p, wte_error *err);
/* The offset in the file that a fault at a byte of the data has. */
static inline uint64_t wte__pickle_where(const wte__pickle *p, uint64_t at)
{
    return p->packed ? p->at : p->at + at;
}
static inline bool wte__pickle_is(const wte__pickle_value *v, const char *text)
{
    const size_t n = strlen(text);
    return v->kind == WTE__PICKLE_TEXT && v->n == n && memcmp(v->as.bytes, text, n) == 0;
}
/* Entries of a dict, or of a call that was filled as one. */
static inline const wte__pickle_items *wte__pickle_entries(const wte__pickle_value *v)
{
    return v->kind == WTE__PICKLE_DICT   ? v->as.list
           : v->kind == WTE__PICKLE_CALL ? &v->as.call->filled
                                         : NULL;
}
#endif
