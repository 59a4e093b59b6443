/* The pickle machine: the opcodes that a checkpoint needs, of protocols 2 to 5, and no other.
 *
 * It neither imports nor calls anything. Its work is bounded by a budget of opcodes, its memory by
 * that and by the size of the pickle; nothing here recurses, so nesting costs nothing. */
#include "format/pickle.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/pickle_ops.h"

typedef wte__pickle_value value;

typedef struct machine {
    wte__pickle *p;
    wte__span in;
    uint64_t op_at; /* of the opcode at work */
    value *stack, *memo;
    size_t n, cap, memo_n, memo_cap;
    uint32_t marks[WTE_LIMIT_PICKLE_DEPTH]; /* heights of the stack */
    uint32_t n_marks;
    wte__pickle_global *unknown; /* named, but not on the list: the last */
    uint64_t n_outside;          /* what is kept outside and was met so far */
    const wte_allocator *allocator;
    bool stopped;
    wte_error *err;
} machine;

static wte_status fail_at(const machine *m, wte_status status, const char *what)
{
    const wte__pickle *p = m->p;
    return wte__fail(m->err, status, wte__pickle_where(p, m->op_at),
                     "%s: pickle, byte %" PRIu64 ": %s", p->path, m->op_at, what);
}

static wte_status bad(const machine *m, const char *what)
{
    return fail_at(m, WTE_E_FORMAT, what);
}

static wte_status no_memory(const machine *m)
{
    return wte__no_memory(m->err, m->n * sizeof(value), "the values of a pickle");
}

/* Opcodes cost what they take from the data; what is more is counted here. */
static wte_status spend(machine *m, uint64_t bytes)
{
    m->p->work += bytes;
    if (m->p->work <= WTE_LIMIT_PICKLE_WORK) return WTE_OK;
    char what[160];
    snprintf(what, sizeof what,
             "texts and tuples that are used again come to over %u bytes, a fixed limit",
             WTE_LIMIT_PICKLE_WORK);
    return fail_at(m, WTE_E_LIMIT, what);
}

/* The stack ------------------------------------------------------------------------------------ */

static size_t floor_of(const machine *m)
{
    return m->n_marks ? m->marks[m->n_marks - 1] : 0;
}

static wte_status push(machine *m, value v)
{
    void *stack = m->stack;
    if (m->n == WTE_LIMIT_PICKLE_STACK)
        return fail_at(m, WTE_E_LIMIT, "more than 1000000 values on the stack");
    const bool ok = wte__grow(m->allocator, &stack, &m->cap, m->n + 1, sizeof(value));
    m->stack = stack;
    if (!ok) return no_memory(m);
    m->stack[m->n++] = v;
    return WTE_OK;
}

static wte_status push_kind(machine *m, wte__pickle_kind kind, int64_t integer)
{
    value v;
    memset(&v, 0, sizeof v);
    v.kind = kind;
    v.as.integer = integer;
    return push(m, v);
}

/* The n topmost values, which are then gone; they stay readable until the next push. */
static const value *pop(machine *m, size_t n)
{
    if (m->n - floor_of(m) < n) return NULL;
    m->n -= n;
    return m->stack + m->n;
}

static wte_status too_few(const machine *m)
{
    return bad(m, "takes more from the stack than there is");
}

/* All above the topmost mark, which goes with them; false when there is none. */
static bool pop_to_mark(machine *m, const value **items, size_t *n)
{
    *n = 0;
    *items = NULL;
    if (m->n_marks == 0) return false;
    const size_t at = m->marks[--m->n_marks];
    *n = m->n - at;
    m->n = at;
    if (*n) *items = m->stack + at;
    return true;
}

static wte_status no_mark(const machine *m)
{
    return bad(m, "there is no mark on the stack");
}

/* Literals ------------------------------------------------------------------------------------- */

static uint64_t get(machine *m, uint32_t bytes)
{
    const wte__bytes b = wte__span_take(&m->in, bytes);
    uint64_t v = 0;
    for (uint32_t i = 0; b.data && i < bytes; i++) v |= (uint64_t)b.data[i] << (8 * i);
    return v;
}

