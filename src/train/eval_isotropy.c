/* How evenly the rows of a table fill their space: lengths, cosines, singular values, and the
 * partition function in the directions of the eigenvectors. Formulas: docs/eval.md. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <wte/head.h>

#include "base/checked.h"
#include "base/thread.h"
#include "train/eval.h"

#define DEFAULT_PAIRS 100000u
/* Rows that are read at once. Of X^T X two rows and some columns stand in registers while the
 * numbers of these are added, which the second-level cache holds. */
#define AT_ONCE 64u
#define ROWS    2u
#define COLUMNS 8u
/* Eigenvectors, each with its opposite, for one pass over the table. */
#define VECTORS_AT_ONCE 512u

enum { STEP_LENGTHS, STEP_PAIRS, STEP_GRAM, STEP_CENTRED, STEP_RAW, STEP_PARTITION, STEPS };

typedef struct view {
    const wte_row_source *table;
    const wte_isotropy_options *opt;
    wte_isotropy *out;
    size_t cols;
    void *stored;       /* AT_ONCE rows as they are stored */
    float *block;       /* AT_ONCE x cols */
    double *mean, *sum; /* cols: of rows; of rows of length 1 */
    uint8_t *valid;     /* a bit for each row: finite */
    /* for the spectrum */
    double *wide;   /* AT_ONCE x cols: rows without their mean */
    size_t n;       /* how many these are */
    double *gram;   /* cols x cols: X^T X of all such rows */
    double *raw;    /* and of rows as they are */
    double *root;   /* cols */
    float *vectors; /* some eigenvectors with their opposites */
} view;

static wte_status tell(const view *v, uint64_t step, wte_error *err)
{
    return wte__eval_tell(v->opt->progress, step, STEPS, err);
}

/* Rows first .. first + n - 1 in f32. */
static wte_status read_chunk(const view *v, uint64_t first, size_t n, wte_error *err)
{
    const wte_row_source *t = v->table;
    if (t->dtype == WTE_F32) return wte_row_source_read_block(t, first, n, v->block, err);
    WTE_TRY(wte_row_source_read_block(t, first, n, v->stored, err));
    return wte_convert(t->dtype, v->stored, WTE_F32, v->block, n * v->cols, NULL, err);
}

/* The same without rows that are not finite. */
static wte_status read_finite(const view *v, uint64_t first, size_t n, size_t *kept, wte_error *err)
{
    *kept = 0;
    WTE_TRY(read_chunk(v, first, n, err));
    for (size_t i = 0; i < n; i++) {
        const uint64_t row = first + i;
        if (!(v->valid[row / 8] >> row % 8 & 1)) continue;
        if (i != *kept)
            memcpy(v->block + *kept * v->cols, v->block + i * v->cols, v->cols * sizeof *v->block);
        ++*kept;
    }
    return WTE_OK;
}

static size_t chunk_at(const view *v, uint64_t first)
{
    const uint64_t left = v->table->rows - first;
    return left < AT_ONCE ? (size_t)left : AT_ONCE;
}

/* Lengths ------------------------------------------------------------------------------------- */

/* Mean and deviation, number by number (Welford). */
typedef struct moments {
    double n, mean, square;
} moments;

static void add_to(moments *m, double x)
{
    const double off = x - m->mean;
    m->n++;
    m->mean += off / m->n;
    m->square += off * (x - m->mean);
}

static double deviation(const moments *m)
{
    return m->n > 0 ? sqrt(m->square / m->n) : (double)NAN;
}

static void add_row(view *v, uint64_t row, const float *x, moments *norms)
{
    double square = 0;
    for (size_t c = 0; c < v->cols; c++) square += (double)x[c] * (double)x[c];
    if (!isfinite(square)) {
        v->out->n_nonfinite++;
        return;
    }
    v->valid[row / 8] |= (uint8_t)(1u << row % 8);
    v->out->rows++;
    v->out->n_zero += square == 0;
    add_to(norms, sqrt(square));
    const double inverse = square > 0 ? 1 / sqrt(square) : 0;
    for (size_t c = 0; c < v->cols; c++) {
        v->mean[c] += (double)x[c];
        v->sum[c] += (double)x[c] * inverse;
    }
}

/* The mean cosine of all pairs: the square of the sum of n unit vectors has n ones and twice every
 * cosine. */
