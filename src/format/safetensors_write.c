/* Writing safetensors, byte for byte as the reference writer does: tensors by element type
 * (widest first, in the format's own order of types), then by name; compact JSON; the header padded
 * with spaces so that the data begin at a multiple of 8. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/format.h"

#define LENGTH_BYTES 8u

/* Place of each type in the format's order; the writer goes from the highest down. */
static const uint8_t type_order[] = {
    [WTE_BOOL] = 1,    [WTE_F4] = 2,           [WTE_F6_E2M3] = 3,      [WTE_F6_E3M2] = 4,
    [WTE_U8] = 5,      [WTE_I8] = 6,           [WTE_F8_E5M2] = 7,      [WTE_F8_E4M3] = 8,
    [WTE_F8_E8M0] = 9, [WTE_F8_E4M3FNUZ] = 10, [WTE_F8_E5M2FNUZ] = 11, [WTE_I16] = 12,
    [WTE_U16] = 13,    [WTE_F16] = 14,         [WTE_BF16] = 15,        [WTE_I32] = 16,
    [WTE_U32] = 17,    [WTE_F32] = 18,         [WTE_C64] = 19,         [WTE_F64] = 20,
    [WTE_I64] = 21,    [WTE_U64] = 22,
};

static const char *type_name(wte_dtype type)
{
    switch (type) {
#define X(NAME, value, text, bits)                                                                 \
    case WTE_##NAME: return #NAME;
        WTE_DTYPE_LIST(X)
#undef X
    default: return "";
    }
}

static void put(wte__plan *t, const void *data, size_t n)
{
    void *block = t->text;
    if (t->failed || n > SIZE_MAX - t->n || !wte__grow(NULL, &block, &t->cap, t->n + n, 1)) {
        t->failed = true;
        return;
    }
    t->text = block;
    if (n) memcpy(t->text + t->n, data, n);
    t->n += n;
}

static void put_text(wte__plan *t, const char *s)
{
    put(t, s, strlen(s));
}

static void put_number(wte__plan *t, uint64_t v)
{
    char buf[24];
    int n = snprintf(buf, sizeof buf, "%" PRIu64, v);
    put(t, buf, (size_t)n);
}

/* In quotes; escaped as the reference does: quote, backslash and control characters only. */
static void put_string(wte__plan *t, const char *s)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    put_text(t, "\"");
    for (; *s; s++) {
        const char *hit = strchr(from, *s);
        char buf[8] = { '\\', hit ? to[hit - from] : *s, '\0' };
        if (hit)
            put(t, buf, 2);
        else if ((unsigned char)*s >= 0x20)
            put(t, s, 1);
        else
            put(t, buf, (size_t)snprintf(buf, sizeof buf, "\\u%04x", (unsigned)*s));
    }
    put_text(t, "\"");
}

static int by_writing(const void *a, const void *b)
{
    const wte__plan_item *x = a, *y = b;
    uint8_t tx = type_order[x->out->dtype], ty = type_order[y->out->dtype];
    if (tx != ty) return tx > ty ? -1 : 1;
    return strcmp(x->out->name, y->out->name);
}

static int by_key(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a;
    const char *const *y = *(const char *const *const *)b;
    return strcmp(x[0], y[0]);
}

static bool is_utf8(const char *s)
{
    const uint8_t *p = (const uint8_t *)s;
    uint64_t left = strlen(s);
    while (left) {
        uint32_t code, n = wte__utf8_get(p, left, &code);
        if (n == 0) return false;
        p += n;
        left -= n;
    }
    return true;
}

static wte_status check_name(const char *path, const char *name, size_t i, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (!name)
        return wte__fail(err, WTE_E_ARGUMENT, i, "%s: tensor number %zu has no name", path, i);
    wte__show(shown, name, strlen(name));
    if (strcmp(name, "__metadata__") == 0 || !is_utf8(name))
        return wte__fail(err, WTE_E_ARGUMENT, i, "%s: a tensor cannot be called '%s'%s", path,
                         shown, is_utf8(name) ? "" : ", which is not UTF-8");
    if (strlen(name) > WTE_LIMIT_NAME)
        return wte__fail(err, WTE_E_LIMIT, i,
                         "%s: the name of tensor '%s' has %zu bytes, but at most %u are read back",
                         path, shown, strlen(name), WTE_LIMIT_NAME);
    return WTE_OK;
}

