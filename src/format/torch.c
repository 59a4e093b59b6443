/* From pickled values to PyTorch's storages and tensors: which functions and classes a checkpoint
 * may name, and what their arguments mean. Nothing is ever called. */
#include "format/torch.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"

/* Tags of the list: a kind, and with it a type where that is what the name says. */
enum {
    KIND_INERT = 1, /* may stand beside tensors; is not looked at */
    KIND_REBUILD,
    KIND_REBUILD_V3,
    KIND_PARAMETER,
    KIND_FROM_TYPE,
    KIND_SIZE,
    KIND_CLASS, /* of storages, or of tensors */
    KIND_DTYPE,
    KIND_ARRAY, /* of NumPy */
    KIND_OTHER  /* rebuilds tensors that are not read: quantised, sparse */
};
#define TAG(kind, type) ((uint32_t)(kind) << 8 | (uint32_t)(type))

#define CLASSES(name, type)                                                                        \
    { "torch", name "Storage", TAG(KIND_CLASS, type) },                                            \
        { "torch.cuda", name "Storage", TAG(KIND_CLASS, type) },                                   \
        { "torch", name "Tensor", TAG(KIND_CLASS, type) },                                         \
    {                                                                                              \
        "torch.cuda", name "Tensor", TAG(KIND_CLASS, type)                                         \
    }
#define DTYPE(name, type)                                                                          \
    {                                                                                              \
        "torch", name, TAG(KIND_DTYPE, type)                                                       \
    }
#define INERT(module, name)                                                                        \
    {                                                                                              \
        module, name, TAG(KIND_INERT, 0)                                                           \
    }

/* Storages whose elements have no type of their own count as bytes. The inert ones are what
 * training leaves beside tensors: settings, counters, NumPy's numbers. */