static void settle_lengths(view *v, const moments *norms)
{
    const double n = (double)v->out->rows, m = n - (double)v->out->n_zero;
    double mean = 0, sum = 0;
    for (size_t c = 0; c < v->cols; c++) {
        v->mean[c] = n > 0 ? v->mean[c] / n : 0;
        mean += v->mean[c] * v->mean[c];
        sum += v->sum[c] * v->sum[c];
    }
    v->out->norm_mean = n > 0 ? norms->mean : (double)NAN;
    v->out->norm_sd = deviation(norms);
    v->out->mean_norm = n > 0 ? sqrt(mean) : (double)NAN;
    if (m >= 2) v->out->cosine = (sum - m) / (m * (m - 1));
}

static wte_status measure_lengths(view *v, wte_error *err)
{
    moments norms = { 0, 0, 0 };
    for (uint64_t first = 0, n; first < v->table->rows; first += n) {
        n = chunk_at(v, first);
        WTE_TRY(read_chunk(v, first, (size_t)n, err));
        for (size_t i = 0; i < n; i++) add_row(v, first + i, v->block + i * v->cols, &norms);
    }
    settle_lengths(v, &norms);
    return WTE_OK;
}

static wte_status draw_pairs(view *v, uint64_t *pairs, double *cosines, uint64_t n, wte_error *err)
{
    moments m = { 0, 0, 0 };
    wte__draw_pairs(v->opt->seed, v->table->rows, n, pairs);
    const wte__cosines c = { v->table, pairs, n, cosines, v->opt->pool, v->opt->allocator };
    WTE_TRY(wte__cosines_run(&c, err));
    for (uint64_t i = 0; i < n; i++)
        if (!isnan(cosines[i])) add_to(&m, cosines[i]);
    v->out->pairs = (uint64_t)m.n;
    if (v->out->pairs == 0) return WTE_OK;
    v->out->pair_mean = m.mean;
    v->out->pair_sd = deviation(&m);
    return WTE_OK;
}

static wte_status measure_pairs(view *v, wte_error *err)
{
    const wte_allocator *a = v->opt->allocator;
    const uint64_t n = v->opt->pairs ? v->opt->pairs : DEFAULT_PAIRS;
    if (v->table->rows < 2) return WTE_OK;
    uint64_t *pairs = wte__alloc_array(a, n, 2 * sizeof *pairs);
    double *cosines = wte__alloc_array(a, n, sizeof *cosines);
    const wte_status status = pairs && cosines ? draw_pairs(v, pairs, cosines, n, err)
                                               : wte__no_memory(err, n, "cosines of drawn pairs");
    wte__free(a, pairs, (size_t)n * 2 * sizeof *pairs);
    wte__free(a, cosines, (size_t)n * sizeof *cosines);
    return status;
}

/* Spectrum ------------------------------------------------------------------------------------- */

/* One row of X^T X and at most COLUMNS columns; the same bits however many there are. */
static void add_few(const view *v, size_t r, size_t c, size_t n)
{
    double *to = v->gram + r * v->cols + c;
    for (size_t i = 0; i < v->n; i++) {
        const double *x = v->wide + i * v->cols;
        for (size_t k = 0; k < n; k++) to[k] += x[r] * x[c + k];
    }
}

/* The rows r and r + 1. */
static void add_block(const view *v, size_t r, size_t c)
{
    double one[COLUMNS], two[COLUMNS], *to = v->gram + r * v->cols + c;
    memcpy(one, to, sizeof one);
    memcpy(two, to + v->cols, sizeof two);
    for (size_t i = 0; i < v->n; i++) {
        const double *x = v->wide + i * v->cols, a = x[r], b = x[r + 1];
        for (size_t k = 0; k < COLUMNS; k++) {
            one[k] += a * x[c + k];
            two[k] += b * x[c + k];
        }
    }
    memcpy(to, one, sizeof one);
    memcpy(to + v->cols, two, sizeof two);
}

/* Two rows of X^T X from the diagonal on (and what lies left of it in a block of columns). */
static void add_products(void *ctx, uint64_t number)
{
    const view *v = ctx;
    const size_t r = (size_t)number * ROWS;
    size_t c = r / COLUMNS * COLUMNS;
    if (r + 1 < v->cols)
        for (; c + COLUMNS <= v->cols; c += COLUMNS) add_block(v, r, c);
    for (size_t i = r; c < v->cols && i < r + ROWS && i < v->cols; i++)
        add_few(v, i, c, v->cols - c);
}

