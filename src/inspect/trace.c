/* One lookup, step by step: id, row, bytes, vector, and two proofs that nothing was computed.
 *
 * The first proof reads the row's bytes a second time by another road (the byte offset in the file)
 * and compares them with what the lookup gave. The second multiplies a one-hot vector by the whole
 * table in double, where 0 * x adds nothing and 1 * x is exact, and compares values. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <wte/inspect.h>
#include <wte/lookup.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "inspect/row_scan.h"
#include "model/model.h"

/* The handle: the public facts, and what is needed to release them. All arrays follow in one block.
 */
typedef struct trace_box {
    wte_trace t; /* first: a wte_trace * is a trace_box * */
    const wte_allocator *allocator;
    size_t block_bytes;
    double *f64, *scaled; /* the arrays of t, to write to */
    float *f32;
    uint8_t *bytes;
    uint8_t *again; /* n_bytes: the row read by its byte offset */
    char *text;     /* the token's */
} trace_box;

const char *wte_ordinal(uint64_t n, char *buf, size_t cap)
{
    const char *end = "th";
    if (!buf) return "";
    const bool teens = n / 10 % 10 == 1;
    if (!teens && n % 10 == 1) end = "st";
    if (!teens && n % 10 == 2) end = "nd";
    if (!teens && n % 10 == 3) end = "rd";
    snprintf(buf, cap, "%" PRIu64 "%s", n, end);
    return buf;
}

static size_t rounded_up(size_t n)
{
    return (n + 15) / 16 * 16;
}

/* The handle with room for a row (as stored twice, f32, f64 and scaled) and the token's text. */
static wte_status box_create(const wte_row_source *rows, uint64_t text_bytes,
                             const wte_allocator *a, trace_box **out, wte_error *err)
{
    const uint64_t per_element = 2 * sizeof(double) + sizeof(float) + 2 * sizeof(double);
    uint64_t bytes;
    *out = NULL;
    if (!wte__mul_u64(rows->cols, per_element, &bytes) || bytes > SIZE_MAX / 4 ||
        text_bytes > SIZE_MAX / 4)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "a row of %" PRIu64 " numbers is too long",
                         rows->cols);
    const size_t dim = (size_t)rows->cols, size = wte_dtype_bytes(rows->dtype);
    const size_t head = rounded_up(sizeof(trace_box)), doubles = rounded_up(dim * sizeof(double));
    const size_t floats = rounded_up(dim * sizeof(float)), stored = rounded_up(dim * size);
    const size_t total = head + 2 * doubles + floats + 2 * stored + (size_t)text_bytes;
    trace_box *box = wte__alloc_zeroed(a, total);
    if (!box) return wte__no_memory(err, total, "a trace");
    box->f64 = (double *)((uint8_t *)box + head);
    box->scaled = (double *)((uint8_t *)box->f64 + doubles);
    box->f32 = (float *)((uint8_t *)box->scaled + doubles);
    box->bytes = (uint8_t *)box->f32 + floats;
    box->again = box->bytes + stored;
    box->text = (char *)box->again + stored;
    box->t.f64 = box->f64;
    box->t.f32 = box->f32;
    box->t.bytes = box->bytes;
    box->t.n_bytes = dim * size;
    box->allocator = a;
    box->block_bytes = total;
    *out = box;
    return WTE_OK;
}

void wte_trace_free(wte_trace *t)
{
    if (!t) return;
    trace_box *box = (trace_box *)t;
    wte__free(box->allocator, box, box->block_bytes);
}

/* What is traced: the rows that ids look into, and the rows that are stored. They differ in a model
 * that maps ids to rows. */
typedef struct subject {
    const wte_row_source *source, *stored;
    uint64_t id, row; /* of source; of stored */
} subject;