static bool is_utf8(wte__bytes text)
{
    uint32_t code;
    for (uint64_t at = 0; at < text.size;) {
        const uint32_t n = wte__utf8_get(text.data + at, text.size - at, &code);
        if (n == 0) return false;
        at += n;
    }
    return true;
}

/* `length` bytes of length, then so many of content. */
static wte_status take_bytes(machine *m, wte__pickle_kind kind, uint32_t length)
{
    const wte__bytes b = wte__span_take(&m->in, get(m, length));
    value v;
    memset(&v, 0, sizeof v);
    if (!wte__span_ok(&m->in)) return WTE_OK; /* told by the caller */
    if (b.size > UINT32_MAX) return fail_at(m, WTE_E_LIMIT, "a text of 4 GiB");
    v.kind = kind;
    v.n = (uint32_t)b.size;
    v.as.bytes = b.data;
    return push(m, v);
}

static wte_status take_text(machine *m, uint32_t length, bool python2)
{
    WTE_TRY(take_bytes(m, WTE__PICKLE_TEXT, length));
    if (!wte__span_ok(&m->in)) return WTE_OK;
    value *v = &m->stack[m->n - 1];
    const wte__bytes text = { v->as.bytes, v->n };
    if (is_utf8(text)) return WTE_OK;
    if (!python2) return bad(m, "a text is not valid UTF-8");
    v->kind = WTE__PICKLE_BYTES; /* Python 2 did not tell them apart */
    return WTE_OK;
}

static wte_status take_long(machine *m, uint32_t length)
{
    WTE_TRY(take_bytes(m, WTE__PICKLE_LONG, length));
    if (!wte__span_ok(&m->in)) return WTE_OK;
    value *v = &m->stack[m->n - 1];
    if (v->n > 8) return WTE_OK;
    uint64_t bits = v->n && v->as.bytes[v->n - 1] & 0x80 ? UINT64_MAX : 0;
    for (uint32_t i = v->n; i > 0; i--) bits = bits << 8 | v->as.bytes[i - 1];
    v->kind = WTE__PICKLE_INT;
    v->as.integer = (int64_t)bits;
    return WTE_OK;
}

static wte_status take_float(machine *m)
{
    const wte__bytes b = wte__span_take(&m->in, 8);
    uint64_t bits = 0;
    value v;
    memset(&v, 0, sizeof v);
    for (uint32_t i = 0; b.data && i < 8; i++) bits = bits << 8 | b.data[i];
    v.kind = WTE__PICKLE_FLOAT;
    memcpy(&v.as.number, &bits, sizeof bits);
    return push(m, v);
}

static wte_status literal(machine *m, uint8_t op, bool *mine)
{
    switch (op) {
    case OP_NONE: return push_kind(m, WTE__PICKLE_NONE, 0);
    case OP_NEWTRUE: return push_kind(m, WTE__PICKLE_BOOL, 1);
    case OP_NEWFALSE: return push_kind(m, WTE__PICKLE_BOOL, 0);
    case OP_BININT1: return push_kind(m, WTE__PICKLE_INT, (int64_t)get(m, 1));
    case OP_BININT2: return push_kind(m, WTE__PICKLE_INT, (int64_t)get(m, 2));
    case OP_BININT: return push_kind(m, WTE__PICKLE_INT, (int32_t)(uint32_t)get(m, 4));
    case OP_LONG1: return take_long(m, 1);
    case OP_LONG4: return take_long(m, 4);
    case OP_BINFLOAT: return take_float(m);
    case OP_SHORT_BINUNICODE: return take_text(m, 1, false);
    case OP_BINUNICODE: return take_text(m, 4, false);
    case OP_BINUNICODE8: return take_text(m, 8, false);
    case OP_SHORT_BINSTRING: return take_text(m, 1, true);
    case OP_BINSTRING: return take_text(m, 4, true);
    case OP_SHORT_BINBYTES: return take_bytes(m, WTE__PICKLE_BYTES, 1);
    case OP_BINBYTES: return take_bytes(m, WTE__PICKLE_BYTES, 4);
    case OP_BINBYTES8:
    case OP_BYTEARRAY8: return take_bytes(m, WTE__PICKLE_BYTES, 8);
    default: *mine = false; return WTE_OK;
    }
}

