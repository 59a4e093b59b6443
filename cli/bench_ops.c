/* The operations of `wte bench`: tables of every type in two shapes, and what the library does with
 * them. Tables hold a few rows over and over: the values do not change the time, the places do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

#define BATCHES   16u /* of ids, so that no call finds its rows in the caches */
#define BAG_IDS   40u
#define TOP       50u
#define TEMPLATE  UINT64_C(64) /* rows that are made; the others repeat them */
#define HUGE_PAGE ((size_t)2 << 20)

/* What a run with and without --quick works on. */
typedef struct sizes {
    uint64_t rows[2], cols[2]; /* of the two shapes; heads have the first */
    uint64_t ids, bag_rows, bags, stream_bytes;
} sizes;
static const sizes whole = { { 50257, 128000 }, { 768, 4096 }, 8192, 1000000, 4096, 512u << 20 };
static const sizes small = { { 16384, 16384 }, { 768, 4096 }, 2048, 131072, 1024, 128u << 20 };
#define BAG_COLS 128u

typedef struct stored_type {
    const char *name;
    wte_dtype dtype;
    wte_block_type block;
    wte_rowwise rowwise;
    bool bags, head;
} stored_type;
static const stored_type types[] = {
    { "f32", WTE_F32, WTE_BLOCK_NONE, WTE_ROWWISE_NONE, true, true },
    { "f16", WTE_F16, WTE_BLOCK_NONE, WTE_ROWWISE_NONE, true, false },
    { "bf16", WTE_BF16, WTE_BLOCK_NONE, WTE_ROWWISE_NONE, true, true },
    { "q8_0", WTE_F32, WTE_BLOCK_Q8_0, WTE_ROWWISE_NONE, false, true },
    { "q4_0", WTE_F32, WTE_BLOCK_Q4_0, WTE_ROWWISE_NONE, false, true },
    { "q4_k", WTE_F32, WTE_BLOCK_Q4_K, WTE_ROWWISE_NONE, false, true },
    { "q6_k", WTE_F32, WTE_BLOCK_Q6_K, WTE_ROWWISE_NONE, false, true },
    { "int8", WTE_F32, WTE_BLOCK_NONE, WTE_ROW8_F32, true, false },
    { "int4", WTE_F32, WTE_BLOCK_NONE, WTE_ROW4, true, false },
};
#define TYPES    (sizeof types / sizeof *types)
#define NO_TABLE UINT32_MAX

static uint64_t row_bytes(uint32_t type, uint64_t cols)
{
    const stored_type *t = &types[type];
    if (t->block) return wte_packed_bytes(t->block, cols);
    if (t->rowwise) return wte_packed_bytes(t->rowwise, cols);
    return cols * wte_dtype_bytes(t->dtype);
}

static const sizes *sizes_of(const bench *b)
{
    return b->quick ? &small : &whole;
}

/* Tables ----------------------------------------------------------------------------------------
 */

static uint64_t noise(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}

/* Numbers from -1 to 1. */
static void make_values(float *to, size_t n)
{
    uint64_t state = 7;
    for (size_t i = 0; i < n; i++) to[i] = (float)((double)(noise(&state) >> 11) * 0x1p-52 - 1);
}

/* Blocks that the library does not write: any bits, with scales of about 2^-7. */
static void make_blocks(wte_block_type type, char *to, size_t bytes)
{
    static const unsigned char scale[2] = { 0x00, 0x20 };
    uint64_t state = 99;
    const size_t block = wte_block_bytes(type);
    for (size_t i = 0; i < bytes; i++) to[i] = (char)noise(&state);
    for (size_t at = 0; at < bytes; at += block) {
        memcpy(to + at + (type == WTE_BLOCK_Q6_K ? block - 2 : 0), scale, 2);
        if (type == WTE_BLOCK_Q4_K) memcpy(to + at + 2, scale, 2);
    }
}

static wte_status make_rows(uint32_t type, uint64_t cols, const float *values, char *to,
                            wte_error *err)
{
    const stored_type *t = &types[type];
    const size_t n = TEMPLATE * (size_t)cols;
    if (t->rowwise) return wte_rowwise_encode(t->rowwise, values, TEMPLATE, cols, to, 0, err);
    if (t->block == WTE_BLOCK_Q8_0) return wte_block_encode(t->block, values, to, n / 32, err);
    if (!t->block) return wte_convert(WTE_F32, values, t->dtype, to, n, NULL, err);
    make_blocks(t->block, to, TEMPLATE * (size_t)row_bytes(type, cols));
    return WTE_OK;
}

