/* Files of tensors: what kind a file is, opening, listing, finding.
 *
 * A new format is one line in `formats` below, its own file, test, fuzz target and page. */
#include <errno.h>
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "format/gguf.h"
#include "format/gz.h"
#include "format/parallel.h"

static const struct {
    wte_format format;
    const char *name;
    wte__match (*match)(const wte__head *head); /* from the start of the file alone */
    wte_status (*read)(wte_file *f, wte_error *err);
} formats[] = {
    { WTE_FORMAT_SAFETENSORS, "safetensors", wte__safetensors_match, wte__safetensors_read },
    { WTE_FORMAT_GGUF, "gguf", wte__gguf_match, wte__gguf_read },
    { WTE_FORMAT_NPY, "npy", wte__npy_match, wte__npy_read },
    { WTE_FORMAT_TORCH, "PyTorch", wte__torch_match, wte__torch_read },
    { WTE_FORMAT_NPZ, "npz", wte__zip_match, wte__archive_read },
    { WTE_FORMAT_LLMC, "llm.c", wte__llmc_match, wte__llmc_read },
    { WTE_FORMAT_LLAMA2C, "llama2.c", wte__llama2c_match, wte__llama2c_read },
    /* one reader for all text tables, which tells them apart */
    { WTE_FORMAT_WORD2VEC_TEXT, "word2vec text", wte__text_table_match, wte__word_vectors_read },
    { WTE_FORMAT_GLOVE, "GloVe", wte__text_table_match, wte__word_vectors_read },
    { WTE_FORMAT_CSV, "CSV", wte__text_table_match, wte__word_vectors_read },
    { WTE_FORMAT_TSV, "TSV", wte__text_table_match, wte__word_vectors_read },
    { WTE_FORMAT_TEXT_TABLE, "text table", wte__text_table_match, wte__word_vectors_read },
    { WTE_FORMAT_WORD2VEC, "word2vec binary", wte__word2vec_match, wte__word2vec_read },
    { WTE_FORMAT_FASTTEXT, "fastText", wte__fasttext_match, wte__fasttext_read },
    /* an index is told from JSON, and which of the two it is, from the first of its shards */
    { WTE_FORMAT_SAFETENSORS_INDEX, "safetensors index", wte__shards_match, wte__shards_read },
    { WTE_FORMAT_TORCH_INDEX, "PyTorch index", wte__shards_match, wte__shards_read },
    /* and parts from their names: each alone is a checkpoint */
    { WTE_FORMAT_TORCH_PARALLEL, "PyTorch parts", wte__torch_match, wte__torch_read },
    { WTE_FORMAT_SAFETENSORS_PARALLEL, "safetensors parts", wte__safetensors_match,
      wte__safetensors_read },
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

const char *wte_format_name(wte_format format)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].format == format) return formats[i].name;
    return "unknown";
}

wte_status wte__shard_kind(const wte__file *file, const char *path, wte_format *kind,
                           wte_error *err)
{
    wte__head head;
    *kind = WTE_FORMAT_SAFETENSORS;
    WTE_TRY(wte__head_read(file, path, &head, err));
    const wte__match match = wte__safetensors_match(&head);
    if (match == WTE__MATCH_YES) return WTE_OK;
    if (wte__torch_match(&head) || wte__zip_match(&head)) {
        *kind = WTE_FORMAT_TORCH;
        return WTE_OK;
    }
    WTE_TRY(wte__foreign(&head, path, err));
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].format != WTE_FORMAT_SAFETENSORS && formats[i].match(&head) > match)
            return wte__fail(err, WTE_E_FORMAT, 0,
                             "%s: is a file of kind %s, but a shard is safetensors or PyTorch",
                             path, formats[i].name);
    return match == WTE__MATCH_NO ? wte__unknown(&head, path, err) : WTE_OK;
}

static wte_status read_as(wte_file *f, const wte__head *head, wte__match match, wte_error *err)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i].match(head) == match) {
            f->format = formats[i].format;
            return formats[i].read(f, err);
        }
    return WTE_OK;
}

/* From here on the file is what was packed in it. */
static wte_status unpack(wte_file *f, wte_error *err)
{
    wte__part *part = &f->parts[0];
    uint64_t bytes;
    WTE_TRY(wte__gz_unpack(f, part, &f->unpacked, &bytes, &f->unpacked_cap, err));
    f->packed_bytes = part->file.size;
    wte__file_close(&part->file);
    wte__file_over(&part->file, f->unpacked ? f->unpacked : (const uint8_t *)"", bytes);
    part->unpacked = true;
    return WTE_OK;
}

/* The surest reading wins: a format by its structure, a foreign thing by its magic, then a format
 * that it may be although broken. */
