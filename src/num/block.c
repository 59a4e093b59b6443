/* Block-quantised types: names and sizes, decoding and encoding of whole blocks, and rows of blocks
 * as a row source. The arithmetic is in the kernels. */
#include <wte/block.h>

#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/overlap.h"
#include "num/dtype.h"
#include "num/stored.h"

/* Rows are decoded in pieces of about so many bytes of blocks, and as many are prefetched. */
#define PIECE_BYTES 512u
#define LINE_BYTES  64u
/* No piece has more numbers than this, nor is any block larger. */
#define PIECE_NUMBERS 1024u
/* How far ahead of the row that is decoded rows are prefetched, but at least one row. */
#define AHEAD_BYTES 2048u

const char *wte_block_name(wte_block_type type)
{
    switch (type) {
    case WTE_BLOCK_NONE: return "none";
#define X(NAME, name, value, elements, bytes)                                                      \
    case WTE_BLOCK_##NAME: return #name;
        WTE_BLOCK_LIST(X)
#undef X
    default: return "unknown";
    }
}

const char *wte_type_name(wte_dtype type, wte_block_type block)
{
    return block ? wte_block_name(block) : wte_dtype_name(type);
}

uint32_t wte_block_elements(wte_block_type type)
{
    switch (type) {
#define X(NAME, name, value, elements, bytes)                                                      \
    case WTE_BLOCK_##NAME: return elements;
        WTE_BLOCK_LIST(X)
#undef X
    default: return 0;
    }
}

uint32_t wte_block_bytes(wte_block_type type)
{
    switch (type) {
#define X(NAME, name, value, elements, bytes)                                                      \
    case WTE_BLOCK_##NAME: return bytes;
        WTE_BLOCK_LIST(X)
#undef X
    default: return 0;
    }
}