static wte_status look_up(trace_box *box, const wte_row_source *rows, uint64_t number,
                          wte_error *err)
{
    wte_trace *t = &box->t;
    const int64_t id = (int64_t)number;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.allocator = box->allocator;
    WTE_TRY(wte_lookup(rows, ids, &opt, box->bytes, 0, err));
    const size_t dim = (size_t)rows->cols;
    WTE_TRY(wte_convert(rows->dtype, t->bytes, WTE_F64, box->f64, dim, NULL, err));
    WTE_TRY(wte_convert(rows->dtype, t->bytes, WTE_F32, box->f32, dim, NULL, err));
    t->f32_exact = wte_dtype_fits(rows->dtype, WTE_F32);
    double sum = 0;
    for (size_t c = 0; c < dim; c++) {
        const double x = t->f64[c];
        sum += x * x;
        if (x == 0) t->zeros++;
        if (x == 0 && signbit(x)) t->negative_zeros++;
        if (!isfinite(x)) t->nonfinite++;
    }
    t->norm = sqrt(sum);
    return WTE_OK;
}

static void fill_row(wte_trace *t, const wte_row_source *rows, uint64_t id, uint64_t row)
{
    char nth[32];
    t->id = id;
    t->row = row;
    t->rows = rows->rows;
    t->dim = rows->cols;
    t->dtype = rows->dtype;
    snprintf(t->ordinal, sizeof t->ordinal, "the %s of %" PRIu64 " row%s",
             wte_ordinal(row + 1, nth, sizeof nth), rows->rows, rows->rows == 1 ? "" : "s");
    t->tensor = "";
    t->file = "";
    t->begin = t->end = WTE_NO_INDEX;
    t->pieces = 1;
    t->factor = t->factor_exact = 1;
    t->factor_rule = "";
}

/* Compare the row as looked up with the bytes in box->again, which came by the road `how`. */
static void judge_bytes(trace_box *box, const char *how)
{
    wte_trace *t = &box->t;
    const uint8_t *looked_up = t->bytes;
    uint64_t at = 0;
    while (at < t->n_bytes && looked_up[at] == box->again[at]) at++;
    t->same_bytes = at == t->n_bytes ? WTE_PROOF_HOLDS : WTE_PROOF_FAILS;
    if (at == t->n_bytes)
        snprintf(t->same_bytes_why, sizeof t->same_bytes_why,
                 "all %" PRIu64 " bytes equal those %s", t->n_bytes, how);
    else
        snprintf(t->same_bytes_why, sizeof t->same_bytes_why,
                 "byte %" PRIu64 " is %02x, but %02x %s", at, looked_up[at], box->again[at], how);
}

/* Without a file: through the view, or one by one through the source. */
static wte_status prove_bytes_in_memory(trace_box *box, const wte_row_source *rows, wte_error *err)
{
    const size_t n = (size_t)box->t.n_bytes;
    if (rows->data)
        memcpy(box->again, (const uint8_t *)rows->data + box->t.row * rows->row_bytes, n);
    else
        WTE_TRY(wte_row_source_read(rows, box->t.row, box->again, err));
    judge_bytes(box, rows->data ? "in memory at row x bytes-per-row" : "that the source gives");
    return WTE_OK;
}

/* One-hot product ------------------------------------------------------------------------------ */

typedef struct product {
    uint64_t hot;
    size_t dim;
    bool wide;           /* values are f64, not f32; sums are f64 in any case */
    double *sums;        /* lanes x dim */
    uint64_t *first_bad; /* of each lane: row x dim + column of its first NaN or infinity */
} product;

static double value_at(const product *p, const void *values, size_t i)
{
    return p->wide ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

static uint64_t first_nonfinite(const product *p, const void *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(value_at(p, values, i))) return i;
    return WTE_NO_INDEX;
}

static void add_f32(double *sum, double weight, const float *x, size_t n)
{
    for (size_t c = 0; c < n; c++) sum[c] += weight * (double)x[c];
}
static void add_f64(double *sum, double weight, const double *x, size_t n)
{
    for (size_t c = 0; c < n; c++) sum[c] += weight * x[c];
}