/* Each tensor for itself, then no two of a name. */
static wte_status check_items(const char *path, const wte_tensor_out *tensors,
                              wte__plan_item *items, size_t n, wte_error *err)
{
    wte__names names;
    wte_status status = WTE_OK;
    wte__names_init(&names, NULL);
    for (size_t i = 0; status == WTE_OK && i < n; i++) {
        items[i].out = &tensors[i];
        items[i].number = i;
        status = check_name(path, tensors[i].name, i, err);
        if (status == WTE_OK)
            status = wte__tensor_out_check(&tensors[i], path, &items[i].bytes, err);
        if (status != WTE_OK) break;
        const wte__bytes name = { (const uint8_t *)tensors[i].name, strlen(tensors[i].name) };
        char shown[WTE__NAME_SHOWN];
        uint64_t first = i;
        bool found;
        if (!wte__names_add(&names, name, &first, &found))
            status = wte__no_memory(err, n * 32, "the names of the tensors");
        else if (found)
            status = wte__fail(err, WTE_E_ARGUMENT, i,
                               "%s: tensors number %" PRIu64 " and %zu are both called '%s'", path,
                               first, i, wte__show(shown, name.data, name.size));
    }
    wte__names_clear(&names);
    return status;
}

/* Metadata sorted by key, so that equal content gives equal bytes. */
static wte_status put_metadata(wte__plan *t, const char *path, const char *const (*metadata)[2],
                               size_t n, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte_status status = WTE_OK;
    for (size_t i = 0; i < n; i++)
        if (!metadata[i][0] || !metadata[i][1] || !is_utf8(metadata[i][0]) ||
            !is_utf8(metadata[i][1]))
            return wte__fail(err, WTE_E_ARGUMENT, i, "%s: metadata number %zu is no UTF-8 text",
                             path, i);
    const char *const **sorted = wte__alloc_array(NULL, 2 * (uint64_t)n, sizeof *sorted);
    if (!sorted) return wte__no_memory(err, n * 16, "the metadata");
    for (size_t i = 0; i < n; i++) sorted[i] = metadata[i];
    wte__sort(sorted, n, sizeof *sorted, by_key, sorted + n);
    put_text(t, "\"__metadata__\":{");
    for (size_t i = 0; i < n && status == WTE_OK; i++) {
        if (i && strcmp(sorted[i][0], sorted[i - 1][0]) == 0)
            status =
                wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%s: metadata key '%s' comes twice",
                          path, wte__show(shown, sorted[i][0], strlen(sorted[i][0])));
        if (i) put_text(t, ",");
        put_string(t, sorted[i][0]);
        put_text(t, ":");
        put_string(t, sorted[i][1]);
    }
    put_text(t, "}");
    wte__free(NULL, (void *)sorted, 2 * n * sizeof *sorted);
    return status;
}

static wte_status put_tensors(wte__plan *t, const char *path, wte_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < t->n_items; i++) {
        const wte__plan_item *item = &t->items[i];
        if (t->n > LENGTH_BYTES + 1) put_text(t, ",");
        put_string(t, item->out->name);
        put_text(t, ":{\"dtype\":\"");
        put_text(t, type_name(item->out->dtype));
        put_text(t, "\",\"shape\":[");
        for (uint32_t d = 0; d < item->out->rank; d++) {
            if (d) put_text(t, ",");
            put_number(t, item->out->shape[d]);
        }
        put_text(t, "],\"data_offsets\":[");
        put_number(t, at);
        put_text(t, ",");
        if (!wte__add_u64(at, item->bytes, &at))
            return wte__fail(err, WTE_E_ARGUMENT, item->number,
                             "%s: the tensors have over 2^64 bytes", path);
        put_number(t, at);
        put_text(t, "]}");
    }
    return WTE_OK;
}