static wte_status set_source(bench *b, wte_error *err)
{
    const stored_type *t = &types[b->held_type];
    const uint64_t rows = b->held_rows, cols = b->held_cols;
    if (t->block)
        return wte_row_source_from_blocks(t->block, rows, cols, b->table, 0, &b->blocks, &b->source,
                                          err);
    if (t->rowwise)
        return wte_row_source_from_rowwise(t->rowwise, rows, cols, b->table, 0, &b->rowwise,
                                           &b->source, err);
    b->source = (wte_row_source){ .rows = rows,
                                  .cols = cols,
                                  .dtype = t->dtype,
                                  .data = b->table,
                                  .row_bytes = row_bytes(b->held_type, cols) };
    return WTE_OK;
}

static void make_ids(bench *b, uint64_t rows, uint64_t n)
{
    uint64_t state = 12345;
    for (uint64_t i = 0; i < n; i++) b->ids[i] = (int64_t)(noise(&state) % rows);
}

static uint64_t ids_needed(const bench *b)
{
    const sizes *s = sizes_of(b);
    const uint64_t bags = s->bags * BAG_IDS;
    return BATCHES * (s->ids > bags ? s->ids : bags);
}

/* Calls of the library --------------------------------------------------------------------------
 */

static wte_status run_rows(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    const wte_ids ids = { b->ids + input % BATCHES * op->n, WTE_I64, 0, op->n };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.out_dtype = WTE_F32;
    opt.pool = b->pool;
    return wte_lookup(&b->source, ids, &opt, b->out, 0, err);
}

static wte_status run_bags(const bench *b, const bench_op *op, uint32_t input, wte_bag_mode mode,
                           wte_error *err)
{
    const wte_ids ids = { b->ids + input % BATCHES * op->n, WTE_I64, 0, op->n };
    const wte_ids none = { NULL, WTE_I64, 0, 0 };
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.mode = mode;
    opt.ids_per_bag = BAG_IDS;
    opt.pool = b->pool;
    return wte_bag_reduce(&b->source, ids, none, &opt, b->out, 0, err);
}

static wte_status run_sums(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    return run_bags(b, op, input, WTE_BAG_SUM, err);
}

static wte_status run_most(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    return run_bags(b, op, input, WTE_BAG_MAX, err);
}

/* Rows of the template serve as hidden vectors. */
static wte_hidden hidden_of(const bench *b, const bench_op *op)
{
    return (wte_hidden){ b->out, WTE_F32, 0, op->n, op->cols, 0 };
}

static wte_head_options head_options(const bench *b, const bench_op *op)
{
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    opt.precision = op->fast ? WTE_PRECISION_FAST : WTE_PRECISION_EXACT;
    opt.pool = b->pool;
    return opt;
}

/* What comes out lies behind the hidden vectors. */
static char *behind_hidden(const bench *b, const bench_op *op)
{
    return b->out + (op->n * op->cols * sizeof(float) + 4095) / 4096 * 4096;
}

static wte_status run_head(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    const wte_hidden hidden = hidden_of(b, op);
    const wte_head_options opt = head_options(b, op);
    (void)input;
    return wte_head_logits(&b->source, &hidden, &opt, (float *)(void *)behind_hidden(b, op), 0,
                           err);
}

static wte_status run_top(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    const wte_hidden hidden = hidden_of(b, op);
    const wte_head_options opt = head_options(b, op);
    (void)input;
    return wte_head_topk(&b->source, &hidden, &opt, TOP, (wte_ranked *)(void *)behind_hidden(b, op),
                         NULL, err);
}

static wte_status run_loss(const bench *b, const bench_op *op, const wte_loss_options *loss,
                           wte_error *err)
{
    const wte_hidden hidden = hidden_of(b, op);
    const wte_head_options opt = head_options(b, op);
    const wte_ids targets = { b->ids, WTE_I64, 0, op->n };
    wte_loss result;
    return wte_head_loss(&b->source, &hidden, targets, &opt, loss, &result, err);
}