wte_block_type wte_block_from_name(const char *name)
{
    if (!name) return WTE_BLOCK_NONE;
#define X(NAME, text, value, elements, bytes)                                                      \
    if (wte__same_name(name, #text)) return WTE_BLOCK_##NAME;
    WTE_BLOCK_LIST(X)
#undef X
    return WTE_BLOCK_NONE;
}

typedef void (*block_kernel)(const void *src, void *dst, size_t n);

static block_kernel decoder(wte_block_type type)
{
    const wte__kernels *k = wte__kernels_get();
    switch (type) {
#define X(NAME, name, value, elements, bytes)                                                      \
    case WTE_BLOCK_##NAME: return k->name##_to_f32;
        WTE_BLOCK_LIST(X)
#undef X
    default: return NULL;
    }
}

static wte_status check_type(wte_block_type type, wte_error *err)
{
    if (wte_block_bytes(type)) return WTE_OK;
    return wte__fail(err, WTE_E_UNSUPPORTED, (uint64_t)type,
                     "no block type has the number %" PRIu32, (uint32_t)type);
}

static wte_status check_blocks(wte_block_type type, const void *src, const void *dst, size_t n,
                               wte_error *err)
{
    WTE_TRY(check_type(type, err));
    if (n && (!src || !dst))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%zu blocks of %s, but the %s is NULL",
                         n, wte_block_name(type), src ? "target" : "source");
    return WTE_OK;
}

static wte_status check_apart(wte_block_type type, const void *blocks, const float *numbers,
                              size_t n, wte_error *err)
{
    const wte__piece a = { "the blocks", blocks, n, wte_block_bytes(type), 0 };
    const wte__piece b = { "the numbers", numbers, n, wte_block_elements(type) * sizeof *numbers,
                           0 };
    return wte__no_overlap(wte_block_name(type), a, b, err);
}

wte_status wte_block_decode(wte_block_type type, const void *blocks, float *out, size_t n_blocks,
                            wte_error *err)
{
    WTE_TRY(check_blocks(type, blocks, out, n_blocks, err));
    WTE_TRY(check_apart(type, blocks, out, n_blocks, err));
    if (n_blocks) decoder(type)(blocks, out, n_blocks);
    return WTE_OK;
}

/* From here on a scale, which is a 127th, rounds to infinity in an f16: 127 * 65520. */
#define Q8_0_TOO_LARGE 8321040.0f
/* Blocks of q8_0 that are checked and then encoded, while they are in the L1 cache. */
#define ENCODE_BLOCKS 64u

/* The first value that q8_0 cannot hold, or n. A block at a time without a branch, as it is almost
 * always the last answer. */
static size_t first_unfit(const float *values, size_t n_blocks)
{
    const size_t size = wte_block_elements(WTE_BLOCK_Q8_0);
    for (size_t block = 0; block < n_blocks; block++) {
        const float *x = values + block * size;
        size_t fit = 0;
        for (size_t i = 0; i < size; i++) fit += fabsf(x[i]) < Q8_0_TOO_LARGE; /* NaN is not */
        if (fit == size) continue;
        for (size_t i = 0;; i++)
            if (!(fabsf(x[i]) < Q8_0_TOO_LARGE)) return block * size + i;
    }
    return n_blocks * size;
}

wte_status wte_block_encode(wte_block_type type, const float *values, void *blocks, size_t n_blocks,
                            wte_error *err)
{
    WTE_TRY(check_blocks(type, values, blocks, n_blocks, err));
    WTE_TRY(check_apart(type, blocks, values, n_blocks, err));
    if (type != WTE_BLOCK_Q8_0)
        return wte__fail(err, WTE_E_UNSUPPORTED, (uint64_t)type,
                         "%s is read, but not written; q8_0 is the block type that can be",
                         wte_block_name(type));
    const size_t elements = wte_block_elements(type), bytes = wte_block_bytes(type);
    const block_kernel encode = wte__kernels_get()->f32_to_q8_0;
    uint8_t *to = blocks;
    for (size_t done = 0, some; done < n_blocks; done += some) {
        some = n_blocks - done < ENCODE_BLOCKS ? n_blocks - done : ENCODE_BLOCKS;
        const float *from = values + done * elements;
        const size_t fit = first_unfit(from, some);
        encode(from, to + done * bytes, fit / elements);
        if (fit == some * elements) continue;
        return wte__fail(err, WTE_E_UNSUPPORTED, done * elements + fit,
                         "number %zu is %g, but q8_0 holds magnitudes below %g only",
                         done * elements + fit, (double)from[fit], (double)Q8_0_TOO_LARGE);
    }
    return WTE_OK;
}

static void prefetch(const uint8_t *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE_BYTES) __builtin_prefetch(from + at);
}

/* How rows of a table are decoded. */
typedef struct decoding {
    block_kernel decode;
    size_t bytes, elements; /* of a block */
    size_t row_blocks, piece;
    bool stream; /* past the caches, but not seen by others yet */
} decoding;

/* One row, while another one is fetched: no hardware prefetcher can know which comes next. */
static void decode_row(const decoding *d, const uint8_t *row, const uint8_t *next, float *out)
{
    _Alignas(64) float numbers[PIECE_NUMBERS]; /* stay in the first-level cache */
    const wte__kernels *k = wte__kernels_get();
    for (size_t done = 0, some; done < d->row_blocks; done += some) {
        float *to = out + done * d->elements;
        some = d->row_blocks - done < d->piece ? d->row_blocks - done : d->piece;
        prefetch(next + done * d->bytes, some * d->bytes);
        d->decode(row + done * d->bytes, d->stream ? numbers : to, some);
        if (d->stream) k->copy_nontemporal(to, numbers, some * d->elements * sizeof *to, false);
    }
}

