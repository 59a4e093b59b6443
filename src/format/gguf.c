/* Reading GGUF: magic, version, counts, metadata pairs, tensor entries, padding, data.
 *
 * The header has no length of its own, so it is read ahead in growing pieces, each bounded by the
 * file's real size and by a limit. Nothing is believed before it is compared with the bytes that
 * are left. What ggml refuses is refused here too: nested arrays, duplicate names, tensors out of
 * order or with gaps between them. */
#include "format/gguf.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"

#define MAGIC         "GGUF"
#define MAGIC_BYTES   4u
#define READ_AHEAD    ((uint64_t)64 << 10)
#define KEY_BYTES     65535u /* the document's own bound */
#define PAIR_BYTES    14u    /* the least that a pair takes: a key of one byte, a type, a byte */
#define TENSOR_BYTES  24u    /* the least that a tensor takes: no name, no dimensions */
#define DEFAULT_ALIGN 32u

wte__match wte__gguf_match(const wte__head *head)
{
    bool same = head->n >= MAGIC_BYTES && memcmp(head->bytes, MAGIC, MAGIC_BYTES) == 0;
    return same ? WTE__MATCH_YES : WTE__MATCH_NO;
}

static const char *path_of(const wte__gguf_reader *r)
{
    return r->f->parts[r->part].path;
}

/* Bring the file's first `end` bytes into memory, and some more, as they will be asked for next. */
static wte_status read_ahead(wte__gguf_reader *r, uint64_t end, uint64_t most)
{
    wte__part *part = &r->f->parts[r->part];
    const uint64_t step = r->loaded / 2 < READ_AHEAD ? READ_AHEAD : r->loaded / 2;
    uint64_t target = r->loaded + step < most ? r->loaded + step : most;
    if (target < end) target = end;
    char *header = wte__alloc_array(r->f->allocator, target + 1, 1);
    if (!header) return wte__no_memory(r->err, target + 1, path_of(r));
    if (r->loaded) memcpy(header, part->header, (size_t)r->loaded);
    if (part->header) wte__free(r->f->allocator, part->header, part->header_bytes + 1);
    part->header = header;
    part->header_bytes = (size_t)target;
    header[target] = '\0';
    WTE_TRY(wte__file_read_at(&part->file, r->loaded, header + r->loaded, target - r->loaded,
                              part->path, r->err));
    r->loaded = target;
    return WTE_OK;
}

wte_status wte__gguf_need(wte__gguf_reader *r, uint64_t n)
{
    const uint64_t size = r->f->parts[r->part].file.size;
    const uint64_t cap = r->f->max_header_bytes ? r->f->max_header_bytes : WTE_LIMIT_GGUF_HEADER;
    if (n <= r->loaded - r->at) return WTE_OK;
    if (n > size - r->at)
        return wte__fail(r->err, WTE_E_FORMAT, r->at,
                         "%s: truncated: %s needs %" PRIu64 " bytes from byte %" PRIu64
                         " on, but the file has %" PRIu64,
                         path_of(r), r->what, n, r->at, size);
    if (r->at + n > cap)
        return wte__fail(r->err, WTE_E_LIMIT, r->at,
                         "%s: a header of over %" PRIu64
                         " bytes, but no more are read (" WTE__RAISE_HEADER "); it is at %s",
                         path_of(r), cap, r->what);
    return read_ahead(r, r->at + n, size < cap ? size : cap);
}

const uint8_t *wte__gguf_bytes(const wte__gguf_reader *r, uint64_t at)
{
    return (const uint8_t *)r->f->parts[r->part].header + at;
}

uint64_t wte__gguf_load(const uint8_t *p, uint32_t bytes, bool big)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < bytes; i++) v = v << 8 | p[big ? i : bytes - 1 - i];
    return v;
}

wte_status wte__gguf_take_u32(wte__gguf_reader *r, uint32_t *out)
{
    *out = 0;
    WTE_TRY(wte__gguf_need(r, 4));
    *out = (uint32_t)wte__gguf_load(wte__gguf_bytes(r, r->at), 4, r->big);
    r->at += 4;
    return WTE_OK;
}