static const wte__pickle_allowed allowed[] = {
    { "torch._utils", "_rebuild_tensor_v2", TAG(KIND_REBUILD, 0) },
    { "torch._utils", "_rebuild_tensor", TAG(KIND_REBUILD, 0) },
    { "torch._utils", "_rebuild_tensor_v3", TAG(KIND_REBUILD_V3, 0) },
    { "torch._utils", "_rebuild_parameter", TAG(KIND_PARAMETER, 0) },
    { "torch._utils", "_rebuild_parameter_with_state", TAG(KIND_PARAMETER, 0) },
    { "torch._tensor", "_rebuild_from_type_v2", TAG(KIND_FROM_TYPE, 0) },
    { "torch._utils", "_rebuild_qtensor", TAG(KIND_OTHER, 0) },
    { "torch._utils", "_rebuild_sparse_tensor", TAG(KIND_OTHER, 0) },
    { "torch._utils", "_rebuild_sparse_csr_tensor", TAG(KIND_OTHER, 0) },
    { "torch._utils", "_rebuild_nested_tensor", TAG(KIND_OTHER, 0) },
    { "torch._utils", "_rebuild_meta_tensor_no_storage", TAG(KIND_OTHER, 0) },
    { "torch._utils", "_rebuild_wrapper_subclass", TAG(KIND_OTHER, 0) },
    { "torch._utils", "_rebuild_device_tensor_from_numpy", TAG(KIND_OTHER, 0) },
    { "torch", "Size", TAG(KIND_SIZE, 0) },
    INERT("collections", "OrderedDict"),
    CLASSES("Float", WTE_F32),
    CLASSES("Half", WTE_F16),
    CLASSES("BFloat16", WTE_BF16),
    CLASSES("Double", WTE_F64),
    CLASSES("Long", WTE_I64),
    CLASSES("Int", WTE_I32),
    CLASSES("Short", WTE_I16),
    CLASSES("Char", WTE_I8),
    CLASSES("Byte", WTE_U8),
    CLASSES("Bool", WTE_BOOL),
    CLASSES("ComplexFloat", WTE_C64),
    CLASSES("QInt8", WTE_I8),
    CLASSES("QUInt8", WTE_U8),
    CLASSES("QInt32", WTE_I32),
    CLASSES("QUInt4x2", WTE_U8),
    CLASSES("QUInt2x4", WTE_U8),
    { "torch.storage", "UntypedStorage", TAG(KIND_CLASS, WTE_U8) },
    { "torch", "UntypedStorage", TAG(KIND_CLASS, WTE_U8) },
    DTYPE("float32", WTE_F32),
    DTYPE("float16", WTE_F16),
    DTYPE("bfloat16", WTE_BF16),
    DTYPE("float64", WTE_F64),
    DTYPE("int64", WTE_I64),
    DTYPE("int32", WTE_I32),
    DTYPE("int16", WTE_I16),
    DTYPE("int8", WTE_I8),
    DTYPE("uint64", WTE_U64),
    DTYPE("uint32", WTE_U32),
    DTYPE("uint16", WTE_U16),
    DTYPE("uint8", WTE_U8),
    DTYPE("bool", WTE_BOOL),
    DTYPE("complex64", WTE_C64),
    DTYPE("float8_e4m3fn", WTE_F8_E4M3),
    DTYPE("float8_e5m2", WTE_F8_E5M2),
    DTYPE("float8_e4m3fnuz", WTE_F8_E4M3FNUZ),
    DTYPE("float8_e5m2fnuz", WTE_F8_E5M2FNUZ),
    DTYPE("float8_e8m0fnu", WTE_F8_E8M0),
    INERT("torch", "Tensor"),
    INERT("torch", "per_tensor_affine"),
    INERT("torch", "per_tensor_symmetric"),
    INERT("torch", "per_channel_affine"),
    INERT("torch", "per_channel_symmetric"),
    INERT("torch", "per_channel_affine_float_qparams"),
    INERT("torch", "device"),
    INERT("torch.nn.parameter", "Parameter"),
    INERT("torch.serialization", "_get_layout"),
    INERT("torch.torch_version", "TorchVersion"),
    INERT("collections", "Counter"),
    INERT("collections", "defaultdict"),
    INERT("collections", "deque"),
    INERT("argparse", "Namespace"),
    INERT("pathlib", "Path"),
    INERT("pathlib", "PosixPath"),
    INERT("pathlib", "PurePosixPath"),
    INERT("_codecs", "encode"),
    INERT("builtins", "set"),
    INERT("builtins", "frozenset"),
    INERT("builtins", "dict"),
    INERT("builtins", "list"),
    INERT("builtins", "int"),
    INERT("builtins", "float"),
    INERT("builtins", "complex"),
    INERT("builtins", "slice"),
    INERT("builtins", "bytearray"),
    INERT("__builtin__", "set"),
    INERT("__builtin__", "frozenset"),
    INERT("__builtin__", "dict"),
    INERT("__builtin__", "list"),
    INERT("__builtin__", "int"),
    INERT("__builtin__", "float"),
    INERT("__builtin__", "complex"),
    INERT("__builtin__", "slice"),
    INERT("__builtin__", "bytearray"),
    INERT("__builtin__", "object"),
    INERT("copy_reg", "_reconstructor"),
    INERT("numpy", "dtype"),
    INERT("numpy", "ndarray"),
    INERT("numpy.core.multiarray", "scalar"),
    { "numpy.core.multiarray", "_reconstruct", TAG(KIND_ARRAY, 0) },
    INERT("numpy._core.multiarray", "scalar"),
    { "numpy._core.multiarray", "_reconstruct", TAG(KIND_ARRAY, 0) },
    /* what training notes of itself: settings, enumerations, times */
    INERT("datetime", "datetime"),
    INERT("datetime", "date"),
    INERT("datetime", "timedelta"),
    INERT("datetime", "timezone"),
    { "omegaconf", "*", TAG(KIND_INERT, 0) },
    { "hydra", "*", TAG(KIND_INERT, 0) },
    { "typing", "*", TAG(KIND_INERT, 0) },
    { "uuid", "*", TAG(KIND_INERT, 0) },
    { "decimal", "*", TAG(KIND_INERT, 0) },
    { "megatron", "*", TAG(KIND_INERT, 0) },
    { "transformers", "*", TAG(KIND_INERT, 0) },
    { "accelerate", "*", TAG(KIND_INERT, 0) },
    { "deepspeed", "*", TAG(KIND_INERT, 0) },
    { "fairseq", "*", TAG(KIND_INERT, 0) },
    { "pytorch_lightning", "*", TAG(KIND_INERT, 0) },
    { "lightning", "*", TAG(KIND_INERT, 0) },
    INERT("pytorch_lightning.utilities.parsing", "AttributeDict"),
    INERT("lightning_fabric.utilities.data", "AttributeDict"),
    INERT("lightning.fabric.utilities.data", "AttributeDict"),
};