static void decode_rows(const wte_block_source *s, const wte__lookup *job)
{
    decoding d = { .decode = decoder(s->type),
                   .bytes = wte_block_bytes(s->type),
                   .elements = wte_block_elements(s->type),
                   .row_blocks = (size_t)s->row_blocks,
                   .stream = job->stream };
    if (!d.elements || !d.bytes) return; /* wte_row_source_from_blocks has refused such a type */
    const size_t fits = PIECE_NUMBERS / d.elements;
    const size_t ahead = 1 + AHEAD_BYTES / (size_t)(s->row_bytes ? s->row_bytes : 1);
    d.piece = PIECE_BYTES / d.bytes < fits ? PIECE_BYTES / d.bytes : fits;
    for (size_t i = 0; i < job->n; i++) {
        const uint64_t later =
            job->rows[job->prefetch_end - i > ahead ? i + ahead : job->prefetch_end - 1];
        char *to = (char *)job->out + i * job->out_stride;
        decode_row(&d, s->data + job->rows[i] * s->row_bytes, s->data + later * s->row_bytes,
                   (float *)(void *)to);
    }
    if (d.stream) wte__kernels_get()->copy_nontemporal(NULL, NULL, 0, true);
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte_block_source *s = ctx;
    const size_t row_elements = (size_t)s->row_blocks * wte_block_elements(s->type);
    const wte__lookup job = { .rows = ids,
                              .n = n,
                              .prefetch_end = n,
                              .out = out,
                              .out_stride = row_elements * sizeof(float) };
    (void)err; /* nothing here can fail */
    decode_rows(s, &job);
    return WTE_OK;
}

bool wte__is_block_source(const wte_row_source *rows)
{
    return rows->read_rows == read_rows;
}

void wte__block_lookup(const wte_row_source *rows, const wte__lookup *job)
{
    decode_rows(rows->ctx, job);
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte_block_source *s = ctx;
    const size_t row_elements = (size_t)s->row_blocks * wte_block_elements(s->type);
    const uint8_t *row = s->data + first * s->row_bytes;
    const bool tight = s->row_bytes == s->row_blocks * wte_block_bytes(s->type);
    float *to = out;
    (void)err;
    if (tight) {
        decoder(s->type)(row, to, n * (size_t)s->row_blocks);
        return WTE_OK;
    }
    for (size_t i = 0; i < n; i++)
        decoder(s->type)(row + i * s->row_bytes, to + i * row_elements, (size_t)s->row_blocks);
    return WTE_OK;
}

/* Whether rows of `tight` bytes, row_bytes apart, fit into memory. */
static wte_status check_stride(uint64_t rows, uint64_t row_bytes, uint64_t tight, wte_error *err)
{
    uint64_t end;
    if (row_bytes < tight)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "rows are %" PRIu64 " bytes apart, but the blocks of one take %" PRIu64,
                         row_bytes, tight);
    if (rows && (!wte__mul_u64(rows - 1, row_bytes, &end) || !wte__add_u64(end, tight, &end) ||
                 end > PTRDIFF_MAX))
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%" PRIu64 " rows, %" PRIu64 " bytes apart, are more than memory can hold",
                         rows, row_bytes);
    return WTE_OK;
}

wte_status wte_row_source_from_blocks(wte_block_type type, uint64_t rows, uint64_t cols,
                                      const void *data, uint64_t row_bytes,
                                      wte_block_source *storage, wte_row_source *out,
                                      wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_row_source_from_blocks: out", err));
    WTE_TRY(check_type(type, err));
    const uint32_t elements = wte_block_elements(type);
    if (!storage || (!data && rows))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%" PRIu64 " rows of %s: data or storage is NULL", rows,
                         wte_block_name(type));
    if (cols % elements)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "rows of %" PRIu64 " numbers are not made of %s blocks of %" PRIu32, cols,
                         wte_block_name(type), elements);
    wte_row_source source = {
        .rows = rows,
        .cols = cols,
        .dtype = WTE_F32,
        .read_rows = read_rows,
        .read_block = read_block,
        .ctx = storage,
    };
    WTE_TRY(wte_check_rows(&source, err)); /* so cols is far from where the product would wrap */
    const uint64_t tight = cols / elements * wte_block_bytes(type);
    const uint64_t stride = row_bytes ? row_bytes : tight;
    WTE_TRY(check_stride(rows, stride, tight, err));
    source.packing = type;
    source.packed = data;
    source.packed_row_bytes = stride;
    *storage = (wte_block_source){
        .type = type, .data = data, .row_bytes = stride, .row_blocks = cols / elements
    };
    *out = source;
    return WTE_OK;
}