wte_status wte__gguf_take_u64(wte__gguf_reader *r, uint64_t *out)
{
    *out = 0;
    WTE_TRY(wte__gguf_need(r, 8));
    *out = wte__gguf_load(wte__gguf_bytes(r, r->at), 8, r->big);
    r->at += 8;
    return WTE_OK;
}

wte_status wte__gguf_take_text(wte__gguf_reader *r, uint64_t *at, uint64_t *bytes)
{
    WTE_TRY(wte__gguf_take_u64(r, bytes));
    WTE_TRY(wte__gguf_need(r, *bytes));
    *at = r->at;
    r->at += *bytes;
    return WTE_OK;
}

static bool is_utf8(const uint8_t *p, uint64_t left)
{
    while (left) {
        uint32_t code, n = wte__utf8_get(p, left, &code);
        if (n == 0) return false;
        p += n;
        left -= n;
    }
    return true;
}

wte_status wte__gguf_check_name(wte__gguf_reader *r, const char *kind, uint64_t at, uint64_t bytes)
{
    char shown[WTE__NAME_SHOWN];
    wte__show(shown, wte__gguf_bytes(r, at), bytes);
    snprintf(r->what, sizeof r->what, "%s '%s'", kind, shown);
    if (is_utf8(wte__gguf_bytes(r, at), bytes)) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, at, "%s: the name of %s is not UTF-8 (byte %" PRIu64 ")",
                     path_of(r), r->what, at);
}

/* Metadata ------------------------------------------------------------------------------------- */

static wte_status read_key(wte__gguf_reader *r, wte__gguf_pair *pair)
{
    uint64_t bytes = 0;
    const uint64_t start = r->at;
    WTE_TRY(wte__gguf_take_u64(r, &bytes));
    if (bytes == 0)
        return wte__fail(r->err, WTE_E_FORMAT, start, "%s: %s has an empty key (byte %" PRIu64 ")",
                         path_of(r), r->what, start);
    if (bytes > KEY_BYTES)
        return wte__fail(r->err, WTE_E_FORMAT, start,
                         "%s: %s has a key of %" PRIu64 " bytes, but at most %u are allowed (byte "
                         "%" PRIu64 ")",
                         path_of(r), r->what, bytes, KEY_BYTES, start);
    WTE_TRY(wte__gguf_need(r, bytes));
    pair->key_at = r->at;
    pair->key_bytes = (uint32_t)bytes;
    r->at += bytes;
    return wte__gguf_check_name(r, "key", pair->key_at, bytes);
}

/* Number i of n values of a type of fixed size: a truth value is one byte, 0 or 1. */
static wte_status check_values(wte__gguf_reader *r, uint32_t type, uint64_t n)
{
    const uint8_t *p = wte__gguf_bytes(r, r->at);
    for (uint64_t i = 0; type == WTE__GGUF_BOOL && i < n; i++)
        if (p[i] > 1)
            return wte__fail(r->err, WTE_E_FORMAT, r->at + i,
                             "%s: %s: a bool is 0 or 1, not %u (byte %" PRIu64 ")", path_of(r),
                             r->what, p[i], r->at + i);
    return WTE_OK;
}

static wte_status read_scalars(wte__gguf_reader *r, uint32_t type, uint64_t n)
{
    uint64_t bytes;
    if (!wte__mul_u64(n, wte__gguf_type_bytes(type), &bytes)) bytes = UINT64_MAX;
    WTE_TRY(wte__gguf_need(r, bytes));
    WTE_TRY(check_values(r, type, n));
    r->at += bytes;
    return WTE_OK;
}

static wte_status read_type(wte__gguf_reader *r, uint8_t *out)
{
    uint32_t type = 0;
    const uint64_t at = r->at;
    WTE_TRY(wte__gguf_take_u32(r, &type));
    if (type >= WTE__GGUF_N_TYPES)
        return wte__fail(r->err, WTE_E_FORMAT, at,
                         "%s: %s: value type %" PRIu32 ", but the format has 0 to %d (byte "
                         "%" PRIu64 ")",
                         path_of(r), r->what, type, WTE__GGUF_N_TYPES - 1, at);
    *out = (uint8_t)type;
    return WTE_OK;
}