#define NO_NUMBER UINT32_MAX

void wte__torch_begin(wte__torch *t, wte_file *f, uint32_t part, wte_error *err)
{
    memset(t, 0, sizeof *t);
    t->f = f;
    t->part = part;
    t->path = f->parts[part].path;
    t->err = err;
    wte__arena_init(&t->arena, f->allocator);
    wte__names_init(&t->keys, f->allocator);
    wte__names_init(&t->tensor_keys, f->allocator);
    wte__names_init(&t->view_keys, f->allocator);
}

void wte__torch_end(wte__torch *t)
{
    const wte_allocator *a = t->f->allocator;
    wte__free(a, t->storages, t->storages_cap * sizeof *t->storages);
    wte__free(a, t->views, t->views_cap * sizeof *t->views);
    wte__names_clear(&t->keys);
    wte__names_clear(&t->tensor_keys);
    wte__names_clear(&t->view_keys);
    wte__arena_clear(&t->arena);
}

static wte_status no_memory(const wte__torch *t)
{
    return wte__no_memory(t->err, t->n_storages * sizeof *t->storages, t->path);
}

/* Storages ------------------------------------------------------------------------------------- */

bool wte__torch_key(wte__torch *t, const wte__pickle_value *v, wte__bytes *key)
{
    char digits[24];
    key->data = v->as.bytes;
    key->size = v->n;
    if (v->kind == WTE__PICKLE_TEXT) return true;
    if (v->kind != WTE__PICKLE_INT) return false;
    const int n = snprintf(digits, sizeof digits, "%" PRId64, v->as.integer);
    key->data = (const uint8_t *)wte__arena_text(&t->arena, digits, (size_t)n);
    key->size = (uint64_t)n;
    return key->data != NULL;
}

static wte_dtype type_of_kind(const wte__pickle_value *v, uint32_t kind)
{
    const bool fits = v->kind == WTE__PICKLE_GLOBAL && v->n >> 8 == kind;
    return fits ? (wte_dtype)(v->n & 0xff) : WTE_DTYPE_NONE;
}

wte_dtype wte__torch_class(const wte__pickle_value *v)
{
    return type_of_kind(v, KIND_CLASS);
}

static wte_status add_storage(wte__torch *t, const wte__torch_storage *s)
{
    void *storages = t->storages;
    const bool ok =
        wte__grow(t->f->allocator, &storages, &t->storages_cap, t->n_storages + 1, sizeof *s);
    t->storages = storages;
    if (!ok) return no_memory(t);
    t->storages[t->n_storages++] = *s;
    return WTE_OK;
}

wte_status wte__torch_storage_add(wte__torch *t, wte__bytes key, const wte__pickle_value *class_,
                                  uint64_t count, uint64_t where, uint32_t *number)
{
    char shown[WTE__NAME_SHOWN];
    wte__torch_storage s = { .key = key, .count = count, .dtype = wte__torch_class(class_) };
    wte__show(shown, key.data, key.size);
    if (s.dtype == WTE_DTYPE_NONE)
        return wte__fail(t->err, WTE_E_FORMAT, where, "%s: storage '%s' is of no class of storages",
                         t->path, shown);
    if (!wte__mul_u64(count, wte_dtype_bytes(s.dtype), &s.bytes))
        return wte__fail(t->err, WTE_E_FORMAT, where,
                         "%s: storage '%s': %" PRIu64 " elements of %s overflow 64 bits", t->path,
                         shown, count, wte_dtype_name(s.dtype));
    uint64_t i = t->n_storages;
    bool found;
    if (!wte__names_add(&t->keys, key, &i, &found)) return no_memory(t);
    *number = (uint32_t)i;
    if (!found) return add_storage(t, &s);
    const wte__torch_storage *before = &t->storages[i];
    if (before->dtype == s.dtype && before->count == count) return WTE_OK;
    return wte__fail(t->err, WTE_E_FORMAT, where,
                     "%s: storage '%s' is %" PRIu64 " elements of %s here, but %" PRIu64
                     " of %s before",
                     t->path, shown, count, wte_dtype_name(s.dtype), before->count,
                     wte_dtype_name(before->dtype));
}