/* Containers ----------------------------------------------------------------------------------- */

static wte_status push_list(machine *m, wte__pickle_kind kind)
{
    value v;
    memset(&v, 0, sizeof v);
    v.kind = kind;
    v.as.list = wte__arena_take(m->p->arena, sizeof *v.as.list);
    if (!v.as.list) return no_memory(m);
    memset(v.as.list, 0, sizeof *v.as.list);
    return push(m, v);
}

static wte_status push_tuple(machine *m, const value *items, size_t n)
{
    value v;
    memset(&v, 0, sizeof v);
    v.kind = WTE__PICKLE_TUPLE;
    v.n = (uint32_t)n;
    value *copy = n ? wte__arena_take(m->p->arena, n * sizeof *copy) : NULL;
    if (n && !copy) return no_memory(m);
    if (n) memcpy(copy, items, n * sizeof *copy);
    v.as.items = copy;
    return push(m, v);
}

/* Grows by doubling inside the arena: what is left behind is at most as much again. */
static wte_status extend(machine *m, wte__pickle_items *to, const value *items, size_t n)
{
    if (n > UINT32_MAX / 4 - to->n) return fail_at(m, WTE_E_LIMIT, "a container is too long");
    const uint32_t need = to->n + (uint32_t)n;
    if (need > to->cap) {
        uint32_t cap = to->cap ? to->cap : 2;
        while (cap < need) cap *= 2;
        value *bigger = wte__arena_take(m->p->arena, cap * sizeof *bigger);
        if (!bigger) return no_memory(m);
        if (to->n) memcpy(bigger, to->items, to->n * sizeof *bigger);
        to->items = bigger;
        to->cap = cap;
    }
    if (n) memcpy(to->items + to->n, items, n * sizeof *items);
    to->n = need;
    return WTE_OK;
}

static wte_status refuse_import(const machine *m, const wte__pickle_global *g)
{
    char what[WTE__PICKLE_SAID];
    return fail_at(m, WTE_E_UNSUPPORTED, wte__pickle_say_import(g, what));
}

static wte_status refuse_object(const machine *m, const wte__pickle_global *g)
{
    char what[WTE__PICKLE_SAID];
    return fail_at(m, WTE_E_UNSUPPORTED, wte__pickle_say_object(g, m->n == 0, what));
}

/* Objects of classes that are not on the list are passed over, unless they hold what is kept
 * outside: tensors that would be missing. The outermost that is being made is told. */
static wte_status pass_over(const machine *m, const wte__pickle_call *made)
{
    if (made->callee.n != 0 || made->outside == m->n_outside) return WTE_OK;
    const wte__pickle_global *g = made->callee.as.global;
    for (size_t i = m->n; i > 0; i--) {
        const value *v = &m->stack[i - 1];
        if (v->kind == WTE__PICKLE_CALL && v->as.call->callee.n == 0)
            g = v->as.call->callee.as.global;
    }
    return refuse_object(m, g);
}

/* Puts n values into the container on top of the stack. */
static wte_status fill(machine *m, const value *items, size_t n, bool pairs)
{
    if (m->n == floor_of(m)) return too_few(m);
    const value *top = &m->stack[m->n - 1];
    if (pairs && n % 2) return bad(m, "a key without a value");
    if (top->kind == WTE__PICKLE_CALL) {
        /* a list of a class of its own is not looked at; of a dict, entries are known from here */
        if (!pairs) return pass_over(m, top->as.call);
        top->as.call->outside = m->n_outside;
        return extend(m, &top->as.call->filled, items, n);
    }
    if (top->kind != (pairs ? WTE__PICKLE_DICT : WTE__PICKLE_LIST))
        return bad(m, "fills what is no container of that kind");
    return extend(m, top->as.list, items, n);
}

/* pop() gives a place above the stack's end, which a push would overwrite: extend pushes nothing.
 */
