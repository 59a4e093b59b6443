/* Recognising a quantised table by the tensors that stand beside it, and what every scheme needs
 * for that: finding its parts, checking them against each other, saying what is wrong. */
#include "model/quant.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "model/name_rules.h"

/* Longest stem that is joined with the endings of its parts: real names have under a hundred. */
#define STEM_BYTES 1000u

/* Tensors that stand beside the stem in a scheme which is not read here. */
static const struct {
    const char *suffix, *scheme;
} unread[] = {
    { ".weight._scale", "quanto" },
    { "._weight_scale", "torchao" },
    { ".weight:scale", "torchao" },
    { ".weight_scales", "eetq" },
    { ".weight_scale_inv", "fp8 in square blocks (weight_scale_inv)" },
    { ".rowwise_scale", "fp8 of transformer-engine" },
    { ".codebooks", "aqlm" },
    { ".Qidxs", "quip#" },
    { ".centroids.weight", "vptq" },
    { ".q_scale_max", "exl2" },
    { ".trellis", "exl3" },
};

bool wte__quant_is(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        const char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
        const char y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;
        if (x != y) return false;
    }
    return *a == *b;
}

wte_status wte__quant_refuse(wte__quant_find *f, const char *fmt, ...)
{
    char what[160], shown[WTE__NAME_SHOWN];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return wte__fail(f->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "%s: '%s': unsupported: %s",
                     f->q->path, wte__show(shown, f->t->name, f->t->name_bytes), what);
}

wte_status wte__quant_ambiguous(wte__quant_find *f, const char *key)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(f->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "%s: '%s': its shapes fit more than one reading: '%s' of "
                     "quantization_config in config.json is needed, and %s",
                     f->q->path, wte__show(shown, f->t->name, f->t->name_bytes), key,
                     f->said->at ? "is missing" : "nothing is said");
}

wte_status wte__quant_same(wte__quant_find *f, const wte__plane *a, uint64_t n, const char *what,
                           const wte__plane *b, uint64_t m)
{
    char one[WTE__NAME_SHOWN], other[WTE__NAME_SHOWN];
    if (n == m) return WTE_OK;
    return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: '%s' has %" PRIu64 " %s, but by '%s' it must be %" PRIu64, f->q->path,
                     wte__show(one, a->name, a->name_bytes), n, what,
                     wte__show(other, b->name, b->name_bytes), m);
}

wte_status wte__quant_unfit(wte__quant_find *f, const wte__plane *a, uint64_t n, const char *what,
                            const wte__plane *b, uint64_t m)
{
    char one[WTE__NAME_SHOWN], other[WTE__NAME_SHOWN];
    return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: '%s' has %" PRIu64 " %s, which with %" PRIu64
                     " of '%s' make no whole table",
                     f->q->path, wte__show(one, a->name, a->name_bytes), n, what, m,
                     wte__show(other, b->name, b->name_bytes));
}

wte_status wte__quant_filled(wte__quant_find *f, const wte__plane *part)
{
    char shown[WTE__NAME_SHOWN];
    if (part->bytes == 0)
        return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: '%s' is %" PRIu64 " x %" PRIu64 ": it holds nothing", f->q->path,
                         wte__show(shown, part->name, part->name_bytes), part->rows, part->cols);
    if (part->bytes > WTE_LIMIT_TABLE_BYTES)
        return wte__fail(f->err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: '%s' has %" PRIu64
                         " bytes, but at most %llu are read as packed codes",
                         f->q->path, wte__show(shown, part->name, part->name_bytes), part->bytes,
                         (unsigned long long)WTE_LIMIT_TABLE_BYTES);
    return WTE_OK;
}

wte_status wte__quant_floats(wte__quant_find *f, const wte__plane *part)
{
    char shown[WTE__NAME_SHOWN];
    if (wte_dtype_converts(part->type) || part->type == WTE_F8_E8M0) return WTE_OK;
    return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX, "%s: '%s' has type %s, but holds numbers",
                     f->q->path, wte__show(shown, part->name, part->name_bytes),
                     wte_dtype_name(part->type));
}