/* Of the rows as they are: n m m^T more. */
static wte_status make_grams(view *v, wte_error *err)
{
    const size_t cols = v->cols;
    const double n = (double)v->out->rows;
    for (uint64_t first = 0; first < v->table->rows; first += AT_ONCE) {
        WTE_TRY(read_finite(v, first, chunk_at(v, first), &v->n, err));
        for (size_t i = 0; i < v->n * cols; i++)
            v->wide[i] = (double)v->block[i] - v->mean[i % cols];
        wte__parallel(v->opt->pool, (cols + ROWS - 1) / ROWS, add_products, v);
    }
    for (size_t r = 0; r < cols; r++)
        for (size_t c = r; c < cols; c++) {
            const double both = v->gram[r * cols + c];
            v->gram[c * cols + r] = both;
            v->raw[r * cols + c] = v->raw[c * cols + r] = both + n * v->mean[r] * v->mean[c];
        }
    return WTE_OK;
}

static void describe(const double *root, size_t n, wte_spectrum *out)
{
    double sum = 0, squares = 0, entropy = 0, so_far = 0;
    for (size_t i = 0; i < n; i++) {
        sum += root[i];
        squares += root[i] * root[i];
    }
    out->largest = root[0];
    out->condition = root[n - 1] > 0 ? root[0] / root[n - 1] : (double)INFINITY;
    for (size_t i = 0; i < n && squares > 0; i++) {
        const double p = root[i] / sum;
        so_far = fmin(1, so_far + root[i] * root[i] / squares);
        if (p > 0) entropy -= p * log(p);
        if (i == 0) out->share_1 = so_far;
        if (i < 10) out->share_10 = so_far;
        if (out->half == 0 && so_far >= 0.5) out->half = i + 1;
        if (out->most == 0 && so_far >= 0.9) out->most = i + 1;
    }
    out->effective_rank = squares > 0 ? exp(entropy) : 0;
}

/* ln Z of some directions and their opposites; the extremes of all. */
static wte_status partition_of(view *v, size_t first, size_t n, double *least, double *most,
                               wte_softmax_stats *sums, wte_error *err)
{
    wte_head_options head = WTE_HEAD_OPTIONS_INIT;
    float *to = v->vectors;
    for (size_t i = 0; i < n; i++)
        for (int sign = 1; sign >= -1; sign -= 2, to += v->cols)
            for (size_t c = 0; c < v->cols; c++)
                to[c] = (float)(sign * v->raw[(first + i) * v->cols + c]);
    const wte_hidden hidden = { v->vectors, WTE_F32, 0, 2 * n, v->cols, 0 };
    head.valid = v->valid;
    head.pool = v->opt->pool;
    head.allocator = v->opt->allocator;
    WTE_TRY(wte_head_topk(v->table, &hidden, &head, 0, NULL, sums, err));
    for (size_t i = 0; i < 2 * n; i++) {
        *least = fmin(*least, (double)sums[i].logsumexp);
        *most = fmax(*most, (double)sums[i].logsumexp);
    }
    return WTE_OK;
}

static wte_status measure_partition(view *v, wte_error *err)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    const size_t bytes = (size_t)2 * VECTORS_AT_ONCE * sizeof(wte_softmax_stats);
    wte_softmax_stats *sums = wte__alloc(v->opt->allocator, bytes);
    wte_status status = sums ? WTE_OK : wte__no_memory(err, bytes, "partition functions");
    for (size_t first = 0, n; status == WTE_OK && first < v->cols; first += n) {
        n = v->cols - first < VECTORS_AT_ONCE ? v->cols - first : VECTORS_AT_ONCE;
        status = partition_of(v, first, n, &least, &most, sums, err);
    }
    if (status == WTE_OK) v->out->partition = exp(least - most);
    wte__free(v->opt->allocator, sums, bytes);
    return status;
}

static wte_status decompose(view *v, double *matrix, double *wanted, wte_spectrum *out,
                            wte_error *err)
{
    const bool vectors = matrix == v->raw; /* the directions of the partition function */
    WTE_TRY(wte__eigen(matrix, v->cols, vectors, v->root, v->opt->pool, v->opt->allocator, err));
    describe(v->root, v->cols, out);
    if (wanted) memcpy(wanted, v->root, v->cols * sizeof *wanted);
    return WTE_OK;
}

static wte_status measure_spectrum(view *v, wte_error *err)
{
    if (v->opt->without_spectrum || v->out->rows == 0 || v->cols == 0) return WTE_OK;
    WTE_TRY(tell(v, STEP_GRAM, err));
    WTE_TRY(make_grams(v, err));
    WTE_TRY(tell(v, STEP_CENTRED, err));
    WTE_TRY(decompose(v, v->gram, v->opt->centred, &v->out->centred, err));
    WTE_TRY(tell(v, STEP_RAW, err));
    WTE_TRY(decompose(v, v->raw, v->opt->singular, &v->out->raw, err));
    WTE_TRY(tell(v, STEP_PARTITION, err));
    return measure_partition(v, err);
}