static wte_status container(machine *m, uint8_t op, bool *mine)
{
    size_t n = 0;
    const value *items = NULL;
    switch (op) {
    case OP_EMPTY_DICT: return push_list(m, WTE__PICKLE_DICT);
    case OP_EMPTY_SET:
    case OP_EMPTY_LIST: return push_list(m, WTE__PICKLE_LIST);
    case OP_EMPTY_TUPLE: return push_tuple(m, NULL, 0);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        n = op - OP_TUPLE1 + 1u;
        items = pop(m, n);
        return items ? push_tuple(m, items, n) : too_few(m);
    case OP_TUPLE: return pop_to_mark(m, &items, &n) ? push_tuple(m, items, n) : no_mark(m);
    case OP_FROZENSET:
        return pop_to_mark(m, &items, &n) ? push_list(m, WTE__PICKLE_LIST) : no_mark(m);
    case OP_APPEND: items = pop(m, 1); return items ? fill(m, items, 1, false) : too_few(m);
    case OP_SETITEM: items = pop(m, 2); return items ? fill(m, items, 2, true) : too_few(m);
    case OP_ADDITEMS:
    case OP_APPENDS:
    case OP_SETITEMS:
        return pop_to_mark(m, &items, &n) ? fill(m, items, n, op == OP_SETITEMS) : no_mark(m);
    default: *mine = false; return WTE_OK;
    }
}

/* Marks and memo ------------------------------------------------------------------------------- */

static wte_status put(machine *m, uint64_t i)
{
    void *memo = m->memo;
    if (m->n == floor_of(m)) return too_few(m);
    if (i >= m->in.at || i >= WTE_LIMIT_PICKLE_OPCODES)
        return bad(m, "remembers a value under a number beyond what it can have remembered");
    if (i >= m->memo_cap) {
        const size_t old = m->memo_cap;
        if (!wte__grow(m->allocator, &memo, &m->memo_cap, (size_t)i + 1, sizeof(value)))
            return no_memory(m);
        m->memo = memo;
        memset(m->memo + old, 0, (m->memo_cap - old) * sizeof(value));
    }
    m->memo[i] = m->stack[m->n - 1];
    m->memo_n++;
    return WTE_OK;
}

static wte_status recall(machine *m, uint64_t i)
{
    if (i >= m->memo_cap || m->memo[i].kind == WTE__PICKLE_UNSET)
        return wte__span_ok(&m->in) ? bad(m, "recalls a value that was not remembered") : WTE_OK;
    return push(m, m->memo[i]);
}

static wte_status push_mark(machine *m)
{
    if (m->n_marks == WTE_LIMIT_PICKLE_DEPTH)
        return fail_at(m, WTE_E_LIMIT, "more than 256 marks are open: nested too deep");
    m->marks[m->n_marks++] = (uint32_t)m->n;
    return WTE_OK;
}

static wte_status order(machine *m, uint8_t op, bool *mine)
{
    size_t n;
    const value *items;
    switch (op) {
    case OP_MARK: return push_mark(m);
    case OP_POP: return pop(m, 1) ? WTE_OK : too_few(m);
    case OP_POP_MARK: return pop_to_mark(m, &items, &n) ? WTE_OK : no_mark(m);
    case OP_DUP: return m->n > floor_of(m) ? push(m, m->stack[m->n - 1]) : too_few(m);
    case OP_BINPUT: return put(m, get(m, 1));
    case OP_LONG_BINPUT: return put(m, get(m, 4));
    case OP_MEMOIZE: return put(m, m->memo_n);
    case OP_BINGET: return recall(m, get(m, 1));
    case OP_LONG_BINGET: return recall(m, get(m, 4));
    case OP_FRAME: (void)get(m, 8); return WTE_OK;
    case OP_PROTO:
        n = (size_t)get(m, 1);
        if (n < 2 || n > 5)
            return wte__span_ok(&m->in) ? fail_at(m, WTE_E_UNSUPPORTED, "no protocol of 2 to 5")
                                        : WTE_OK;
        return WTE_OK;
    default: *mine = false; return WTE_OK;
    }
}

/* Names and calls ------------------------------------------------------------------------------ */