static wte_status read_content(wte_file *f, wte_error *err)
{
    const wte__file *file = &f->parts[0].file;
    wte__head head;
    WTE_TRY(wte__head_read(file, f->path, &head, err));
    if (wte__gz_is(&head) && wte__safetensors_match(&head) != WTE__MATCH_YES) {
        WTE_TRY(unpack(f, err));
        WTE_TRY(wte__head_read(file, f->path, &head, err));
        head.packed = true;
    }
    WTE_TRY(read_as(f, &head, WTE__MATCH_YES, err));
    if (f->format != WTE_FORMAT_UNKNOWN) return WTE_OK;
    WTE_TRY(wte__foreign(&head, f->path, err));
    WTE_TRY(read_as(f, &head, WTE__MATCH_PERHAPS, err));
    return f->format != WTE_FORMAT_UNKNOWN ? WTE_OK : wte__unknown(&head, f->path, err);
}

static wte_status create(const char *path, const wte_file_options *opt, wte_file **out,
                         wte_error *err)
{
    wte_file_options options = WTE_FILE_OPTIONS_INIT;
    *out = NULL;
    WTE_TRY(wte__options(&options, sizeof options, opt, err));
    WTE_TRY(wte__need_functions(options.allocator, options.progress, err));
    if (options.shards && !options.shards->fault)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "the watch of shards has no function");
    wte_text_options text = WTE_TEXT_OPTIONS_INIT;
    WTE_TRY(wte__options(&text, sizeof text, options.text, err));
    wte_file *f = wte__alloc_zeroed(options.allocator, sizeof *f);
    if (!f) return wte__no_memory(err, sizeof *f, path);
    if (options.allocator) {
        f->own = *options.allocator;
        f->allocator = &f->own;
    }
    f->max_header_bytes = options.max_header_bytes;
    f->max_expansion = options.max_expansion;
    f->max_cache_bytes = options.max_cache_bytes;
    f->shards = options.shards;
    f->copy = options.copy != 0;
    f->no_cache = options.no_cache != 0;
    f->progress = options.progress;
    f->text_wish = text;
    wte__names_init(&f->names, f->allocator);
    wte__token_list_init(&f->tokens, f->allocator);
    f->path = wte__strdup(f->allocator, path);
    if (!f->path || !wte__part_add(f, path)) {
        wte_file_free(f);
        return wte__no_memory(err, strlen(path) + 1, "the path");
    }
    *out = f;
    return WTE_OK;
}

/* Views need a map. Where the system refuses one, reading rows still works. */
static void map_parts(wte_file *f)
{
    for (size_t i = 0; !f->copy && i < f->n_parts; i++)
        (void)wte__file_map(&f->parts[i].file, f->parts[i].path, NULL);
}

wte_status wte_file_open(const char *path, const wte_file_options *opt, wte_file **out,
                         wte_error *err)
{
    wte_file *f;
    if (!out) return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_file_open: out is NULL");
    *out = NULL;
    if (!path) return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_file_open: path is NULL");
    WTE_TRY(create(path, opt, &f, err));
    wte_status status = wte__file_open(&f->parts[0].file, path, err);
    bool parts = false;
    if (status == WTE_OK) status = wte__parallel_read(f, &parts, err);
    if (status == WTE_OK && !parts) status = read_content(f, err);
    if (status == WTE_OK && !parts) status = wte__parallel_alone(f, err);
    if (status != WTE_OK) {
        wte_file_free(f);
        return status;
    }
    map_parts(f);
    f->progress = NULL;
    *out = f;
    return WTE_OK;
}

wte_status wte_file_open_memory(const void *data, uint64_t bytes, const char *name,
                                const wte_file_options *opt, wte_file **out, wte_error *err)
{
    wte_file *f;
    if (!out)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_file_open_memory: out is NULL");
    *out = NULL;
    if (!data && bytes)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_file_open_memory: data is NULL");
    WTE_TRY(wte__holds(bytes, 1, "wte_file_open_memory: data", err));
    WTE_TRY(create(name ? name : "memory", opt, &f, err));
    f->memory = true;
    wte__file_over(&f->parts[0].file, data, bytes);
    wte_status status = read_content(f, err);
    if (status != WTE_OK) {
        wte_file_free(f);
        return status;
    }
    f->progress = NULL;
    *out = f;
    return WTE_OK;
}

wte_status wte_file_check_unchanged(const wte_file *f, wte_error *err)
{
    WTE_TRY(wte__need(f, "wte_file_check_unchanged: the file", err));
    for (size_t i = 0; i < f->n_parts; i++)
        WTE_TRY(wte__file_check_unchanged(&f->parts[i].file, f->parts[i].path, err));
    return WTE_OK;
}

