/* Writing GGUF version 3: the metadata that a table needs, entries, padding, data in the order
 * given. Data pass through in blocks of bounded size, so a table may be larger than memory. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/gguf.h"

#define VERSION        3u
#define DEFAULT_ALIGN  32u
#define MAX_DIMS       4u
#define NAME_BYTES     63u
#define QUANTISATION   2u /* general.quantization_version of all files with blocks */
#define MARK           "\xe2\x96\x81"
#define VALUES_AT_ONCE ((uint64_t)1 << 18) /* numbers that are encoded at once */

/* One tensor as it will lie in the file. */
typedef struct item {
    const wte_tensor_out *out;
    wte_block_type block;
    uint64_t given;  /* bytes of its data as the caller has them */
    uint64_t bytes;  /* as written */
    uint64_t offset; /* in the data */
    uint32_t type;   /* the format's number */
    char shown[WTE__NAME_SHOWN];
} item;

typedef struct plan {
    const char *path;
    const wte_gguf_options *opt;
    uint32_t alignment;
    item *items;
    size_t n;
    uint8_t *head; /* all before the data */
    size_t used, cap;
    uint64_t n_pairs;
    bool failed; /* out of memory: sticks */
    wte__names keys;
    wte_error *err;
} plan;

static void put(plan *p, const void *data, size_t n)
{
    void *block = p->head;
    if (p->failed || n > SIZE_MAX - p->used || !wte__grow(NULL, &block, &p->cap, p->used + n, 1)) {
        p->failed = true;
        return;
    }
    p->head = block;
    if (n) memcpy(p->head + p->used, data, n);
    p->used += n;
}

static void put_number(plan *p, uint64_t v, uint32_t bytes)
{
    uint8_t raw[8];
    for (uint32_t i = 0; i < bytes; i++) raw[i] = (uint8_t)(v >> (8 * i));
    put(p, raw, bytes);
}

static void put_text(plan *p, const void *text, uint64_t bytes)
{
    put_number(p, bytes, 8);
    put(p, text, (size_t)bytes);
}

static bool is_utf8(const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    uint64_t left = strlen(text);
    while (left) {
        uint32_t code, n = wte__utf8_get(p, left, &code);
        if (n == 0) return false;
        p += n;
        left -= n;
    }
    return true;
}

/* Metadata ------------------------------------------------------------------------------------- */