/* Length and header; data follow at a multiple of 8. */
static wte_status make_header(wte__plan *t, const char *path, const char *const (*metadata)[2],
                              size_t n_metadata, wte_error *err)
{
    put(t, "\0\0\0\0\0\0\0", LENGTH_BYTES);
    put_text(t, "{");
    if (n_metadata) WTE_TRY(put_metadata(t, path, metadata, n_metadata, err));
    WTE_TRY(put_tensors(t, path, err));
    put_text(t, "}");
    while (!t->failed && t->n % 8) put_text(t, " ");
    if (t->failed) return wte__no_memory(err, t->n, "the header");
    const size_t length = t->n - LENGTH_BYTES;
    if (length > WTE_LIMIT_SAFETENSORS_HEADER)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: a header of %zu bytes, but readers take at most %u", path, length,
                         WTE_LIMIT_SAFETENSORS_HEADER);
    for (uint32_t i = 0; i < LENGTH_BYTES; i++)
        t->text[i] = (char)((uint64_t)length >> (8 * i) & 0xff);
    return WTE_OK;
}

wte_status wte__plan_make(wte__plan *plan, const char *path, const wte_tensor_out *tensors,
                          size_t n, const char *const (*metadata)[2], size_t n_metadata,
                          wte_error *err)
{
    memset(plan, 0, sizeof *plan);
    plan->items = wte__alloc_array(NULL, 2 * (uint64_t)n + 1, sizeof *plan->items);
    plan->n_items = n;
    if (!plan->items) return wte__no_memory(err, n * sizeof *plan->items, "the list of tensors");
    WTE_TRY(check_items(path, tensors, plan->items, n, err));
    wte__sort(plan->items, n, sizeof *plan->items, by_writing, plan->items + n);
    return make_header(plan, path, metadata, n_metadata, err);
}

void wte__plan_free(wte__plan *plan)
{
    wte__free(NULL, plan->text, plan->cap);
    wte__free(NULL, plan->items, (2 * plan->n_items + 1) * sizeof *plan->items);
}

static wte_status write_all(wte_writer *to, const wte__plan *plan, wte_error *err)
{
    wte__replace *r = &to->replace;
    WTE_TRY(wte_writer_write(to, plan->text, plan->n, err));
    for (size_t i = 0; i < plan->n_items; i++)
        WTE_TRY(wte__tensor_out_write(r, plan->items[i].out, plan->items[i].bytes, err));
    return WTE_OK;
}

wte_status wte_safetensors_write(const char *path, const wte_tensor_out *tensors, size_t n,
                                 const char *const (*metadata)[2], size_t n_metadata,
                                 wte_error *err)
{
    WTE_TRY(wte__need(path, "wte_safetensors_write: path", err));
    WTE_TRY(wte__need_array(tensors, n, sizeof *tensors, "wte_safetensors_write: tensors", err));
    WTE_TRY(wte__need_array(metadata, n_metadata, sizeof *metadata,
                            "wte_safetensors_write: metadata", err));
    wte__plan plan;
    wte_writer *to = NULL;
    wte_status status = wte__plan_make(&plan, path, tensors, n, metadata, n_metadata, err);
    if (status == WTE_OK) status = wte_writer_create(path, &to, err);
    if (status == WTE_OK) status = write_all(to, &plan, err);
    if (status == WTE_OK) status = wte_writer_commit(to, err);
    wte_writer_free(to);
    wte__plan_free(&plan);
    return status;
}

wte_status wte_safetensors_write_to(wte_writer *to, const wte_tensor_out *tensors, size_t n,
                                    const char *const (*metadata)[2], size_t n_metadata,
                                    wte_error *err)
{
    WTE_TRY(wte__need(to, "wte_safetensors_write_to: the writer", err));
    WTE_TRY(wte__need_array(tensors, n, sizeof *tensors, "wte_safetensors_write_to: tensors", err));
    WTE_TRY(wte__need_array(metadata, n_metadata, sizeof *metadata,
                            "wte_safetensors_write_to: metadata", err));
    wte__plan plan;
    wte_status status =
        wte__plan_make(&plan, to->replace.path, tensors, n, metadata, n_metadata, err);
    if (status == WTE_OK) status = write_all(to, &plan, err);
    wte__plan_free(&plan);
    return status;
}