void wte_file_free(wte_file *f)
{
    if (!f) return;
    wte_allocator own = f->own;
    const wte_allocator *a = f->allocator ? &own : NULL;
    if (f->maker) f->maker->release(f);
    for (size_t i = 0; i < f->n_parts; i++) {
        wte__file_close(&f->parts[i].file);
        wte__strfree(a, f->parts[i].path);
        wte__free(a, f->parts[i].header, f->parts[i].header_bytes + 1);
    }
    wte__free(a, f->parts, f->parts_cap * sizeof *f->parts);
    wte__free(a, f->entries, f->entries_cap * sizeof *f->entries);
    wte__free(a, f->dims, f->dims_cap * sizeof *f->dims);
    wte__free(a, f->metadata, f->metadata_cap * sizeof *f->metadata);
    wte__free(a, f->storages, f->storages_cap * sizeof *f->storages);
    wte__free(a, f->text, f->text_bytes + 1);
    wte__free(a, f->unpacked, f->unpacked_cap);
    wte__names_clear(&f->names);
    wte__token_list_clear(&f->tokens);
    wte__gguf_free(f);
    wte__strfree(a, f->path);
    wte__free(a, f, sizeof *f);
}

wte_format wte_file_format(const wte_file *f)
{
    return f ? f->format : WTE_FORMAT_UNKNOWN;
}

uint64_t wte_file_n_tensors(const wte_file *f)
{
    return f ? f->n_listed : 0;
}

uint64_t wte_file_n_unlisted_tensors(const wte_file *f)
{
    return f ? f->n_entries - f->n_listed : 0;
}

/* The distance in elements between neighbours of each dimension. A tensor of no element may have
 * dimensions whose product overflows; its strides mean nothing. */
void wte__entry_strides(const wte__tensor_entry *e, uint64_t *stride)
{
    if (e->rank == 0) return; /* there may be no dims at all */
    const uint64_t *shape = e->file->dims + e->shape_at;
    const bool column = (e->flags & WTE__COLUMN_MAJOR) != 0;
    uint64_t step = 1;
    if (e->flags & WTE__STRIDED) {
        memcpy(stride, shape + e->rank + 1, e->rank * sizeof *stride);
        return;
    }
    for (uint32_t i = 0; i < e->rank; i++) {
        const uint32_t k = column ? i : e->rank - 1 - i;
        stride[k] = step;
        step *= shape[k];
    }
}

static void describe(const wte_file *f, const wte__tensor_entry *e, wte_tensor *out)
{
    memset(out, 0, sizeof *out);
    out->name = e->name;
    out->name_bytes = e->name_bytes;
    out->dtype = (wte_dtype)e->dtype;
    out->rank = e->rank;
    if (e->rank) memcpy(out->shape, f->dims + e->shape_at, e->rank * sizeof out->shape[0]);
    out->bytes = e->bytes;
    out->offset = e->offset;
    out->shard = e->part;
    out->column_major = (e->flags & WTE__COLUMN_MAJOR) != 0;
    out->big_endian = (e->flags & WTE__BIG_ENDIAN) != 0;
    out->block = (wte_block_type)e->block;
    out->foreign_name = wte__entry_foreign_name(e);
    if (!out->foreign_name) out->foreign_type = wte__gguf_foreign_type(e);
    out->derived = (e->flags & WTE__MADE) != 0;
    out->strided = (e->flags & WTE__STRIDED) != 0;
    out->decompressed = f->parts[e->part].unpacked;
    out->storage = e->flags & WTE__HAS_STORAGE ? f->dims[e->shape_at + e->rank] : WTE_NO_INDEX;
    wte__entry_strides(e, out->stride);
}

/* E_RANGE unless i < n. */
static wte_status check_number(const wte_file *f, uint64_t i, uint64_t n, wte_error *err)
{
    if (i < n) return WTE_OK;
    return wte__fail(err, WTE_E_RANGE, i, "%s: tensor number %" PRIu64 ", but it has %" PRIu64,
                     f->path, i, n);
}

wte_status wte_file_tensor(const wte_file *f, uint64_t i, wte_tensor *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_file_tensor: out", err));
    WTE_TRY(wte__need(f, "wte_file_tensor: the file", err));
    WTE_TRY(check_number(f, i, f->n_listed, err));
    describe(f, &f->entries[i], out);
    return WTE_OK;
}

wte_status wte_file_unlisted_tensor(const wte_file *f, uint64_t i, wte_tensor *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_file_unlisted_tensor: out", err));
    WTE_TRY(wte__need(f, "wte_file_unlisted_tensor: the file", err));
    WTE_TRY(check_number(f, i, wte_file_n_unlisted_tensors(f), err));
    describe(f, &f->entries[f->n_listed + i], out);
    return WTE_OK;
}