static wte_status add_view(wte__torch *t, const wte__torch_view *view, uint32_t *number)
{
    void *views = t->views;
    const bool ok = wte__grow(t->f->allocator, &views, &t->views_cap, t->n_views + 1, sizeof *view);
    t->views = views;
    if (!ok) return no_memory(t);
    *number = (uint32_t)t->n_views;
    t->views[t->n_views++] = *view;
    return WTE_OK;
}

wte_status wte__torch_view_add(wte__torch *t, wte__bytes key, uint32_t storage, uint64_t offset,
                               uint64_t count)
{
    const wte__torch_view view = { storage, offset, count };
    uint64_t i = t->n_views;
    uint32_t number;
    bool found;
    if (!wte__names_add(&t->view_keys, key, &i, &found)) return no_memory(t);
    return found ? WTE_OK : add_view(t, &view, &number); /* callers do not give a key twice */
}

bool wte__torch_view_find(const wte__torch *t, wte__bytes key, uint32_t *storage, uint64_t *offset)
{
    uint64_t i;
    *offset = 0;
    if (wte__names_find(&t->keys, key, &i)) {
        *storage = (uint32_t)i;
        return true;
    }
    if (!wte__names_find(&t->view_keys, key, &i)) return false;
    *storage = t->views[i].storage;
    *offset = t->views[i].offset;
    return true;
}

/* The window that a sixth part of an identity asks for: (key, offset, count), or None. */
static wte_status read_view(wte__torch *t, const wte__pickle_value *v, uint64_t where,
                            wte__torch_view *view)
{
    if (v->kind == WTE__PICKLE_NONE) return WTE_OK;
    const wte__pickle_value *of = v->as.items;
    if (v->kind != WTE__PICKLE_TUPLE || v->n != 3 || of[1].kind != WTE__PICKLE_INT ||
        of[2].kind != WTE__PICKLE_INT || of[1].as.integer < 0 || of[2].as.integer < 0)
        return wte__fail(t->err, WTE_E_FORMAT, where,
                         "%s: a view of a storage is no (key, offset, count)", t->path);
    const uint64_t count = view->count;
    uint64_t end;
    view->offset = (uint64_t)of[1].as.integer;
    view->count = (uint64_t)of[2].as.integer;
    if (!wte__add_u64(view->offset, view->count, &end) || end > count)
        return wte__fail(t->err, WTE_E_FORMAT, where,
                         "%s: a view ends at element %" PRIu64 " of a storage of %" PRIu64, t->path,
                         end, count);
    return WTE_OK;
}

static wte_status bad_identity(const wte__torch *t, uint64_t where)
{
    return wte__fail(t->err, WTE_E_FORMAT, where,
                     "%s: what is kept outside the pickle is no ('storage', class, key, place, "
                     "count)",
                     t->path);
}

/* ('storage', class, key, place, count[, view]) becomes a view, whose number the value gets. */
static wte_status on_persistent(const wte__pickle *p, const wte__pickle_value *id, uint64_t at,
                                uint32_t *number, wte_error *err)
{
    wte__torch *t = p->owner;
    const uint64_t where = wte__pickle_where(p, at);
    const wte__pickle_value *of = id->as.items;
    wte__torch_view view;
    wte__bytes key;
    t->err = err;
    *number = NO_NUMBER;
    if (t->by_key) {
        uint64_t i;
        if (wte__torch_key(t, id, &key) && wte__names_find(&t->tensor_keys, key, &i))
            *number = (uint32_t)i;
        return WTE_OK;
    }
    if (id->kind != WTE__PICKLE_TUPLE || id->n == 0) return bad_identity(t, where);
    if (wte__pickle_is(&of[0], "module")) return WTE_OK; /* a class: refused when it is used */
    if (!wte__pickle_is(&of[0], "storage") || id->n < 5 || id->n > 6 ||
        of[4].kind != WTE__PICKLE_INT || of[4].as.integer < 0 || !wte__torch_key(t, &of[2], &key))
        return bad_identity(t, where);
    view.offset = 0;
    view.count = (uint64_t)of[4].as.integer;
    WTE_TRY(wte__torch_storage_add(t, key, &of[1], view.count, where, &view.storage));
    if (id->n == 6) WTE_TRY(read_view(t, &of[5], where, &view));
    return add_view(t, &view, number);
}