static wte_status read_array(wte__gguf_reader *r, wte__gguf_pair *pair)
{
    const uint64_t start = r->at;
    WTE_TRY(read_type(r, &pair->element));
    if (pair->element == WTE__GGUF_ARRAY)
        return wte__fail(r->err, WTE_E_UNSUPPORTED, start,
                         "%s: %s is an array of arrays, which ggml refuses too (byte %" PRIu64 ")",
                         path_of(r), r->what, start);
    const uint64_t count_at = r->at;
    WTE_TRY(wte__gguf_take_u64(r, &pair->count));
    const uint64_t left = r->f->parts[r->part].file.size - r->at;
    const uint32_t least =
        pair->element == WTE__GGUF_STRING ? 8 : wte__gguf_type_bytes(pair->element);
    if (pair->count > left / least)
        return wte__fail(r->err, WTE_E_FORMAT, count_at,
                         "%s: %s: an array of %" PRIu64 " x %s, but only %" PRIu64
                         " bytes follow (byte %" PRIu64 ")",
                         path_of(r), r->what, pair->count, wte__gguf_type_name(pair->element), left,
                         count_at);
    pair->at = r->at;
    if (pair->element != WTE__GGUF_STRING) return read_scalars(r, pair->element, pair->count);
    for (uint64_t i = 0; i < pair->count; i++) {
        uint64_t at, bytes;
        WTE_TRY(wte__gguf_take_text(r, &at, &bytes));
    }
    return WTE_OK;
}

static wte_status read_pair(wte__gguf_reader *r, uint64_t number)
{
    wte__gguf_pair pair = { .count = 1 };
    snprintf(r->what, sizeof r->what, "metadata pair %" PRIu64, number);
    WTE_TRY(read_key(r, &pair));
    WTE_TRY(read_type(r, &pair.type));
    pair.at = r->at;
    if (pair.type == WTE__GGUF_ARRAY)
        WTE_TRY(read_array(r, &pair));
    else if (pair.type == WTE__GGUF_STRING)
        WTE_TRY(wte__gguf_take_text(r, &pair.at, &pair.count));
    else
        WTE_TRY(read_scalars(r, pair.type, 1));
    pair.bytes = r->at - pair.at;
    void *pairs = r->gguf->pairs;
    const bool ok = wte__grow(r->f->allocator, &pairs, &r->gguf->cap, r->gguf->n + 1, sizeof pair);
    r->gguf->pairs = pairs;
    if (!ok) return wte__no_memory(r->err, (r->gguf->n + 1) * sizeof pair, "the metadata");
    r->gguf->pairs[r->gguf->n++] = pair;
    return WTE_OK;
}

/* general.alignment, which the places of the tensors depend on. */
static wte_status read_alignment(wte__gguf_reader *r)
{
    static const char key[] = "general.alignment";
    const wte__gguf_pair *first = NULL;
    r->alignment = DEFAULT_ALIGN;
    for (size_t i = 0; i < r->gguf->n; i++) {
        const wte__gguf_pair *pair = &r->gguf->pairs[i];
        if (pair->key_bytes != sizeof key - 1 ||
            memcmp(wte__gguf_bytes(r, pair->key_at), key, sizeof key - 1) != 0)
            continue;
        if (pair->type != WTE__GGUF_U32)
            return wte__fail(r->err, WTE_E_FORMAT, pair->at,
                             "%s: key '%s' is %s, but must be u32 (byte %" PRIu64 ")", path_of(r),
                             key, wte__gguf_type_name(pair->type), pair->at);
        const uint64_t n = wte__gguf_load(wte__gguf_bytes(r, pair->at), 4, r->big);
        if (n == 0 || (n & (n - 1)) != 0)
            return wte__fail(r->err, WTE_E_FORMAT, pair->at,
                             "%s: an alignment of %" PRIu64
                             ", which is no power of two (byte %" PRIu64 ")",
                             path_of(r), n, pair->at);
        if (n > WTE_LIMIT_GGUF_ALIGNMENT)
            return wte__fail(r->err, WTE_E_LIMIT, pair->at,
                             "%s: an alignment of %" PRIu64 ", but at most %u is taken (byte "
                             "%" PRIu64 ")",
                             path_of(r), n, WTE_LIMIT_GGUF_ALIGNMENT, pair->at);
        if (first && r->alignment != n)
            return wte__fail(r->err, WTE_E_FORMAT, pair->at,
                             "%s: key '%s' comes twice, as %" PRIu64 " (byte %" PRIu64
                             ") and as %" PRIu64 " (byte %" PRIu64 ")",
                             path_of(r), key, r->alignment, first->at, n, pair->at);
        if (!first) first = pair;
        r->alignment = n;
    }
    return WTE_OK;
}