wte_status wte_file_find(const wte_file *f, const char *name, uint64_t name_bytes, uint64_t *i,
                         wte_error *err)
{
    const wte__bytes text = { (const uint8_t *)name, name_bytes };
    WTE_TRY(wte__need(i, "wte_file_find: i", err));
    *i = 0;
    WTE_TRY(wte__need(f, "wte_file_find: the file", err));
    WTE_TRY(wte__need_array(name, name_bytes, 1, "wte_file_find: name", err));
    if (wte__names_find(&f->names, text, i)) return WTE_OK;
    if (!err) return WTE_E_NOT_FOUND; /* near names are looked for among all: a message's worth */
    char shown[WTE__NAME_SHOWN], nearest[WTE__NEAREST_TEXT];
    return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s: has no tensor '%s'%s", f->path,
                     wte__show(shown, name, name_bytes),
                     wte__nearest(f, name, name_bytes, nearest));
}

wte_status wte_file_row_source(const wte_file *f, uint64_t i, wte_row_source *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_file_row_source: out", err));
    WTE_TRY(wte__need(f, "wte_file_row_source: the file", err));
    WTE_TRY(check_number(f, i, f->n_listed, err));
    return wte__entry_rows(&f->entries[i], out, err);
}

wte_status wte_file_row_offset(const wte_file *f, uint64_t i, uint64_t row, uint64_t *offset,
                               uint64_t *bytes, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte_row_source rows;
    if (bytes) *bytes = 0;
    WTE_TRY(wte__need_out(offset, sizeof *offset, "wte_file_row_offset: offset", err));
    WTE_TRY(wte__need(bytes, "wte_file_row_offset: bytes", err));
    WTE_TRY(wte_file_row_source(f, i, &rows, err));
    const wte__tensor_entry *e = &f->entries[i];
    if (row >= rows.rows)
        return wte__fail(err, WTE_E_RANGE, row,
                         "%s: row %" PRIu64 ", but tensor '%s' has %" PRIu64 " rows", f->path, row,
                         wte__show(shown, e->name, e->name_bytes), rows.rows);
    return wte__entry_place(e, &rows, row, offset, bytes, err);
}

uint32_t wte_file_row_shard(const wte_file *f, uint64_t i, uint64_t row)
{
    wte_row_source rows;
    if (!f || i >= f->n_listed) return 0;
    const wte__tensor_entry *e = &f->entries[i];
    const bool spread = (e->flags & WTE__MADE) && f->maker->part;
    if (!spread || wte__entry_rows(e, &rows, NULL) != WTE_OK || row >= rows.rows) return e->part;
    return f->maker->part(e, row);
}

wte_status wte_file_read(const wte_file *f, uint64_t i, uint64_t at, void *out, uint64_t n,
                         wte_error *err)
{
    WTE_TRY(wte__need(f, "wte_file_read: the file", err));
    if (n) WTE_TRY(wte__need(out, "wte_file_read: out", err));
    WTE_TRY(check_number(f, i, f->n_listed, err));
    const wte__tensor_entry *e = &f->entries[i];
    const wte__part *part = &f->parts[e->part];
    char shown[WTE__NAME_SHOWN];
    if (at > e->bytes || n > e->bytes - at)
        return wte__fail(err, WTE_E_RANGE, at,
                         "%s: tensor '%s' has %" PRIu64 " bytes; %" PRIu64 " from byte %" PRIu64
                         " on are not all there",
                         part->path, wte__show(shown, e->name, e->name_bytes), e->bytes, n, at);
    if ((e->flags & WTE__MADE) && f->maker->read) return f->maker->read(e, at, out, n, err);
    return wte__file_read_at(&part->file, e->offset + at, out, n, part->path, err);
}

wte_status wte_file_tokens(const wte_file *f, const wte_token_list **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_file_tokens: out", err));
    *out = NULL;
    WTE_TRY(wte__need(f, "wte_file_tokens: the file", err));
    *out = f->tokens.n ? &f->tokens : NULL;
    if (f->tokens.n) return WTE_OK;
    const wte_error *why = wte__gguf_no_tokens(f);
    if (why && err) *err = *why;
    if (why) return (wte_status)why->status;
    return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s: lists no tokens", f->path);
}

uint32_t wte_file_n_shards(const wte_file *f)
{
    return f ? (uint32_t)f->n_parts : 0;
}

uint32_t wte_file_shard_of(const wte_file *f, uint32_t part)
{
    return f && part < f->n_parts ? f->parts[part].of : part;
}

const char *wte_file_shard_path(const wte_file *f, uint32_t part)
{
    return f && part < f->n_parts ? f->parts[part].path : NULL;
}

uint64_t wte_file_shard_bytes(const wte_file *f, uint32_t part)
{
    return f && part < f->n_parts ? f->parts[part].file.size : 0;
}

const char *wte_file_metadata(const wte_file *f, uint64_t i, const char **value)
{
    const bool there = f && i < f->n_metadata;
    if (value) *value = there ? f->metadata[i].value : NULL;
    return there ? f->metadata[i].key : NULL;
}