static wte_status push_global(machine *m, wte__bytes module, wte__bytes name)
{
    const wte__pickle *p = m->p;
    wte__pickle_global *g = wte__arena_take(p->arena, sizeof *g);
    value v;
    if (!g) return no_memory(m);
    memset(&v, 0, sizeof v);
    g->module = module;
    g->name = name;
    wte__pickle_look_up(p, g);
    g->passed = false;
    g->before = m->unknown;
    if (g->tag == 0) m->unknown = g;
    v.kind = WTE__PICKLE_GLOBAL;
    v.n = g->tag;
    v.as.global = g;
    return push(m, v);
}

static wte__bytes take_line(machine *m)
{
    const uint64_t start = m->in.at;
    while (m->in.at < m->in.size && m->in.base[m->in.at] != '\n') m->in.at++;
    const wte__bytes line = { m->in.base + start, m->in.at - start };
    (void)wte__span_take(&m->in, 1);
    return line;
}

static wte_status name_by_lines(machine *m)
{
    const wte__bytes module = take_line(m), name = take_line(m);
    if (!wte__span_ok(&m->in)) return WTE_OK;
    return push_global(m, module, name);
}

static wte_status name_by_texts(machine *m)
{
    const value *two = pop(m, 2);
    if (!two) return too_few(m);
    if (two[0].kind != WTE__PICKLE_TEXT || two[1].kind != WTE__PICKLE_TEXT)
        return bad(m, "a module or a name in it is no text");
    const wte__bytes module = { two[0].as.bytes, two[0].n }, name = { two[1].as.bytes, two[1].n };
    return push_global(m, module, name);
}

/* The class that a value names: itself, or (old checkpoints) told with its source. */
static wte__pickle_global *class_of(const value *v)
{
    if (v->kind == WTE__PICKLE_GLOBAL) return v->as.global;
    if (v->kind != WTE__PICKLE_PERSISTENT || v->as.items->kind != WTE__PICKLE_TUPLE) return NULL;
    const value *id = v->as.items;
    return id->n > 1 && id->as.items[1].kind == WTE__PICKLE_GLOBAL ? id->as.items[1].as.global
                                                                   : NULL;
}

/* What an object is made from: is it a tensor? */
static bool is_outside(const value *v)
{
    if (v->kind == WTE__PICKLE_PERSISTENT) return true;
    return v->kind == WTE__PICKLE_CALL && v->as.call->arguments.n > 0 &&
           v->as.call->arguments.as.items[0].kind == WTE__PICKLE_PERSISTENT;
}

/* Keeps a call of callee(*arguments). */
static wte_status call(machine *m, const value *callee, const value *arguments, bool creates)
{
    wte__pickle_global *g = class_of(callee);
    if (!g) return bad(m, "calls what is no function");
    if (g->tag == 0 && !creates && !g->setting) return refuse_import(m, g);
    if (g->tag == 0 && (m->n == 0 || callee->kind != WTE__PICKLE_GLOBAL))
        return refuse_object(m, g);
    if (callee->kind != WTE__PICKLE_GLOBAL || arguments->kind != WTE__PICKLE_TUPLE)
        return bad(m, "arguments of a call are no tuple");
    WTE_TRY(spend(m, (uint64_t)arguments->n * sizeof *arguments));
    for (uint32_t i = 0; i < arguments->n; i++) {
        const value *a = &arguments->as.items[i];
        if (a->kind == WTE__PICKLE_GLOBAL && a->n == 0 && !a->as.global->setting)
            return refuse_object(m, a->as.global);
        if (g->tag == 0 && is_outside(a)) return refuse_object(m, g);
    }
    g->passed = true;
    wte__pickle_call *made = wte__arena_take(m->p->arena, sizeof *made);
    value v;
    if (!made) return no_memory(m);
    memset(made, 0, sizeof *made);
    memset(&v, 0, sizeof v);
    made->callee = *callee;
    made->arguments = *arguments;
    made->outside = m->n_outside;
    v.kind = WTE__PICKLE_CALL;
    v.as.call = made;
    return push(m, v);
}

#define IDENTITY_PARTS 6u /* of what is kept outside; a text among them is looked up */
static uint64_t text_bytes(const value *v)
{
    return v->kind == WTE__PICKLE_TEXT || v->kind == WTE__PICKLE_BYTES ? v->n : 0;
}