wte_status wte__quant_words(wte__quant_find *f, const wte__plane *part)
{
    char shown[WTE__NAME_SHOWN];
    if (part->type == WTE_I32 || part->type == WTE_U32) return WTE_OK;
    return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: '%s' has type %s, but fields are packed in words of 32 bits", f->q->path,
                     wte__show(shown, part->name, part->name_bytes), wte_dtype_name(part->type));
}

/* Parts ------------------------------------------------------------------------------------------
 */

static wte_status plane_of(wte__quant_find *f, uint64_t tensor, wte__plane *out)
{
    wte_tensor t;
    wte_row_source rows;
    char shown[WTE__NAME_SHOWN];
    memset(out, 0, sizeof *out);
    WTE_TRY(wte_file_tensor(f->q->file, tensor, &t, f->err));
    if (t.rank > 2)
        return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: '%s' has %" PRIu32 " dimensions, but at most 2 are needed",
                         f->q->path, wte__show(shown, t.name, t.name_bytes), t.rank);
    if (t.strided || t.column_major || t.big_endian || t.block || t.derived ||
        wte_dtype_bytes(t.dtype) == 0)
        return wte__quant_refuse(f, "its part '%s' is not stored in order",
                                 wte__show(shown, t.name, t.name_bytes));
    out->tensor = tensor;
    out->rows = t.rank ? t.shape[0] : 1;
    out->cols = t.rank == 2 ? t.shape[1] : 1;
    out->bytes = t.bytes;
    out->type = t.dtype;
    out->element = wte_dtype_bytes(t.dtype);
    if (t.rank && wte_file_row_source(f->q->file, tensor, &rows, NULL) == WTE_OK)
        out->map = rows.data;
    out->name = t.name;
    out->name_bytes = t.name_bytes;
    out->there = true;
    f->q->stored_bytes += t.bytes;
    if (f->q->n_parts < WTE__QUANT_PARTS) f->q->part[f->q->n_parts++] = tensor;
    return WTE_OK;
}

static bool find(const wte__quant_find *f, const char *suffix, uint64_t *tensor)
{
    char name[STEM_BYTES + 64];
    memcpy(name, f->stem, f->stem_bytes);
    const size_t n = strlen(suffix);
    memcpy(name + f->stem_bytes, suffix, n);
    return wte_file_find(f->q->file, name, f->stem_bytes + n, tensor, NULL) == WTE_OK;
}

static bool has(const wte__quant_find *f, const char *suffix)
{
    uint64_t tensor;
    return find(f, suffix, &tensor);
}

wte_status wte__quant_part(wte__quant_find *f, const char *suffix, wte__plane *out)
{
    uint64_t tensor;
    memset(out, 0, sizeof *out);
    return find(f, suffix, &tensor) ? plane_of(f, tensor, out) : WTE_OK;
}

wte_status wte__quant_need(wte__quant_find *f, const char *suffix, wte__plane *out)
{
    char shown[WTE__NAME_SHOWN], stem[WTE__NAME_SHOWN];
    WTE_TRY(wte__quant_part(f, suffix, out));
    if (out->there) return WTE_OK;
    return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: '%s' is packed, but '%s%s', which it needs, is not there", f->q->path,
                     wte__show(shown, f->t->name, f->t->name_bytes),
                     wte__show(stem, f->stem, f->stem_bytes), suffix);
}

wte_status wte__quant_number(const wte__quant *q, const wte__plane *part, uint64_t i, double *out,
                             wte_error *err)
{
    float value;
    uint8_t raw[8];
    *out = 0;
    if (part->type != WTE_I64 && part->type != WTE_I32 && part->type != WTE_F32) {
        WTE_TRY(wte__quant_read_floats(q, part, i, 1, &value, err));
        *out = (double)value;
        return WTE_OK;
    }
    WTE_TRY(wte__quant_bytes(q, part, i * part->element, raw, part->element, err));
    uint64_t bits = 0;
    for (uint32_t k = 0; k < part->element; k++) bits |= (uint64_t)raw[k] << (8 * k);
    uint32_t low = (uint32_t)bits;
    if (part->type == WTE_F32) {
        memcpy(&value, &low, sizeof value);
        *out = (double)value;
    } else {
        *out = part->type == WTE_I32 ? (double)(int32_t)low : (double)(int64_t)bits;
    }
    return WTE_OK;
}