wte_status wte__torch_pickle(wte__torch *t, wte__pickle *p)
{
    p->path = t->path;
    p->allowed = allowed;
    p->n_allowed = sizeof allowed / sizeof allowed[0];
    p->arena = &t->arena;
    p->persistent = on_persistent;
    p->owner = t;
    return wte__pickle_read(p, t->err);
}

/* How long it is shows when it ends, so more and more is read. */
wte_status wte__torch_pickle_at(wte__torch *t, uint64_t at, uint64_t end, wte__pickle *p)
{
    const wte__file *file = &t->f->parts[t->part].file;
    const uint64_t left = at < end ? end - at : 0;
    const uint64_t most = left < WTE_LIMIT_PICKLE ? left : WTE_LIMIT_PICKLE;
    for (uint64_t n = 512;; n *= 8) {
        if (n > most) n = most;
        uint8_t *data = n ? wte__arena_take(&t->arena, (size_t)n) : NULL;
        if (n && !data) return wte__no_memory(t->err, n, t->path);
        WTE_TRY(wte__file_read_at(file, at, data, n, t->path, t->err));
        memset(p, 0, sizeof *p);
        p->data = data;
        p->size = n;
        p->at = at;
        const wte_status status = wte__torch_pickle(t, p);
        if (status == WTE_OK || !p->cut || n == left) return status;
        if (n == most)
            return wte__fail(t->err, WTE_E_LIMIT, at,
                             "%s: a pickle of more than %u bytes at byte %" PRIu64, t->path,
                             WTE_LIMIT_PICKLE, at);
    }
}

/* Tensors -------------------------------------------------------------------------------------- */

/* The kind of call that a value is; 0 when it is none. */
static uint32_t call_kind(const wte__pickle_value *v)
{
    return v->kind == WTE__PICKLE_CALL ? v->as.call->callee.n >> 8 : 0;
}

static bool is_rebuild(uint32_t kind)
{
    return kind == KIND_REBUILD || kind == KIND_REBUILD_V3;
}

bool wte__torch_is_tensor(const wte__torch *t, const wte__pickle_value *v)
{
    if (t->by_key) return v->kind == WTE__PICKLE_PERSISTENT && v->n != NO_NUMBER;
    const uint32_t kind = call_kind(v);
    if (kind == KIND_FROM_TYPE || kind == KIND_PARAMETER || kind == KIND_OTHER) return true;
    return is_rebuild(kind);
}

/* "(7, 5)" of an array's state, (version, shape, type, by columns, bytes), with its type. */
static void say_array(const wte__pickle_call *made, char *out, size_t cap)
{
    const wte__pickle_value *of = made->state.as.items;
    size_t n = (size_t)snprintf(out, cap, "a NumPy array");
    if (made->state.kind != WTE__PICKLE_TUPLE || made->state.n < 3 ||
        of[1].kind != WTE__PICKLE_TUPLE || of[2].kind != WTE__PICKLE_CALL)
        return;
    for (uint32_t i = 0; i < of[1].n && i < WTE_MAX_RANK; i++)
        if (of[1].as.items[i].kind == WTE__PICKLE_INT && n < cap)
            n += (size_t)snprintf(out + n, cap - n, "%s%" PRId64, i ? " x " : ", ",
                                  of[1].as.items[i].as.integer);
    const wte__pickle_value *arguments = &of[2].as.call->arguments;
    const wte__pickle_value *type = arguments->n ? &arguments->as.items[0] : NULL;
    char shown[WTE__NAME_SHOWN];
    if (type && type->kind == WTE__PICKLE_TEXT && n < cap)
        snprintf(out + n, cap - n, " '%s'", wte__show(shown, type->as.bytes, type->n));
}