static wte_status push_persistent(machine *m)
{
    const value *id = pop(m, 1);
    if (!id) return too_few(m);
    WTE_TRY(spend(m, text_bytes(id)));
    for (uint32_t i = 0; id->kind == WTE__PICKLE_TUPLE && i < id->n && i < IDENTITY_PARTS; i++)
        WTE_TRY(spend(m, text_bytes(&id->as.items[i])));
    m->n_outside++;
    value *kept = wte__arena_take(m->p->arena, sizeof *kept), v;
    if (!kept) return no_memory(m);
    *kept = *id;
    memset(&v, 0, sizeof v);
    v.kind = WTE__PICKLE_PERSISTENT;
    v.as.items = kept;
    if (m->p->persistent) WTE_TRY(m->p->persistent(m->p, kept, m->op_at, &v.n, m->err));
    return push(m, v);
}

/* Attributes of what a call gives are kept beside it. */
static wte_status build(machine *m)
{
    const value *state = pop(m, 1);
    if (!state || m->n == floor_of(m)) return too_few(m);
    if (m->stack[m->n - 1].kind != WTE__PICKLE_CALL) return bad(m, "sets attributes of a value");
    WTE_TRY(pass_over(m, m->stack[m->n - 1].as.call));
    m->stack[m->n - 1].as.call->state = *state;
    return WTE_OK;
}

static wte_status naming(machine *m, uint8_t op, bool *mine)
{
    const value *v = NULL;
    switch (op) {
    case OP_GLOBAL: return name_by_lines(m);
    case OP_STACK_GLOBAL: return name_by_texts(m);
    case OP_REDUCE:
    case OP_NEWOBJ: v = pop(m, 2); return v ? call(m, v, v + 1, op == OP_NEWOBJ) : too_few(m);
    case OP_NEWOBJ_EX: v = pop(m, 3); return v ? call(m, v, v + 1, true) : too_few(m);
    case OP_BINPERSID: return push_persistent(m);
    case OP_BUILD: return build(m);
    default: *mine = false; return WTE_OK;
    }
}

/* Running -------------------------------------------------------------------------------------- */

static wte_status stop(machine *m)
{
    if (m->n_marks || m->n != 1) return bad(m, "does not end with one value");
    const wte__pickle_global *first = NULL;
    for (const wte__pickle_global *g = m->unknown; g; g = g->before)
        if (!g->passed && !g->setting) first = g;
    if (first) return refuse_import(m, first);
    m->p->root = m->stack[0];
    m->p->used = m->in.at;
    m->stopped = true;
    return WTE_OK;
}

static wte_status step(machine *m)
{
    static wte_status (*const groups[])(machine *, uint8_t, bool *) = { literal, order, container,
                                                                        naming };
    m->op_at = m->in.at;
    const uint8_t op = (uint8_t)get(m, 1);
    bool mine = false;
    if (wte__span_ok(&m->in) && op == OP_STOP) return stop(m);
    for (size_t i = 0; wte__span_ok(&m->in) && !mine && i < sizeof groups / sizeof groups[0]; i++) {
        mine = true;
        WTE_TRY(groups[i](m, op, &mine));
    }
    if (!wte__span_ok(&m->in)) {
        m->p->cut = true;
        return bad(m, "ends in the middle");
    }
    char what[64];
    snprintf(what, sizeof what, "opcode 0x%02x is none that a checkpoint needs", op);
    return mine ? WTE_OK : fail_at(m, WTE_E_UNSUPPORTED, what);
}

wte_status wte__pickle_read(wte__pickle *p, wte_error *err)
{
    machine m;
    memset(&m, 0, sizeof m);
    m.p = p;
    m.in = wte__span_make(p->data, p->size);
    m.allocator = p->arena->allocator;
    m.err = err;
    p->cut = false;
    p->work = 0;
    wte_status status = WTE_OK;
    for (uint32_t n = 0; status == WTE_OK && !m.stopped; n++)
        status = n < WTE_LIMIT_PICKLE_OPCODES
                     ? step(&m)
                     : fail_at(&m, WTE_E_LIMIT, "more than 4000000 opcodes");
    wte__free(m.allocator, m.stack, m.cap * sizeof *m.stack);
    wte__free(m.allocator, m.memo, m.memo_cap * sizeof *m.memo);
    return status;
}