static void multiply_block(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                           const void *values)
{
    product *p = ctx;
    (void)raw;
    if (p->first_bad[lane] != WTE_NO_INDEX) return;
    double *sum = p->sums + lane * p->dim;
    bool finite = true;
    for (size_t r = 0; r < n; r++) {
        const double weight = first + r == p->hot ? 1.0 : 0.0;
        if (p->wide)
            add_f64(sum, weight, (const double *)values + r * p->dim, p->dim);
        else
            add_f32(sum, weight, (const float *)values + r * p->dim, p->dim);
    }
    /* 0 * inf and 0 * NaN are NaN, and stay in the sum */
    for (size_t c = 0; c < p->dim; c++) finite = finite && isfinite(sum[c]);
    if (!finite) {
        const uint64_t at = first_nonfinite(p, values, n * p->dim);
        p->first_bad[lane] = at == WTE_NO_INDEX ? WTE_NO_INDEX : first * p->dim + at;
    }
}

static void judge_product(wte_trace *t, const product *p, uint32_t lanes)
{
    uint64_t bad = WTE_NO_INDEX;
    for (uint32_t i = 0; i < lanes; i++)
        if (p->first_bad[i] < bad) bad = p->first_bad[i];
    if (bad != WTE_NO_INDEX) {
        snprintf(t->one_hot_why, sizeof t->one_hot_why,
                 "not run: row %" PRIu64 ", column %" PRIu64
                 " is NaN or infinite, and 0 x NaN = 0 x inf = NaN would spoil the sum",
                 bad / p->dim, bad % p->dim);
        return;
    }
    uint64_t wrong = 0, at = 0;
    for (size_t c = 0; c < p->dim; c++) {
        double sum = p->sums[c];
        /* All but one of the lanes hold zeros: no order can change the sum. */
        for (uint32_t i = 1; i < lanes; i++) sum += p->sums[i * p->dim + c];
        if (sum != t->f64[c] && wrong++ == 0) at = c;
        if (sum == 0 && t->f64[c] == 0 && signbit(t->f64[c])) t->one_hot_sign_lost++;
    }
    t->one_hot = wrong ? WTE_PROOF_FAILS : WTE_PROOF_HOLDS;
    if (wrong)
        snprintf(t->one_hot_why, sizeof t->one_hot_why,
                 "%" PRIu64 " of %zu values differ, the first in column %" PRIu64, wrong, p->dim,
                 at);
    else if (t->one_hot_sign_lost)
        snprintf(t->one_hot_why, sizeof t->one_hot_why,
                 "all %zu values are equal; %" PRIu64
                 " of them -0 in the row and +0 in the product, since 0 + -0 = +0",
                 p->dim, t->one_hot_sign_lost);
    else
        snprintf(t->one_hot_why, sizeof t->one_hot_why, "all %zu values are equal", p->dim);
}

static wte_status prove_one_hot(wte_trace *t, const wte_row_source *rows,
                                const wte_trace_options *opt, wte_error *err)
{
    const uint64_t shape[2] = { rows->rows, rows->cols };
    uint64_t bytes;
    const bool fits = wte__shape_bytes(shape, 2, wte_dtype_bytes(rows->dtype), &bytes);
    const uint64_t most = opt->max_one_hot_bytes ? opt->max_one_hot_bytes : WTE_LIMIT_ONE_HOT;
    if (!fits || bytes > most) {
        snprintf(t->one_hot_why, sizeof t->one_hot_why,
                 "not run: the table has %" PRIu64 " bytes, more than %" PRIu64,
                 fits ? bytes : UINT64_MAX, most);
        return WTE_OK;
    }
    if (rows->cols == 0) {
        snprintf(t->one_hot_why, sizeof t->one_hot_why, "not run: the table has no columns");
        return WTE_OK;
    }
    const uint32_t lanes = wte_pool_n_threads(opt->pool);
    const size_t dim = (size_t)rows->cols;
    wte_status status;
    product p = { .hot = t->row, .dim = dim, .wide = !wte_dtype_fits(rows->dtype, WTE_F32) };
    const size_t sums = lanes * dim * sizeof *p.sums, bads = lanes * sizeof *p.first_bad;
    p.sums = wte__alloc_zeroed(opt->allocator, sums);
    p.first_bad = wte__alloc(opt->allocator, bads);
    if (!p.sums || !p.first_bad) {
        status = wte__no_memory(err, sums + bads, "a one-hot product");
        goto done;
    }
    memset(p.first_bad, 0xff, bads);
    const wte__row_scan pass = { rows,
                                 p.wide ? WTE_F64 : WTE_F32,
                                 multiply_block,
                                 NULL,
                                 &p,
                                 opt->pool,
                                 opt->progress,
                                 opt->allocator };
    status = wte__row_scan_run(&pass, err);
    if (status == WTE_OK) judge_product(t, &p, lanes);
done:
    wte__free(opt->allocator, p.sums, sums);
    wte__free(opt->allocator, p.first_bad, bads);
    return status;
}