/* The whole ------------------------------------------------------------------------------------ */

/* Pieces of one allocation. */
static wte_status lay_out(view *v, uint8_t **memory, uint64_t *bytes, wte_error *err)
{
    const uint64_t cols = v->cols + !v->cols;
    const bool spectrum = !v->opt->without_spectrum;
    uint64_t square, row;
    if (!wte__mul_u64(cols, cols, &square) || square > UINT64_MAX >> 8 ||
        !wte__mul_u64(cols, sizeof(double), &row) || row > UINT64_MAX >> 16 ||
        v->table->rows > UINT64_MAX >> 8)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " x %" PRIu64 " products of columns are more than memory holds",
                         cols, cols);
    const uint64_t matrix = spectrum ? square * sizeof(double) : 0;
    const uint64_t block = cols * AT_ONCE * sizeof(float), wide = spectrum ? row * AT_ONCE : 0;
    const uint64_t stored = cols * AT_ONCE * wte_dtype_bytes(v->table->dtype);
    const uint64_t vectors = spectrum ? cols * 2 * VECTORS_AT_ONCE * sizeof(float) : 0;
    const uint64_t parts[] = {
        matrix, matrix, row, row, row, block, wide, vectors, v->table->rows / 8 + 1, stored
    };
    uint64_t at[sizeof parts / sizeof *parts];
    *bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        at[i] = *bytes;
        *bytes += (parts[i] + 7) / 8 * 8;
    }
    *memory = *bytes <= SIZE_MAX ? wte__alloc_zeroed(v->opt->allocator, (size_t)*bytes) : NULL;
    if (!*memory) return wte__no_memory(err, *bytes, "products of columns");
    v->gram = (double *)(void *)(*memory + at[0]);
    v->raw = (double *)(void *)(*memory + at[1]);
    v->root = (double *)(void *)(*memory + at[2]);
    v->mean = (double *)(void *)(*memory + at[3]);
    v->sum = (double *)(void *)(*memory + at[4]);
    v->block = (float *)(void *)(*memory + at[5]);
    v->wide = (double *)(void *)(*memory + at[6]);
    v->vectors = (float *)(void *)(*memory + at[7]);
    v->valid = *memory + at[8];
    v->stored = *memory + at[9];
    return WTE_OK;
}

static void begin(const view *v)
{
    const double none = (double)NAN;
    const wte_spectrum empty = { none, none, none, none, none, 0, 0 };
    *v->out = (wte_isotropy){ .norm_mean = none,
                              .norm_sd = none,
                              .mean_norm = none,
                              .cosine = none,
                              .pair_mean = none,
                              .pair_sd = none,
                              .raw = empty,
                              .centred = empty,
                              .partition = none };
    for (size_t c = 0; c < v->cols; c++) {
        if (v->opt->singular) v->opt->singular[c] = none;
        if (v->opt->centred) v->opt->centred[c] = none;
    }
}

wte_status wte_eval_isotropy(const wte_row_source *table, const wte_isotropy_options *options,
                             wte_isotropy *out, wte_error *err)
{
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    view v = { .table = table, .opt = &opt, .out = out };
    uint8_t *memory = NULL;
    uint64_t bytes = 0;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_eval_isotropy: out", err));
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(wte_check_rows(table, err));
    if (!wte_dtype_converts(table->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "rows of type %s have no numbers",
                         wte_dtype_name(table->dtype));
    if (opt.pairs > UINT64_MAX / 64)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "%" PRIu64 " pairs", opt.pairs);
    v.cols = (size_t)table->cols;
    WTE_TRY(lay_out(&v, &memory, &bytes, err));
    begin(&v);
    wte_status status = tell(&v, STEP_LENGTHS, err);
    if (status == WTE_OK) status = measure_lengths(&v, err);
    if (status == WTE_OK) status = tell(&v, STEP_PAIRS, err);
    if (status == WTE_OK) status = measure_pairs(&v, err);
    if (status == WTE_OK) status = measure_spectrum(&v, err);
    if (status == WTE_OK) status = tell(&v, STEPS, err);
    wte__free(opt.allocator, memory, (size_t)bytes);
    if (status != WTE_OK) memset(out, 0, sizeof *out);
    return status;
}