static wte_status run_forward(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    const wte_loss_options loss = WTE_LOSS_OPTIONS_INIT;
    (void)input;
    return run_loss(b, op, &loss, err);
}

static wte_status run_backward(bench *b, const bench_op *op, uint32_t input, wte_error *err)
{
    wte_loss_options loss = WTE_LOSS_OPTIONS_INIT;
    (void)input;
    loss.d_hidden = (float *)(void *)behind_hidden(b, op);
    loss.d_table = loss.d_hidden + op->n * op->cols;
    return run_loss(b, op, &loss, err);
}

/* The list --------------------------------------------------------------------------------------
 */

static wte_status fill_table(bench *b, const bench_op *op, wte_error *err)
{
    const size_t row = (size_t)row_bytes(op->type, op->cols), all = (size_t)op->rows * row;
    const size_t n = TEMPLATE * (size_t)op->cols;
    float *values = calloc(n, sizeof *values);
    if (!values) return WTE_E_MEMORY;
    make_values(values, n);
    b->held_type = NO_TABLE;
    wte_status status = make_rows(op->type, op->cols, values, b->table, err);
    free(values);
    if (status != WTE_OK) return status;
    for (size_t made = TEMPLATE * row; made < all;) { /* rows > TEMPLATE: rows_that_fit */
        const size_t more = made < all - made ? made : all - made;
        memcpy(b->table + made, b->table, more);
        made += more;
    }
    b->held_type = op->type;
    b->held_rows = op->rows;
    b->held_cols = op->cols;
    make_ids(b, op->rows, ids_needed(b));
    return set_source(b, err);
}

wte_status bench_fill(bench *b, const bench_op *op, wte_error *err)
{
    if (op->type == NO_TABLE) return WTE_OK;
    if (op->n_limits == 2) { /* a head: hidden vectors, and gradients that are added to */
        make_values((float *)(void *)b->out, (size_t)(op->n * op->cols));
        if (op->run == run_backward)
            memset(behind_hidden(b, op), 0, (size_t)((op->n + op->rows) * op->cols * 4));
    }
    if (op->type == b->held_type && op->rows == b->held_rows && op->cols == b->held_cols)
        return WTE_OK;
    return fill_table(b, op, err);
}

void bench_aim(const bench *b, const bench_op *op, uint32_t input, bench_limit *limits)
{
    memcpy(limits, op->limit, sizeof op->limit);
    for (uint32_t i = 0; i < op->n_limits; i++) {
        limits[i].table = b->table;
        limits[i].out = b->out;
        if (limits[i].n) limits[i].ids = b->ids + input % BATCHES * limits[i].n;
    }
}

/* Bytes of `out` that the operation writes to. */
static uint64_t out_needed(const bench_op *op)
{
    const uint64_t vectors = (op->n * op->cols * 4 + 4095) / 4096 * 4096;
    if (op->run == run_rows) return op->n * op->cols * 4;
    if (op->run == run_sums || op->run == run_most) return op->n / BAG_IDS * op->cols * 4;
    if (op->run == run_head) return vectors + op->n * op->rows * 4;
    if (op->run == run_top) return vectors + op->n * TOP * sizeof(wte_ranked);
    if (op->run == run_forward) return vectors;
    if (op->run == run_backward) return vectors + (op->n + op->rows) * op->cols * 4;
    return op->limit[0].kind == BENCH_COPY     ? op->limit[0].bytes
           : op->limit[0].kind == BENCH_GATHER ? op->limit[0].n * op->limit[0].width
                                               : 0;
}

static uint64_t table_needed(const bench_op *op)
{
    if (op->type != NO_TABLE) return op->rows * row_bytes(op->type, op->cols);
    return op->limit[0].bytes;
}

typedef bool wanted_fn(const cli *c, const char *name);

static int add(bench *b, wanted_fn *wanted, const bench_op *op)
{
    if (!wanted(b->c, op->name)) return CLI_DONE;
    if (b->n_ops == b->cap_ops) {
        const size_t cap = b->cap_ops ? 2 * b->cap_ops : 64;
        bench_op *more = realloc(b->ops, cap * sizeof *more);
        if (!more) return cli_say_fail(b->c, CLI_OUTPUT, "out of memory");
        b->ops = more;
        b->cap_ops = cap;
    }
    b->ops[b->n_ops++] = *op;
    return CLI_DONE;
}