bool wte__torch_passed(const wte__pickle_value *v, char out[WTE__TORCH_PASSED])
{
    char shown[WTE__NAME_SHOWN];
    if (v->kind != WTE__PICKLE_CALL) return false;
    if (call_kind(v) == KIND_ARRAY)
        say_array(v->as.call, out, WTE__TORCH_PASSED);
    else if (v->as.call->callee.n == 0 && v->as.call->filled.n == 0)
        snprintf(out, WTE__TORCH_PASSED, "an object of class '%s'",
                 wte__pickle_show(v->as.call->callee.as.global, shown, sizeof shown));
    else
        return false;
    return true;
}

static wte_status bad_tensor(const wte__torch *t, const char *name, const char *what)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(t->err, WTE_E_FORMAT, WTE_NO_INDEX, "%s: tensor '%s': %s", t->path,
                     wte__show(shown, name, strlen(name)), what);
}

/* A tuple of whole numbers, or a torch.Size of one. */
static wte_status read_numbers(const wte__torch *t, const wte__pickle_value *v, const char *name,
                               uint64_t *out, uint32_t *n)
{
    char what[80];
    if (call_kind(v) == KIND_SIZE && v->as.call->arguments.n == 1)
        v = &v->as.call->arguments.as.items[0];
    const wte__pickle_value *items = v->as.items;
    *n = v->n;
    if (v->kind == WTE__PICKLE_LIST) {
        items = v->as.list->items;
        *n = v->as.list->n;
    } else if (v->kind != WTE__PICKLE_TUPLE) {
        return bad_tensor(t, name, "shape and strides are no tuples");
    }
    if (*n > WTE_MAX_RANK) {
        char shown[WTE__NAME_SHOWN];
        return wte__fail(t->err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: tensor '%s' has %u dimensions, but at most %d are read", t->path,
                         wte__show(shown, name, strlen(name)), *n, WTE_MAX_RANK);
    }
    for (uint32_t i = 0; i < *n; i++) {
        if (items[i].kind != WTE__PICKLE_INT)
            return bad_tensor(t, name, "shape or strides are no whole numbers");
        if (items[i].as.integer < 0) {
            snprintf(what, sizeof what, "a dimension or stride is negative: %" PRId64,
                     items[i].as.integer);
            return bad_tensor(t, name, what);
        }
        out[i] = (uint64_t)items[i].as.integer;
    }
    return WTE_OK;
}

/* (storage, offset, shape, strides, ...): the type is the storage's, or the seventh argument. */
static wte_status read_rebuild(wte__torch *t, const wte__pickle_value *arguments, bool v3,
                               const char *name, wte__torch_tensor *out)
{
    const wte__pickle_value *of = arguments->as.items;
    uint32_t strides;
    if (arguments->kind != WTE__PICKLE_TUPLE || arguments->n < (v3 ? 7 : 4))
        return bad_tensor(t, name, "is rebuilt from too few arguments");
    if (of[0].kind != WTE__PICKLE_PERSISTENT || of[0].n == NO_NUMBER)
        return bad_tensor(t, name, "is rebuilt from no storage");
    if (of[1].kind != WTE__PICKLE_INT || of[1].as.integer < 0)
        return bad_tensor(t, name, "its offset is no whole number");
    const wte__torch_view *view = &t->views[of[0].n];
    out->storage = view->storage;
    out->dtype = t->storages[view->storage].dtype;
    if (v3) out->dtype = type_of_kind(&of[6], KIND_DTYPE);
    if (out->dtype == WTE_DTYPE_NONE) return bad_tensor(t, name, "its type is none of torch's");
    WTE_TRY(read_numbers(t, &of[2], name, out->shape, &out->rank));
    WTE_TRY(read_numbers(t, &of[3], name, out->stride, &strides));
    if (strides != out->rank) return bad_tensor(t, name, "shape and strides differ in length");
    if (!wte__add_u64((uint64_t)of[1].as.integer, view->offset, &out->offset))
        return bad_tensor(t, name, "its offset overflows 64 bits");
    return wte__torch_check(t, out, name);
}