static bool same_value(const wte__gguf_reader *r, const wte__gguf_pair *a, const wte__gguf_pair *b)
{
    return a->type == b->type && a->element == b->element && a->count == b->count &&
           a->bytes == b->bytes &&
           memcmp(wte__gguf_bytes(r, a->at), wte__gguf_bytes(r, b->at), (size_t)a->bytes) == 0;
}

/* The header is complete, so that names can point into it. A key that comes again leads to its
 * first pair. */
static wte_status name_pairs(wte__gguf_reader *r)
{
    wte__gguf *g = r->gguf;
    g->path = path_of(r);
    g->header = wte__gguf_bytes(r, 0);
    if (!wte__names_reserve(&g->keys, g->n))
        return wte__no_memory(r->err, g->n * 32, "the metadata");
    for (size_t i = 0; i < g->n; i++) {
        const wte__gguf_pair *pair = &g->pairs[i];
        const wte__bytes key = { wte__gguf_bytes(r, pair->key_at), pair->key_bytes };
        uint64_t number = i;
        bool found;
        if (!wte__names_add(&g->keys, key, &number, &found))
            return wte__no_memory(r->err, g->n * 32, "the metadata");
        wte__gguf_pair *first = &g->pairs[number];
        if (!found) continue;
        if (!same_value(r, first, pair))
            first->again = WTE__GGUF_OTHER;
        else if (first->again == WTE__GGUF_ONCE)
            first->again = WTE__GGUF_SAME;
    }
    return WTE_OK;
}

/* Header --------------------------------------------------------------------------------------- */

static wte_status read_version(wte__gguf_reader *r)
{
    uint32_t version = 0;
    r->at = MAGIC_BYTES;
    WTE_TRY(wte__gguf_take_u32(r, &version));
    /* a small number whose low half is empty has its bytes the other way round */
    if (version != 0 && (version & 0xffffu) == 0) {
        r->big = true;
        r->at = MAGIC_BYTES;
        WTE_TRY(wte__gguf_take_u32(r, &version));
    }
    r->gguf->big = r->big;
    const char *order = r->big ? ", big-endian" : "";
    if (version == 3 || (version == 2 && !r->big)) return WTE_OK;
    if (version == 1)
        return wte__fail(r->err, WTE_E_UNSUPPORTED, MAGIC_BYTES,
                         "%s: GGUF version 1%s, which nothing reads any more: convert it again",
                         path_of(r), order);
    return wte__fail(r->err, version == 0 ? WTE_E_FORMAT : WTE_E_UNSUPPORTED, MAGIC_BYTES,
                     "%s: GGUF version %" PRIu32 "%s, but 2, 3 and big-endian 3 are read",
                     path_of(r), version, order);
}