/* Rows ----------------------------------------------------------------------------------------- */

/* The checks and steps that rows and models share; fills all but tensor, file, factor and token. */
static wte_status trace_row(const subject *of, uint64_t text_bytes, const wte_trace_options *opt,
                            trace_box **out, wte_error *err)
{
    const wte_row_source *rows = of->stored;
    *out = NULL;
    WTE_TRY(wte_check_rows(rows, err));
    if (!wte_dtype_converts(rows->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "a table of type %s cannot be traced: its numbers cannot be widened",
                         wte_dtype_name(rows->dtype));
    if (of->row >= rows->rows)
        return wte__fail(err, WTE_E_RANGE, of->id,
                         "token id %" PRIu64 ", but the table has %" PRIu64 " rows", of->id,
                         rows->rows);
    WTE_TRY(box_create(rows, text_bytes, opt->allocator, out, err));
    trace_box *box = *out;
    fill_row(&box->t, rows, of->id, of->row);
    wte_status status = look_up(box, of->source, of->id, err);
    if (status == WTE_OK) status = prove_one_hot(&box->t, rows, opt, err);
    if (status != WTE_OK) {
        wte_trace_free(&box->t);
        *out = NULL;
    }
    return status;
}

wte_status wte_trace_row(const wte_row_source *rows, uint64_t id, const wte_trace_options *options,
                         wte_trace **out, wte_error *err)
{
    wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
    trace_box *box;
    WTE_TRY(wte__need(out, "wte_trace_row: out", err));
    *out = NULL;
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    const subject of = { rows, rows, id, id };
    WTE_TRY(trace_row(&of, 0, &opt, &box, err));
    const wte_status status = prove_bytes_in_memory(box, rows, err);
    if (status == WTE_OK)
        *out = &box->t;
    else
        wte_trace_free(&box->t);
    return status;
}

/* Models --------------------------------------------------------------------------------------- */

static void reverse_elements(uint8_t *bytes, uint64_t n, size_t size)
{
    for (uint64_t at = 0; at < n; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            const uint8_t keep = bytes[at + i];
            bytes[at + i] = bytes[at + size - 1 - i];
            bytes[at + size - 1 - i] = keep;
        }
}

/* Blocks of a big-endian file (q8_0 alone): the two bytes of each scale are the other way round. */
static void swap_scales(uint8_t *blocks, uint64_t n, uint32_t bytes)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t first = blocks[i * bytes];
        blocks[i * bytes] = blocks[i * bytes + 1];
        blocks[i * bytes + 1] = first;
    }
}

/* Of a row of blocks: they are what is shown, and what they decode to is compared. */
static wte_status prove_blocks_in_file(trace_box *box, const wte_file *file,
                                       const wte_model_table *table, wte_error *err)
{
    wte_trace *t = &box->t;
    wte_tensor tensor;
    WTE_TRY(wte_file_tensor(file, table->tensor, &tensor, err));
    t->file = wte_file_shard_path(file, table->shard);
    t->block = table->block;
    t->n_bytes = table->row_bytes; /* less than the row takes as f32: there is room */
    t->begin = table->offset + t->row * table->row_bytes;
    t->end = t->begin + t->n_bytes;
    WTE_TRY(
        wte_file_read(file, table->tensor, t->begin - tensor.offset, box->bytes, t->n_bytes, err));
    const uint64_t blocks = t->dim / wte_block_elements(t->block);
    float *again = (float *)(void *)box->again; /* 16-aligned */
    if (tensor.big_endian) swap_scales(box->bytes, blocks, wte_block_bytes(t->block));
    WTE_TRY(wte_block_decode(t->block, box->bytes, again, (size_t)blocks, err));
    uint64_t at = 0;
    while (at < t->dim && memcmp(&again[at], &t->f32[at], sizeof *again) == 0) at++;
    t->same_bytes = at == t->dim ? WTE_PROOF_HOLDS : WTE_PROOF_FAILS;
    char shown[WTE__NAME_SHOWN];
    const char *base = wte__path_base(t->file);
    wte__show(shown, base, strlen(base));
    if (at == t->dim)
        snprintf(t->same_bytes_why, sizeof t->same_bytes_why,
                 "all %" PRIu64 " values equal those of the %" PRIu64 " %s block%s read at byte "
                 "%" PRIu64 " of %s",
                 t->dim, blocks, wte_block_name(t->block), blocks == 1 ? "" : "s", t->begin, shown);
    else
        snprintf(t->same_bytes_why, sizeof t->same_bytes_why,
                 "value %" PRIu64 " is %.9g, but %.9g in the blocks read at byte %" PRIu64, at,
                 (double)t->f32[at], (double)again[at], t->begin);
    return WTE_OK;
}