/* A quarter of the memory is for outputs, the rest for tables. */
static uint64_t outs(const bench *b)
{
    return b->memory / 4;
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
    return n < most ? n : most;
}

/* Rows that fit, each with so many bytes in the table and in the output, which has `fixed` besides;
 * no fewer than are made. */
static uint64_t rows_that_fit(const bench *b, uint64_t rows, uint64_t in_table, uint64_t in_out,
                              uint64_t fixed)
{
    uint64_t fit = (b->memory - outs(b)) / in_table;
    if (in_out) fit = at_most(fit, (outs(b) > fixed ? outs(b) - fixed : 0) / in_out);
    if (fit >= rows) return rows;
    return fit < 4 * TEMPLATE ? 4 * TEMPLATE : fit / TEMPLATE * TEMPLATE;
}

static int add_limits(bench *b, wanted_fn *wanted)
{
    static const bench_kind kinds[] = { BENCH_READ, BENCH_COPY, BENCH_FMA, BENCH_BF16, BENCH_INT8 };
    uint64_t bytes = sizes_of(b)->stream_bytes;
    int code = CLI_DONE;
    while (bytes > outs(b)) bytes /= 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !code; i++) {
        const bool sums = kinds[i] >= BENCH_FMA;
        bench_op op = { .type = NO_TABLE,
                        .amount = sums ? 1e8 : (double)bytes,
                        .unit = sums ? "Gop/s" : "GB/s",
                        .n_limits = 1 };
        op.limit[0] = (bench_limit){ .kind = kinds[i],
                                     .bytes = sums ? 0 : (size_t)bytes,
                                     .ops = sums ? 1e8 : 0 };
        if (sums)
            snprintf(op.name, sizeof op.name, "limit %s", bench_limit_name(kinds[i]));
        else
            snprintf(op.name, sizeof op.name, "limit %s %" PRIu64 " MiB",
                     bench_limit_name(kinds[i]), bytes >> 20);
        if (bench_limit_ways(kinds[i])) code = add(b, wanted, &op);
    }
    return code;
}

static int add_rows(bench *b, wanted_fn *wanted, uint32_t type, uint32_t shape)
{
    const sizes *s = sizes_of(b);
    const uint64_t cols = s->cols[shape], n = at_most(s->ids, outs(b) / (cols * 4));
    bench_op op = { .type = type,
                    .cols = cols,
                    .n = n,
                    .amount = (double)(n * cols * 4),
                    .unit = "GB/s",
                    .n_limits = 1,
                    .run = run_rows };
    op.rows = rows_that_fit(b, s->rows[shape], row_bytes(type, cols), 0, 0);
    op.limit[0] = (bench_limit){ .kind = BENCH_GATHER,
                                 .row = (size_t)row_bytes(type, cols),
                                 .width = (size_t)cols * 4,
                                 .n = (size_t)n };
    snprintf(op.name, sizeof op.name, "rows %s %" PRIu64 " x %" PRIu64 ", %" PRIu64 " ids",
             types[type].name, op.rows, cols, n);
    return add(b, wanted, &op);
}

static int add_bags(bench *b, wanted_fn *wanted, uint32_t type, bool most)
{
    const sizes *s = sizes_of(b);
    const uint64_t n = s->bags * BAG_IDS, row = row_bytes(type, BAG_COLS);
    bench_op op = { .type = type,
                    .cols = BAG_COLS,
                    .n = n,
                    .amount = (double)(n * row),
                    .unit = "GB/s",
                    .n_limits = 1,
                    .run = most ? run_most : run_sums };
    op.rows = rows_that_fit(b, s->bag_rows, row, 0, 0);
    op.limit[0] = (bench_limit){ .kind = BENCH_SUM, .row = (size_t)row, .n = (size_t)n };
    snprintf(op.name, sizeof op.name, "bags %s %s %" PRIu64 " x %u", most ? "max" : "sum",
             types[type].name, op.rows, BAG_COLS);
    return add(b, wanted, &op);
}