/* What the config says ---------------------------------------------------------------------------
 */

uint64_t wte__quant_bits(const wte__quant_find *f)
{
    return f->own && f->own->bits ? f->own->bits : f->said->bits;
}

int64_t wte__quant_group(const wte__quant_find *f)
{
    return f->own && f->own->group ? f->own->group : f->said->group;
}

const char *wte__quant_mode(const wte__quant_find *f)
{
    return f->own && f->own->mode[0] ? f->own->mode : f->said->mode;
}

static void put_settings(char *text, size_t cap, uint64_t bits, int64_t group)
{
    snprintf(text, cap, "%" PRIu64 " bits, groups of %" PRId64, bits, group);
}

wte_status wte__quant_told(wte__quant_find *f, wte_status status)
{
    char taken[64], unused[64], shown[WTE__NAME_SHOWN];
    if (status != WTE_E_FORMAT || !f->err || !f->said->at) return status;
    const wte__quant_path *other = wte__quant_unused(f);
    const size_t n = strlen(f->err->message);
    put_settings(taken, sizeof taken, wte__quant_bits(f), wte__quant_group(f));
    if (!other) {
        snprintf(f->err->message + n, sizeof f->err->message - n, " (%s)", taken);
        return status;
    }
    put_settings(unused, sizeof unused, other->bits, other->group);
    snprintf(f->err->message + n, sizeof f->err->message - n,
             " (%s); '%.60s' of the config (%s) is the name of no tensor", taken,
             wte__show(shown, other->name, strlen(other->name)), unused);
    return status;
}

wte_status wte__quant_fit_group(wte__quant_find *f)
{
    static const uint64_t sizes[] = { 16, 32, 64, 128, 256, 512, 1024 };
    wte__quant *q = f->q;
    const int64_t said = wte__quant_group(f);
    unsigned fits = 0;
    q->group = said > 0 ? (uint64_t)said : q->dim;
    if (said != 0 || q->groups == 1)
        return wte__quant_told(f, wte__quant_same(f, &q->scale, q->groups, "groups", &q->packed,
                                                  wte__ceil_div(q->dim, q->group)));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (wte__ceil_div(q->dim, sizes[i]) != q->groups) continue;
        q->group = sizes[i];
        fits++;
    }
    return fits == 1 ? WTE_OK : wte__quant_ambiguous(f, "group_size");
}

void wte__quant_tell_groups(wte__quant *q)
{
    const size_t n = strlen(q->scheme);
    const bool one = q->scale.rows == 1 && q->scale.cols == 1 && q->rows > 1;
    if (one)
        snprintf(q->scheme + n, sizeof q->scheme - n, ", one scale");
    else if (q->groups == 1)
        snprintf(q->scheme + n, sizeof q->scheme - n, ", one scale a row");
    else
        snprintf(q->scheme + n, sizeof q->scheme - n, ", groups of %" PRIu64 "%s", q->group,
                 q->order ? " (reordered)" : "");
}

/* What a code stands for -------------------------------------------------------------------------
 */

void wte__quant_integers(wte__quant *q, int offset)
{
    for (int i = 0; i < 256; i++) q->code[i] = (float)(i - offset);
}

wte_status wte__quant_small_floats(wte__quant *q, wte_dtype type, wte_error *err)
{
    static const float e2m1[8] = { 0, 0.5F, 1, 1.5F, 2, 3, 4, 6 };
    if (type == WTE_F4) {
        for (uint32_t i = 0; i < 16; i++) q->code[i] = i < 8 ? e2m1[i] : -e2m1[i - 8];
        return WTE_OK;
    }
    uint8_t all[256];
    for (uint32_t i = 0; i < 256; i++) all[i] = (uint8_t)i;
    return wte_convert(type, all, WTE_F32, q->code, 256, NULL, err);
}