/* The two counts, against each other's least size and the bytes there are. */
static wte_status read_counts(wte__gguf_reader *r)
{
    const uint64_t at = r->at;
    WTE_TRY(wte__gguf_take_u64(r, &r->n_tensors));
    WTE_TRY(wte__gguf_take_u64(r, &r->n_pairs));
    const uint64_t left = r->f->parts[r->part].file.size - r->at;
    if (r->n_tensors > left / TENSOR_BYTES)
        return wte__fail(r->err, WTE_E_FORMAT, at,
                         "%s: says it has %" PRIu64 " tensors, but only %" PRIu64 " bytes follow",
                         path_of(r), r->n_tensors, left);
    if (r->n_pairs > (left - r->n_tensors * TENSOR_BYTES) / PAIR_BYTES)
        return wte__fail(r->err, WTE_E_FORMAT, at + 8,
                         "%s: says it has %" PRIu64 " metadata pairs and %" PRIu64
                         " tensors, but only %" PRIu64 " bytes follow",
                         path_of(r), r->n_pairs, r->n_tensors, left);
    if (r->n_tensors > WTE_LIMIT_TENSORS - r->f->n_entries)
        return wte__fail(r->err, WTE_E_LIMIT, at,
                         "%s: %" PRIu64 " tensors, but at most %u are read", path_of(r),
                         r->n_tensors, WTE_LIMIT_TENSORS);
    if (r->n_pairs > WTE_LIMIT_GGUF_PAIRS)
        return wte__fail(r->err, WTE_E_LIMIT, at + 8,
                         "%s: %" PRIu64 " metadata pairs, but at most %u are read", path_of(r),
                         r->n_pairs, WTE_LIMIT_GGUF_PAIRS);
    return WTE_OK;
}

wte_status wte__gguf_read_part(wte_file *f, uint32_t part, wte__gguf *gguf, wte_error *err)
{
    wte__gguf_reader r = { .f = f, .part = part, .gguf = gguf, .what = "the header", .err = err };
    WTE_TRY(wte__gguf_need(&r, MAGIC_BYTES));
    if (memcmp(wte__gguf_bytes(&r, 0), MAGIC, MAGIC_BYTES) != 0)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: does not begin with GGUF", path_of(&r));
    WTE_TRY(read_version(&r));
    WTE_TRY(read_counts(&r));
    for (uint64_t i = 0; i < r.n_pairs; i++) WTE_TRY(read_pair(&r, i));
    WTE_TRY(read_alignment(&r));
    WTE_TRY(wte__gguf_read_tensors(&r));
    return name_pairs(&r);
}

void wte__gguf_init(wte__gguf *gguf, const wte_allocator *a)
{
    memset(gguf, 0, sizeof *gguf);
    wte__names_init(&gguf->keys, a);
    wte__arena_init(&gguf->texts, a);
}

void wte__gguf_clear(wte__gguf *gguf)
{
    wte__free(gguf->keys.allocator, gguf->pairs, gguf->cap * sizeof *gguf->pairs);
    wte__names_clear(&gguf->keys);
    wte__arena_clear(&gguf->texts);
}

void wte__gguf_free(wte_file *f)
{
    if (!f->gguf) return;
    wte__gguf_clear(f->gguf);
    wte__free(f->allocator, f->gguf, sizeof *f->gguf);
}

const wte_error *wte__gguf_no_tokens(const wte_file *f)
{
    return f->gguf && f->gguf->no_tokens.status != WTE_OK ? &f->gguf->no_tokens : NULL;
}

/* A broken vocabulary does not stop the file: it is told when the tokens are asked for. */
static wte_status read_tokens(wte_file *f, wte_error *err)
{
    wte_error *why = &f->gguf->no_tokens;
    const wte_status status = wte__gguf_tokens(f->gguf, &f->tokens, why);
    if (status == WTE_OK) return WTE_OK;
    wte__token_list_clear(&f->tokens);
    if (status == WTE_E_MEMORY && err) *err = *why;
    return status == WTE_E_MEMORY ? status : WTE_OK;
}

wte_status wte__gguf_read(wte_file *f, wte_error *err)
{
    f->gguf = wte__alloc(f->allocator, sizeof *f->gguf);
    if (!f->gguf) return wte__no_memory(err, sizeof *f->gguf, "the metadata");
    wte__gguf_init(f->gguf, f->allocator);
    WTE_TRY(wte__gguf_read_part(f, 0, f->gguf, err));
    WTE_TRY(wte__gguf_read_splits(f, err));
    f->n_listed = f->n_entries;
    WTE_TRY(read_tokens(f, err));
    return wte__gguf_publish(f, err);
}