/* The product's limits: the table is read, and the sums are made. */
static void set_head_limits(bench_op *op, double products)
{
    const stored_type *t = &types[op->type];
    const bool blocks = t->block != WTE_BLOCK_NONE;
    const double ops = 2 * products * (double)op->n * (double)op->rows * (double)op->cols;
    bench_kind kind = !op->fast ? BENCH_FMA : blocks ? BENCH_INT8 : BENCH_BF16;
    if (!bench_limit_ways(kind)) kind = BENCH_FMA;
    op->amount = ops;
    op->unit = "Gop/s";
    op->n_limits = 2;
    op->limit[0] = (bench_limit){ .kind = BENCH_READ,
                                  .bytes = (size_t)(op->rows * row_bytes(op->type, op->cols)) };
    op->limit[1] = (bench_limit){ .kind = kind, .ops = ops };
}

static int add_head(bench *b, wanted_fn *wanted, uint32_t type, uint64_t n, const char *what)
{
    const sizes *s = sizes_of(b);
    const uint64_t cols = s->cols[0], row = row_bytes(type, cols);
    bench_op op = { .type = type, .cols = cols, .n = n, .run = run_head };
    op.fast = type != 0 && strcmp(what, "head") == 0;
    if (strcmp(what, "top 50") == 0) op.run = run_top;
    if (strcmp(what, "loss") == 0) op.run = run_forward;
    if (strcmp(what, "loss and gradients") == 0) op.run = run_backward;
    const uint64_t fixed = out_needed(&op); /* without rows */
    op.rows = 1;
    op.rows = rows_that_fit(b, s->rows[0], row, out_needed(&op) - fixed, fixed);
    set_head_limits(&op, op.run == run_backward ? 3 : 1);
    snprintf(op.name, sizeof op.name, "%s%s %s %" PRIu64 " x %" PRIu64 ", n = %" PRIu64,
             op.fast ? "fast " : "", what, types[type].name, op.rows, cols, n);
    return add(b, wanted, &op);
}

/* In the order of the tables, so that each is made once. */
static int add_all(bench *b, wanted_fn *wanted)
{
    static const uint64_t numbers[] = { 1, 8, 512 };
    int code = add_limits(b, wanted);
    for (uint32_t type = 0; type < TYPES && !code; type++) {
        code = add_rows(b, wanted, type, 0);
        for (size_t i = 0; i < 3 && !code && types[type].head; i++)
            code = add_head(b, wanted, type, numbers[i], "head");
        if (type != 0 || code) continue;
        code = add_head(b, wanted, type, 1, "top 50");
        if (!code) code = add_head(b, wanted, type, 512, "top 50");
        if (!code) code = add_head(b, wanted, type, 512, "loss");
        if (!code) code = add_head(b, wanted, type, 512, "loss and gradients");
    }
    for (uint32_t type = 0; type < TYPES && !code; type++) code = add_rows(b, wanted, type, 1);
    for (uint32_t type = 0; type < TYPES && !code; type++) {
        if (!types[type].bags) continue;
        code = add_bags(b, wanted, type, false);
        if (!code && type == 0) code = add_bags(b, wanted, type, true);
    }
    return code;
}

/* Touched once, on huge pages where there are any: a first touch costs more than the work. */
static char *buffer(size_t bytes)
{
    const size_t n = (bytes + 2 * HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *block = aligned_alloc(HUGE_PAGE, n);
    if (!block) return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(block, n, MADV_HUGEPAGE);
#endif
    memset(block, 0, n);
    return block;
}

int bench_plan(bench *b, bool (*wanted)(const cli *c, const char *name), bool list_only)
{
    char size[32];
    b->held_type = NO_TABLE;
    const int code = add_all(b, wanted);
    if (code || list_only || b->n_ops == 0) return code;
    for (size_t i = 0; i < b->n_ops; i++) {
        const uint64_t table = table_needed(&b->ops[i]), out = out_needed(&b->ops[i]);
        if (table > b->table_bytes) b->table_bytes = (size_t)table;
        if (out > b->out_bytes) b->out_bytes = (size_t)out;
    }
    b->table = buffer(b->table_bytes);
    b->out = buffer(b->out_bytes);
    b->ids = calloc((size_t)ids_needed(b) + 1, sizeof *b->ids);
    if (b->table && b->out && b->ids) return CLI_DONE;
    return cli_say_fail(b->c, CLI_OUTPUT, "out of memory for tables of %s; --memory takes less",
                        cli_size(size, b->table_bytes + b->out_bytes));
}

void bench_clear(bench *b)
{
    free(b->ops);
    free(b->table);
    free(b->out);
    free(b->ids);
}