/* The group of each column, and how many columns each has (at first[group]). */
static wte_status read_groups(wte__quant_find *f, const wte__plane *index, uint32_t *group,
                              bool *in_order)
{
    wte__quant *q = f->q;
    uint8_t raw[4 * WTE__QUANT_AT_ONCE];
    char shown[WTE__NAME_SHOWN];
    bool unset = false;
    for (uint64_t d = 0; d < q->dim; d++) {
        const size_t k = (size_t)(d % WTE__QUANT_AT_ONCE);
        const uint64_t left = q->dim - d;
        if (k == 0)
            WTE_TRY(wte__quant_bytes(q, index, 4 * d, raw,
                                     left < WTE__QUANT_AT_ONCE ? 4 * left : sizeof raw, f->err));
        const int32_t g = (int32_t)wte__quant_word(raw + 4 * k);
        if (d == 0) unset = g == -1;
        if (unset && g == -1) continue;
        if (unset || g < 0 || (uint32_t)g >= q->groups)
            return wte__fail(f->err, WTE_E_FORMAT, d,
                             "%s: '%s'[%" PRIu64 "] is %" PRId32
                             ", but there are groups 0..%" PRIu64 "%s",
                             q->path, wte__show(shown, index->name, index->name_bytes), d, g,
                             q->groups - 1, unset ? ", and [0] is -1 for none" : "");
        group[d] = (uint32_t)g;
        if (group[d] != d / q->group) *in_order = false;
        q->first[g]++;
    }
    return WTE_OK;
}

/* From how many columns each group has to where they begin, and which they are. */
static void sort_columns(wte__quant *q, const uint32_t *group)
{
    uint32_t sum = 0;
    for (uint64_t g = 0; g <= q->groups; g++) {
        const uint32_t n = q->first[g];
        q->first[g] = sum;
        sum += n;
    }
    /* each first[g] moves to the end of its group, which is where the next one begins */
    for (uint64_t d = 0; d < q->dim; d++) q->order[q->first[group[d]]++] = (uint32_t)d;
    for (uint64_t g = q->groups; g > 0; g--) q->first[g] = q->first[g - 1];
    q->first[0] = 0;
}

static void drop_order(wte__quant *q)
{
    wte__free(q->allocator, q->order, (size_t)q->dim * sizeof *q->order);
    wte__free(q->allocator, q->first, (size_t)(q->groups + 1) * sizeof *q->first);
    q->order = q->first = NULL;
}

wte_status wte__quant_order(wte__quant_find *f, const wte__plane *index)
{
    wte__quant *q = f->q;
    bool in_order = true;
    WTE_TRY(wte__quant_words(f, index));
    WTE_TRY(wte__quant_same(f, index, index->rows, "entries", &q->packed, q->dim));
    WTE_TRY(wte__quant_same(f, index, index->cols, "columns", &q->packed, 1));
    if (q->dim > INT32_MAX || q->groups > INT32_MAX)
        return wte__quant_refuse(f, "more than 2^31 columns");
    q->order = wte__alloc_array(q->allocator, q->dim, sizeof *q->order);
    q->first = wte__alloc_array(q->allocator, q->groups + 1, sizeof *q->first);
    uint32_t *group = wte__alloc_array(q->allocator, q->dim, sizeof *group);
    wte_status status = WTE_OK;
    if (q->order && q->first && group) {
        memset(q->first, 0, (size_t)(q->groups + 1) * sizeof *q->first);
        status = read_groups(f, index, group, &in_order);
    } else {
        status = wte__no_memory(f->err, q->dim * sizeof *group, "the groups of columns");
    }
    if (status == WTE_OK && !in_order) sort_columns(q, group);
    wte__free(q->allocator, group, (size_t)q->dim * sizeof *group);
    if (status != WTE_OK || in_order) drop_order(q);
    return status;
}

/* Recognising ------------------------------------------------------------------------------------
 */

static wte_status refuse_unread(wte__quant_find *f)
{
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (has(f, unread[i].suffix)) return wte__quant_refuse(f, "%s", unread[i].scheme);
    return WTE_OK;
}

/* Codes without a known companion: never shown as if they were the numbers of the table. */
static wte_status refuse_codes(wte__quant_find *f)
{
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(refuse_unread(f));
    const char *method = f->said->method;
    if (method[0]) return wte__quant_refuse(f, "%s", wte__show(shown, method, strlen(method)));
    return wte__quant_refuse(f, "a scheme of quantised weights that is not known here");
}