/* A row that is made of what is stored: say of which bytes, make it again by the way that passes
 * over the table take, and compare. */
static wte_status prove_bytes_made(trace_box *box, const wte_file *file,
                                   const wte_model_table *table, wte_error *err)
{
    wte_trace *t = &box->t;
    wte_row_source rows;
    uint64_t bytes;
    char shown[WTE__NAME_SHOWN], how[WTE__NAME_SHOWN + 64];
    t->file = wte_file_shard_path(file, wte_file_row_shard(file, table->tensor, t->row));
    const char *base = wte__path_base(t->file);
    if (table->scheme)
        rows = table->source;
    else
        WTE_TRY(wte_file_row_source(file, table->tensor, &rows, err));
    WTE_TRY(wte_row_source_read_block(&rows, t->row, 1, box->again, err));
    wte__show(shown, base, strlen(base));
    wte_error why;
    const wte_status placed =
        table->scheme ? WTE_E_UNSUPPORTED
                      : wte_file_row_offset(file, table->tensor, t->row, &t->begin, &bytes, &why);
    if (placed != WTE_OK && placed != WTE_E_UNSUPPORTED) {
        if (err) *err = why;
        return placed;
    }
    if (placed == WTE_OK) {
        t->end = t->begin + bytes;
        snprintf(how, sizeof how, "made again of bytes %" PRIu64 "..%" PRIu64 " of %s", t->begin,
                 t->end - 1, shown);
    } else {
        t->begin = t->end = WTE_NO_INDEX;
        if (wte_file_format(file) == WTE_FORMAT_TORCH_PARALLEL ||
            wte_file_format(file) == WTE_FORMAT_SAFETENSORS_PARALLEL)
            snprintf(how, sizeof how, "put together again of a piece in each part");
        else
            snprintf(how, sizeof how, "made again of several places of %s", shown);
    }
    judge_bytes(box, how);
    return WTE_OK;
}

/* Say where the row lies in the file, read it from there, and compare. */
static wte_status prove_bytes_in_file(trace_box *box, const wte_file *file,
                                      const wte_model_table *table, wte_error *err)
{
    wte_trace *t = &box->t;
    wte_tensor tensor;
    WTE_TRY(wte_file_tensor(file, table->tensor, &tensor, err));
    const uint64_t size = wte_dtype_bytes(table->source.dtype);
    t->file = wte_file_shard_path(file, table->shard);
    t->scheme = table->scheme;
    if (tensor.derived || table->scheme) return prove_bytes_made(box, file, table, err);
    /* Rows whose elements lie apart are dim pieces. */
    const wte__steps steps = wte__steps_of(&tensor, table->transposed);
    const bool whole = steps.col == 1 || t->dim == 0;
    const uint64_t start = t->row * steps.row * size;
    t->pieces = whole ? 1 : t->dim;
    t->stride = whole ? 0 : steps.col * size;
    const uint64_t piece = whole ? t->n_bytes : size;
    for (uint64_t i = 0; i < t->pieces; i++)
        WTE_TRY(wte_file_read(file, table->tensor, start + i * t->stride, box->again + i * piece,
                              piece, err));
    if (tensor.big_endian) reverse_elements(box->again, t->n_bytes, (size_t)size);
    t->begin = tensor.offset + start;
    t->end = t->begin + (t->pieces - 1) * t->stride + piece;
    char shown[WTE__NAME_SHOWN], how[WTE__NAME_SHOWN + 48];
    const char *base = wte__path_base(t->file);
    snprintf(how, sizeof how, "read at byte %" PRIu64 " of %s", t->begin,
             wte__show(shown, base, strlen(base)));
    judge_bytes(box, how);
    return WTE_OK;
}