/* The key must live until all pairs are put. */
static wte_status put_key(plan *p, const char *key, wte__gguf_type type)
{
    char shown[WTE__NAME_SHOWN];
    const wte__bytes text = { (const uint8_t *)key, strlen(key) };
    uint64_t first = p->n_pairs;
    bool found;
    wte__show(shown, key, text.size);
    if (text.size == 0 || text.size > 65535 || !is_utf8(key))
        return wte__fail(p->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: '%s' is no key: 1 to 65535 bytes of UTF-8 are", p->path, shown);
    if (!wte__names_add(&p->keys, text, &first, &found))
        return wte__no_memory(p->err, 64, "the metadata");
    if (found)
        return wte__fail(p->err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%s: key '%s' comes twice", p->path,
                         shown);
    put_text(p, key, text.size);
    put_number(p, type, 4);
    p->n_pairs++;
    return WTE_OK;
}

static wte_status put_pair_text(plan *p, const char *key, const char *value)
{
    WTE_TRY(put_key(p, key, WTE__GGUF_STRING));
    put_text(p, value, strlen(value));
    return WTE_OK;
}

static wte_status put_pair_u32(plan *p, const char *key, uint64_t value)
{
    if (value > UINT32_MAX)
        return wte__fail(p->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: key '%s' is %" PRIu64 ", but the format has 32 bits for it", p->path,
                         key, value);
    WTE_TRY(put_key(p, key, WTE__GGUF_U32));
    put_number(p, value, 4);
    return WTE_OK;
}

/* A token as the format spells it: of BERT's, the mark stands before what begins a word, and "##"
 * is taken off what continues one. */
static void put_token(plan *p, const char *text, uint64_t bytes, uint32_t kind, bool bert)
{
    const bool continues = bytes >= 2 && memcmp(text, "##", 2) == 0;
    if (!bert || kind == WTE_TAG_CONTROL) {
        put_text(p, text, bytes);
    } else if (continues) {
        put_text(p, text + 2, bytes - 2);
    } else {
        put_number(p, bytes + sizeof MARK - 1, 8);
        put(p, MARK, sizeof MARK - 1);
        put(p, text, (size_t)bytes);
    }
}

static const char *token_of(const plan *p, uint64_t id, char hole[32], uint64_t *bytes,
                            uint32_t *kind)
{
    *kind = WTE_TAG_NORMAL;
    const char *text = p->opt->token(p->opt->token_ctx, id, bytes, kind);
    if (text) return text;
    *bytes = (uint64_t)snprintf(hole, 32, "[PAD%" PRIu64 "]", id); /* as converters call them */
    *kind = WTE_TAG_UNUSED;
    return hole;
}

static wte_status put_tokens(plan *p)
{
    const wte_gguf_options *o = p->opt;
    const bool bert = strcmp(o->tokenizer, "bert") == 0;
    char hole[32];
    uint64_t bytes;
    uint32_t kind;
    WTE_TRY(put_pair_text(p, "tokenizer.ggml.model", o->tokenizer));
    WTE_TRY(put_key(p, "tokenizer.ggml.tokens", WTE__GGUF_ARRAY));
    put_number(p, WTE__GGUF_STRING, 4);
    put_number(p, o->n_tokens, 8);
    for (uint64_t i = 0; i < o->n_tokens && !p->failed; i++) {
        const char *text = token_of(p, i, hole, &bytes, &kind);
        if (kind < WTE_TAG_NORMAL || kind > WTE_TAG_BYTE)
            return wte__fail(p->err, WTE_E_ARGUMENT, i,
                             "%s: token %" PRIu64 " is of kind %" PRIu32
                             ", but they go from 1 to 6",
                             p->path, i, kind);
        put_token(p, text, bytes, kind, bert);
    }
    WTE_TRY(put_key(p, "tokenizer.ggml.token_type", WTE__GGUF_ARRAY));
    put_number(p, WTE__GGUF_I32, 4);
    put_number(p, o->n_tokens, 8);
    for (uint64_t i = 0; i < o->n_tokens && !p->failed; i++) {
        (void)token_of(p, i, hole, &bytes, &kind);
        put_number(p, kind, 4);
    }
    return WTE_OK;
}

static wte_status put_metadata(plan *p)
{
    const wte_gguf_options *o = p->opt;
    char width[128], rows[128];
    bool blocks = false;
    snprintf(width, sizeof width, "%s.embedding_length", o->architecture);
    snprintf(rows, sizeof rows, "%s.vocab_size", o->architecture);
    for (size_t i = 0; i < p->n; i++) blocks |= p->items[i].block != WTE_BLOCK_NONE;
    WTE_TRY(put_pair_text(p, "general.architecture", o->architecture));
    if (o->name) WTE_TRY(put_pair_text(p, "general.name", o->name));
    if (p->alignment != DEFAULT_ALIGN) WTE_TRY(put_pair_u32(p, "general.alignment", p->alignment));
    if (blocks) WTE_TRY(put_pair_u32(p, "general.quantization_version", QUANTISATION));
    if (o->embedding_length) WTE_TRY(put_pair_u32(p, width, o->embedding_length));
    if (o->vocab_size) WTE_TRY(put_pair_u32(p, rows, o->vocab_size));
    if (o->n_tokens) WTE_TRY(put_tokens(p));
    for (size_t i = 0; i < o->n_metadata; i++)
        WTE_TRY(put_pair_text(p, o->metadata[i][0], o->metadata[i][1]));
    return WTE_OK;
}

/* Tensors -------------------------------------------------------------------------------------- */

static wte_status measure_block(const plan *p, item *it)
{
    const wte_tensor_out *t = it->out;
    const uint64_t per = wte_block_elements(it->block);
    const uint64_t cols = t->rank ? t->shape[t->rank - 1] : 1;
    if (it->block != WTE_BLOCK_Q8_0)
        return wte__fail(p->err, WTE_E_UNSUPPORTED, (uint64_t)(it - p->items),
                         "%s: tensor '%s': %s is read, but not written; q8_0 is the block type "
                         "that can be",
                         p->path, it->shown, wte_block_name(it->block));
    if (t->dtype != WTE_F32)
        return wte__fail(p->err, WTE_E_ARGUMENT, (uint64_t)(it - p->items),
                         "%s: tensor '%s': q8_0 is made from f32, not from %s", p->path, it->shown,
                         wte_dtype_name(t->dtype));
    if (cols % per || (t->rows && t->rows->cols % per))
        return wte__fail(p->err, WTE_E_SHAPE, (uint64_t)(it - p->items),
                         "%s: tensor '%s': rows of %" PRIu64
                         " elements, but q8_0 comes in blocks of %" PRIu64,
                         p->path, it->shown, cols % per ? cols : t->rows->cols, per);
    it->bytes = it->given / sizeof(float) / per * wte_block_bytes(it->block);
    it->type = (uint32_t)it->block;
    return WTE_OK;
}

static wte_status measure(const plan *p, item *it)
{
    const wte_tensor_out *t = it->out;
    WTE_TRY(wte__tensor_out_check(t, p->path, &it->given, p->err));
    if (t->rank > MAX_DIMS)
        return wte__fail(p->err, WTE_E_UNSUPPORTED, (uint64_t)(it - p->items),
                         "%s: tensor '%s' has %" PRIu32
                         " dimensions, but the format has at most %u",
                         p->path, it->shown, t->rank, MAX_DIMS);
    if (it->block) return measure_block(p, it);
    it->bytes = it->given;
    if (wte__gguf_id_of(t->dtype, &it->type)) return WTE_OK;
    return wte__fail(p->err, WTE_E_UNSUPPORTED, (uint64_t)(it - p->items),
                     "%s: tensor '%s': the format has no number for %s: convert it first", p->path,
                     it->shown, wte_dtype_name(t->dtype));
}

static wte_status check_name(const plan *p, item *it, wte__names *names)
{
    const char *name = it->out->name;
    uint64_t number = (uint64_t)(it - p->items), first = number;
    bool found;
    if (!name)
        return wte__fail(p->err, WTE_E_ARGUMENT, number,
                         "%s: tensor number %" PRIu64 " has no name", p->path, number);
    const wte__bytes text = { (const uint8_t *)name, strlen(name) };
    wte__show(it->shown, name, text.size);
    if (text.size > NAME_BYTES || !is_utf8(name))
        return wte__fail(p->err, WTE_E_ARGUMENT, number,
                         "%s: a tensor cannot be called '%s': at most %u bytes of UTF-8 are read "
                         "back, it has %" PRIu64,
                         p->path, it->shown, NAME_BYTES, text.size);
    if (!wte__names_add(names, text, &first, &found))
        return wte__no_memory(p->err, 64, "the names of the tensors");
    if (!found) return WTE_OK;
    return wte__fail(p->err, WTE_E_ARGUMENT, number,
                     "%s: tensors number %" PRIu64 " and %" PRIu64 " are both called '%s'", p->path,
                     first, number, it->shown);
}

static uint64_t padding(uint64_t n, uint32_t alignment)
{
    return (alignment - n % alignment) % alignment;
}

static wte_status place(const plan *p, item *it, uint64_t *end)
{
    it->offset = *end;
    if (wte__add_u64(*end, it->bytes, end) && wte__add_u64(*end, padding(*end, p->alignment), end))
        return WTE_OK;
    return wte__fail(p->err, WTE_E_ARGUMENT, (uint64_t)(it - p->items),
                     "%s: the tensors have over 2^64 bytes", p->path);
}

static wte_status make_items(plan *p, const wte_tensor_out *tensors, const wte_block_type *blocks)
{
    wte__names names;
    wte_status status = WTE_OK;
    uint64_t end = 0;
    wte__names_init(&names, NULL);
    for (size_t i = 0; status == WTE_OK && i < p->n; i++) {
        item *it = &p->items[i];
        it->out = &tensors[i];
        it->block = blocks ? blocks[i] : WTE_BLOCK_NONE;
        status = check_name(p, it, &names);
        if (status == WTE_OK) status = measure(p, it);
        if (status == WTE_OK) status = place(p, it, &end);
    }
    wte__names_clear(&names);
    return status;
}

static void put_entry(plan *p, const item *it)
{
    const wte_tensor_out *t = it->out;
    put_text(p, t->name, strlen(t->name));
    put_number(p, t->rank, 4);
    for (uint32_t i = t->rank; i-- > 0;) put_number(p, t->shape[i], 8);
    put_number(p, it->type, 4);
    put_number(p, it->offset, 8);
}

static wte_status make_head(plan *p)
{
    static const uint8_t zeros[64];
    put(p, "GGUF", 4);
    put_number(p, VERSION, 4);
    put_number(p, p->n, 8);
    put_number(p, 0, 8); /* of pairs: filled in below */
    WTE_TRY(put_metadata(p));
    for (size_t i = 0; i < p->n; i++) put_entry(p, &p->items[i]);
    for (uint64_t left = padding(p->used, p->alignment); left && !p->failed;) {
        const uint64_t some = left < sizeof zeros ? left : sizeof zeros;
        put(p, zeros, (size_t)some);
        left -= some;
    }
    if (p->failed) return wte__no_memory(p->err, p->used, "the header");
    for (uint32_t i = 0; i < 8; i++) p->head[16 + i] = (uint8_t)(p->n_pairs >> (8 * i));
    if (p->used <= WTE_LIMIT_GGUF_HEADER) return WTE_OK;
    return wte__fail(p->err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "%s: a header of %zu bytes, but at most %u are read back", p->path, p->used,
                     WTE_LIMIT_GGUF_HEADER);
}

/* Data ----------------------------------------------------------------------------------------- */

/* Numbers first .. first + n - 1 of a tensor, from its data or its rows; n is whole rows then. */
static wte_status take_values(const wte_tensor_out *t, uint64_t first, uint64_t n, float *out,
                              wte_error *err)
{
    if (!t->rows) {
        memcpy(out, (const float *)t->data + first, (size_t)n * sizeof *out);
        return WTE_OK;
    }
    return wte_row_source_read_block(t->rows, first / t->rows->cols, (size_t)(n / t->rows->cols),
                                     out, err);
}

static wte_status refuse_number(const plan *p, const item *it, uint64_t at, const float *values,
                                const wte_error *why)
{
    const uint64_t cols = it->out->shape[it->out->rank - 1];
    if (why->status != WTE_E_UNSUPPORTED) {
        if (p->err) *p->err = *why;
        return (wte_status)why->status;
    }
    return wte__fail(p->err, WTE_E_UNSUPPORTED, at,
                     "%s: tensor '%s', row %" PRIu64 ", column %" PRIu64
                     ": %g cannot be written as q8_0",
                     p->path, it->shown, at / cols, at % cols, (double)values[why->where]);
}

static wte_status write_blocks(const plan *p, const item *it, wte__replace *to)
{
    const wte_tensor_out *t = it->out;
    const uint64_t total = it->given / sizeof(float), per = wte_block_elements(it->block);
    const uint64_t row = t->rows ? t->rows->cols : per;
    uint64_t most = VALUES_AT_ONCE / row * row;
    if (most == 0) most = row; /* a row that is longer is taken whole */
    if (most > total) most = total;
    if (total == 0) return WTE_OK;
    const uint64_t bytes = most / per * wte_block_bytes(it->block);
    float *values = wte__alloc_array(NULL, most, sizeof *values);
    uint8_t *blocks = wte__alloc_array(NULL, bytes, 1);
    wte_status status = values && blocks ? WTE_OK : wte__no_memory(p->err, bytes, "blocks of q8_0");
    for (uint64_t at = 0; status == WTE_OK && at < total; at += most) {
        const uint64_t n = total - at < most ? total - at : most;
        wte_error why = { 0 };
        status = take_values(t, at, n, values, p->err);
        if (status != WTE_OK) break;
        status = wte_block_encode(it->block, values, blocks, (size_t)(n / per), &why);
        if (status != WTE_OK)
            status = refuse_number(p, it, at + why.where, values, &why);
        else
            status = wte__replace_write(to, blocks, n / per * wte_block_bytes(it->block), p->err);
    }
    wte__free(NULL, values, (size_t)most * sizeof *values);
    wte__free(NULL, blocks, (size_t)bytes);
    return status;
}

static wte_status write_padding(const plan *p, uint64_t n, wte__replace *to)
{
    static const uint8_t zeros[64];
    for (uint64_t left = padding(n, p->alignment); left;) {
        const uint64_t some = left < sizeof zeros ? left : sizeof zeros;
        WTE_TRY(wte__replace_write(to, zeros, some, p->err));
        left -= some;
    }
    return WTE_OK;
}

static wte_status write_all(const plan *p)
{
    wte__replace to;
    WTE_TRY(wte__replace_begin(&to, p->path, p->err));
    wte_status status = wte__replace_write(&to, p->head, p->used, p->err);
    for (size_t i = 0; status == WTE_OK && i < p->n; i++) {
        const item *it = &p->items[i];
        status = it->block ? write_blocks(p, it, &to)
                           : wte__tensor_out_write(&to, it->out, it->bytes, p->err);
        if (status == WTE_OK) status = write_padding(p, it->bytes, &to);
    }
    if (status == WTE_OK) return wte__replace_commit(&to, p->err);
    wte__replace_abort(&to);
    return status;
}

static wte_status check_options(plan *p)
{
    const wte_gguf_options *o = p->opt;
    const uint32_t a = o->alignment ? o->alignment : DEFAULT_ALIGN;
    if (!o->architecture || !o->architecture[0] || strlen(o->architecture) > 64)
        return wte__fail(p->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: an architecture of 1 to 64 bytes is needed", p->path);
    if (a < 8 || (a & (a - 1)) || a > WTE_LIMIT_GGUF_ALIGNMENT)
        return wte__fail(p->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: an alignment of %" PRIu32 ", but it is a power of two from 8 to %u",
                         p->path, a, WTE_LIMIT_GGUF_ALIGNMENT);
    if ((o->n_tokens && (!o->token || !o->tokenizer)) || (o->n_metadata && !o->metadata))
        return wte__fail(p->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tokens need a function and a tokenizer, metadata their texts",
                         p->path);
    WTE_TRY(wte__holds(o->n_metadata, sizeof *o->metadata, "metadata", p->err));
    for (size_t i = 0; i < o->n_metadata; i++)
        if (!o->metadata[i][0] || !o->metadata[i][1])
            return wte__fail(p->err, WTE_E_ARGUMENT, i, "%s: metadata number %zu is NULL", p->path,
                             i);
    p->alignment = a;
    return WTE_OK;
}

wte_status wte_gguf_write(const char *path, const wte_tensor_out *tensors,
                          const wte_block_type *blocks, size_t n, const wte_gguf_options *options,
                          wte_error *err)
{
    wte_gguf_options opt = WTE_GGUF_OPTIONS_INIT;
    WTE_TRY(wte__need(path, "wte_gguf_write: path", err));
    WTE_TRY(wte__need_array(tensors, n, sizeof *tensors, "wte_gguf_write: tensors", err));
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    plan p = { .path = path, .opt = &opt, .n = n, .err = err };
    WTE_TRY(check_options(&p));
    p.items = wte__alloc_zeroed(NULL, (n + 1) * sizeof *p.items);
    if (!p.items) return wte__no_memory(err, n * sizeof *p.items, "the list of tensors");
    wte__names_init(&p.keys, NULL);
    wte_status status = make_items(&p, tensors, blocks);
    if (status == WTE_OK) status = make_head(&p);
    if (status == WTE_OK) status = write_all(&p);
    wte__names_clear(&p.keys);
    wte__free(NULL, p.head, p.cap);
    wte__free(NULL, p.items, (n + 1) * sizeof *p.items);
    return status;
}