/* A tensor called ".weight": plain, unless something stands beside it. */
static wte_status open_weight(wte__quant_find *f)
{
    const wte_dtype type = f->t->dtype;
    const bool integers =
        type == WTE_I8 || type == WTE_U8 || type == WTE_I32 || type == WTE_U32 || type == WTE_I16;
    const bool nf4 = has(f, ".weight.quant_state.bitsandbytes__nf4");
    if (nf4 || has(f, ".weight.quant_state.bitsandbytes__fp4")) return wte__quant_nibbles(f, nf4);
    if (has(f, ".weight.absmax")) return wte__quant_need(f, ".weight.quant_state", &f->q->scale);
    if (has(f, ".SCB")) return wte__quant_int8(f);
    if (type == WTE_U32 && has(f, ".scales")) {
        WTE_TRY(wte__quant_own(f));
        return wte__quant_mlx(f);
    }
    const bool plain = type == WTE_I8 || type == WTE_F8_E4M3;
    const char *method = f->said->method;
    if (plain && has(f, ".weight_scale")) {
        if (method[0] && !wte__quant_is(method, "compressed-tensors")) return refuse_codes(f);
        return wte__quant_plain(f);
    }
    WTE_TRY(refuse_unread(f));
    const bool scaled = has(f, ".weight_scale") || has(f, ".scales") || has(f, ".scale");
    if (integers && (scaled || method[0])) return refuse_codes(f);
    return WTE_OK;
}

static wte_status open_codes(wte__quant_find *f, const char *suffix)
{
    if (strcmp(suffix, ".weight") == 0) return open_weight(f);
    if (strcmp(suffix, ".W_q") == 0) return wte__quant_split(f);
    WTE_TRY(wte__quant_own(f));
    if (strcmp(suffix, ".qweight") == 0) return wte__quant_qweight(f);
    if (strcmp(suffix, ".weight_packed") == 0) return wte__quant_compressed(f);
    return refuse_codes(f);
}

static wte_status check_size(wte__quant_find *f)
{
    const wte__quant *q = f->q;
    const uint64_t shape[2] = { q->rows, q->dim };
    uint64_t bytes;
    char shown[WTE__NAME_SHOWN];
    if (wte__shape_bytes(shape, 2, 8, &bytes)) return WTE_OK;
    return wte__fail(f->err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "%s: '%s' means %" PRIu64 " x %" PRIu64 " numbers, which no memory holds",
                     q->path, wte__show(shown, f->t->name, f->t->name_bytes), q->rows, q->dim);
}

wte_status wte__quant_open(const wte_file *file, uint64_t tensor, const wte__quant_said *said,
                           const char *path, const wte_allocator *a, wte__quant *q, wte_error *err)
{
    const wte__quant_said nothing = { NULL, "", "", "",   "",           0,
                                      0,    0,  0,  NULL, said->hidden, said->embedding };
    wte_tensor t;
    memset(q, 0, sizeof *q);
    WTE_TRY(wte_file_tensor(file, tensor, &t, err));
    const char *suffix = wte__code_suffix(t.name, t.name_bytes);
    if (!suffix || t.block) return WTE_OK;
    q->file = file;
    q->path = path;
    q->allocator = a;
    q->times = 1;
    wte__quant_find f = { .q = q, .said = said->at ? said : &nothing, .t = &t, .stem = t.name };
    f.err = err;
    f.stem_bytes = (size_t)t.name_bytes - strlen(suffix);
    if (f.stem_bytes > STEM_BYTES)
        return strcmp(suffix, ".weight") == 0
                   ? WTE_OK
                   : wte__quant_refuse(&f, "a name of %zu bytes", f.stem_bytes);
    const wte__name judged = wte__name_judge(t.name, t.name_bytes);
    f.table = judged.rule && wte__role_of(judged.rule->kind) != WTE_ROLE_OTHER && !judged.outside;
    wte_status status = open_codes(&f, suffix);
    if (status == WTE_OK && q->dim) status = check_size(&f);
    if (status != WTE_OK) wte__quant_clear(q);
    return status;
}

void wte__quant_clear(wte__quant *q)
{
    drop_order(q);
    memset(q, 0, sizeof *q);
}