/* Tensors that are not read, by a part of the name of the function that rebuilds them. */
static const struct {
    const char *part, *is, *how;
} other_kinds[] = {
    { "_qtensor", "quantised", "x.dequantize()" },
    { "_sparse", "sparse", "x.to_dense()" },
    { "_meta", "of no data, on the device 'meta'", "torch.tensor(x)" },
    { "", "of a kind of its own", "torch.tensor(x)" }, /* every name contains it */
};

static wte_status other_tensor(const wte__torch *t, const wte__pickle_value *callee,
                               const char *name)
{
    char shown[WTE__NAME_SHOWN], by[WTE__NAME_SHOWN];
    size_t i = 0;
    wte__pickle_show(callee->as.global, by, sizeof by);
    while (!strstr(by, other_kinds[i].part)) i++;
    return wte__fail(t->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "%s: tensor '%s' is %s (%s), which is not read: save it as an ordinary one "
                     "(%s)",
                     t->path, wte__show(shown, name, strlen(name)), other_kinds[i].is, by,
                     other_kinds[i].how);
}

wte_status wte__torch_tensor_of(wte__torch *t, const wte__pickle_value *v, const char *name,
                                wte__torch_tensor *out)
{
    memset(out, 0, sizeof *out);
    if (t->by_key) {
        *out = t->tensors[v->n];
        return wte__torch_check(t, out, name);
    }
    /* a parameter holds a tensor, and that is where it ends */
    for (int depth = 0; depth < 4 && v->kind == WTE__PICKLE_CALL; depth++) {
        const wte__pickle_value *arguments = &v->as.call->arguments;
        const uint32_t kind = call_kind(v);
        if (is_rebuild(kind)) return read_rebuild(t, arguments, kind == KIND_REBUILD_V3, name, out);
        if (kind == KIND_FROM_TYPE) {
            /* (function, class, arguments of the function, attributes) */
            const wte__pickle_value *of = arguments->as.items;
            if (arguments->n > 0 && of[0].kind == WTE__PICKLE_GLOBAL && of[0].n >> 8 == KIND_OTHER)
                return other_tensor(t, &of[0], name);
            if (arguments->n < 3 || of[0].kind != WTE__PICKLE_GLOBAL || !is_rebuild(of[0].n >> 8))
                break;
            return read_rebuild(t, &of[2], of[0].n >> 8 == KIND_REBUILD_V3, name, out);
        }
        if (kind == KIND_OTHER) return other_tensor(t, &v->as.call->callee, name);
        if (kind != KIND_PARAMETER || arguments->n < 1) break;
        v = &arguments->as.items[0];
    }
    return bad_tensor(t, name, "is rebuilt in a way that is not known");
}

wte_status wte__torch_check(wte__torch *t, const wte__torch_tensor *tensor, const char *name)
{
    const wte__torch_storage *s = &t->storages[tensor->storage];
    char shown[WTE__NAME_SHOWN];
    uint64_t elements, last = tensor->offset, end;
    const uint32_t element = wte_dtype_bytes(tensor->dtype);
    bool ok = wte__shape_bytes(tensor->shape, tensor->rank, element, &elements);
    if (ok && elements == 0) return WTE_OK;
    for (uint32_t i = 0; ok && i < tensor->rank; i++) {
        uint64_t reach;
        ok = wte__mul_u64(tensor->shape[i] - 1, tensor->stride[i], &reach) &&
             wte__add_u64(last, reach, &last);
    }
    ok = ok && wte__add_u64(last, 1, &end) && wte__mul_u64(end, element, &end);
    if (!ok) return bad_tensor(t, name, "its shape and strides overflow 64 bits");
    if (end <= s->bytes) return WTE_OK;
    char key[WTE__NAME_SHOWN];
    return wte__fail(t->err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: tensor '%s' reaches to byte %" PRIu64
                     " of storage '%s', which has %" PRIu64,
                     t->path, wte__show(shown, name, strlen(name)), end,
                     wte__show(key, s->key.data, s->key.size), s->bytes);
}