/* factor * row as the model computes it: rounded to the stored type once more. */
static wte_status fill_factor(trace_box *box, const wte_model_config *config, wte_error *err)
{
    wte_trace *t = &box->t;
    if (!config || config->factor == 0 || config->factor == 1) return WTE_OK;
    t->factor = config->factor;
    t->factor_exact = config->factor_exact;
    t->factor_rule = config->factor_rule;
    t->scaled = box->scaled;
    for (uint64_t c = 0; c < t->dim; c++) box->scaled[c] = t->f64[c] * t->factor;
    if (t->dtype != WTE_F32 && t->dtype != WTE_F16 && t->dtype != WTE_BF16) return WTE_OK;
    /* box->again has served its purpose: it lends the room for the rounded row */
    const size_t dim = (size_t)t->dim;
    WTE_TRY(wte_convert(WTE_F64, box->scaled, t->dtype, box->again, dim, NULL, err));
    return wte_convert(t->dtype, box->again, WTE_F64, box->scaled, dim, NULL, err);
}

/* How many bytes the token's text takes; 0 when it has none. */
static uint64_t token_bytes(const wte_vocab *vocab, uint64_t id)
{
    if (!vocab || wte_vocab_kind(vocab, id) == WTE_TOKEN_NONE) return 0;
    return wte_vocab_text(vocab, id, NULL, 0);
}

static void fill_token(trace_box *box, const wte_vocab *vocab, uint64_t token, uint64_t bytes)
{
    if (!vocab) return;
    box->t.token_kind = wte_vocab_kind(vocab, token);
    if (box->t.token_kind == WTE_TOKEN_NONE) return;
    wte_vocab_text(vocab, token, box->text, bytes);
    box->t.token = box->text;
    box->t.token_bytes = bytes;
}

wte_status wte_model_trace(const wte_model *m, uint64_t id, const wte_trace_options *options,
                           wte_trace **out, wte_error *err)
{
    wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
    const wte_model_table *table;
    uint64_t row;
    trace_box *box;
    WTE_TRY(wte__need(out, "wte_model_trace: out", err));
    *out = NULL;
    WTE_TRY(wte__need(m, "wte_model_trace: the model", err));
    const wte_vocab *vocab = wte_model_vocab(m);
    const wte_file *file = wte_model_file(m);
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(wte_model_input(m, &table, err));
    WTE_TRY(wte_model_row(m, id, &row, err));
    const uint64_t token = wte_model_token(m, id), text = token_bytes(vocab, token);
    wte_row_source stored = table->source;
    if (table->mapped) WTE_TRY(wte_file_row_source(file, table->tensor, &stored, err));
    const subject of = { &table->source, &stored, id, row };
    char shown[WTE__NAME_SHOWN];
    wte_status status = trace_row(&of, text, &opt, &box, err);
    if (status == WTE_E_UNSUPPORTED)
        wte__error_prefix(err, wte__show_path(shown, wte_model_path(m)));
    if (status != WTE_OK) return status;
    fill_token(box, vocab, token, text);
    box->t.tensor = table->name;
    box->t.mapped = table->mapped;
    box->t.transposed = table->transposed;
    const bool in_file = file && table->tensor != WTE_NO_INDEX;
    status = !in_file       ? prove_bytes_in_memory(box, &table->source, err)
             : table->block ? prove_blocks_in_file(box, file, table, err)
                            : prove_bytes_in_file(box, file, table, err);
    if (status == WTE_OK) status = fill_factor(box, wte_model_config_of(m), err);
    if (status == WTE_OK && file) status = wte_file_check_unchanged(file, err);
    if (status == WTE_OK)
        *out = &box->t;
    else
        wte_trace_free(&box->t);
    return status;
}
