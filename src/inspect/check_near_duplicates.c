/* The second pass: rows of nearly the same direction, and rows near the mean of all.
 *
 * Each row gets 256 bits, the signs of 256 random projections, so that the angle between two rows
 * is seen in how many bits differ. Rows are sorted by 16 bits at a time and each is compared with
 * the next ones; pairs that differ in few bits are read and their cosine is taken. A row joins a
 * group by its cosine with the group's first row alone, so that groups are no chains. Pairs may be
 * missed (docs/check.md says how many), none is told that is none. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"
#include "inspect/int8_copy.h"
#include "inspect/row_scan.h"

#define PROJECTIONS    256u
#define WORDS          (PROJECTIONS / 64)
#define BANDS          16u
#define NEXT_ONES      24u /* rows compared with each, in each band */
#define MOST_BITS      45u /* 26 of 256 bits differ at a cosine of 0.95, give or take 5 */
#define MIN_COLUMNS    16u /* in fewer, unrelated rows have such cosines by chance */
#define FAILURES       8u  /* of each row: cosines that were taken in vain, before it is enough */
#define COLLAPSED      8u  /* and one in a hundred rows: a group that is no accident */
#define COLLAPSED_PART 0.01

typedef struct signature {
    uint64_t word[WORDS];
} signature;

typedef struct order {
    uint64_t key, row;
} order;

typedef struct nearness {
    wte__checking *k;
    size_t cols;
    signature *sign;
    uint64_t *leader; /* of each row's group */
    uint32_t *size;   /* of the group that a row leads */
    order *items;
    size_t n_items;
    float *row_a, *row_b; /* widened */
    uint64_t in_a;        /* which row is in row_a; WTE_NO_INDEX = none */
    void *raw;
    uint64_t failures;
    wte__int8_copy rough; /* of rows that cannot be looked at where they lie */
    /* of the pass */
    double scale, *sums; /* lanes x cols: whole numbers, so that no order changes a sum */
    uint32_t n_lanes;
    uint64_t summed;
} nearness;

/* The pass ------------------------------------------------------------------------------------- */

/* Fixed bits: the same projections always. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

/* The signs of a Walsh-Hadamard transform of 256 numbers of the row with random signs: of every
 * cols / 256th, or of all of them several times over. */
static void sign_row(const float *x, size_t cols, signature *out)
{
    float y[PROJECTIONS];
    for (size_t i = 0; i < PROJECTIONS; i++) {
        const float value = x[cols > PROJECTIONS ? i * cols / PROJECTIONS : i % cols];
        y[i] = mix(i + 1) & 1 ? value : -value;
    }
    for (size_t half = 1; half < PROJECTIONS; half *= 2)
        for (size_t at = 0; at < PROJECTIONS; at += 2 * half)
            for (size_t i = at; i < at + half; i++) {
                const float a = y[i], b = y[i + half];
                y[i] = a + b;
                y[i + half] = a - b;
            }
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < PROJECTIONS; i++) out->word[i / 64] |= (uint64_t)(y[i] > 0) << i % 64;
}

/* Numbers are rounded to a grid so coarse that their sum is exact. */
static void add_row(double *sums, const float *x, size_t cols, double scale)
{
    const double whole = 0x1.8p52; /* adding and subtracting it leaves the nearest integer */
    for (size_t c = 0; c < cols; c++) sums[c] += ((double)x[c] * scale + whole) - whole;
}

static void visit(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                  const void *values)
{
    const nearness *t = ctx;
    (void)raw;
    for (size_t i = 0; i < n; i++) {
        const float *x = (const float *)values + i * t->cols;
        if (t->k->table.flags[first + i] & WTE__ROW_NONFINITE) continue;
        sign_row(x, t->cols, &t->sign[first + i]);
        if (t->rough.steps) wte__int8_copy_set(&t->rough, first + i, x);
        add_row(t->sums + lane * t->cols, x, t->cols, t->scale);
    }
}

static wte_status run_pass(nearness *t)
{
    wte__checking *k = t->k;
    const wte__check_scan *s = &k->table;
    double most = 0;
    for (uint64_t row = 0; row < s->rows; row++) {
        if (s->flags[row] & WTE__ROW_NONFINITE) continue;
        if ((double)s->norm[row] > most) most = (double)s->norm[row];
        t->summed++;
    }
    int exponent = 0;
    frexp(most * (double)s->rows, &exponent);
    t->scale = ldexp(1, 51 - exponent);
    const wte__row_scan pass = { &k->stored, WTE_F32,     visit,           NULL,
                                 t,          k->opt.pool, k->opt.progress, k->opt.allocator };
    WTE_TRY(wte__row_scan_run(&pass, k->err));
    for (size_t c = 0; c < t->cols && t->summed; c++) {
        double sum = 0;
        for (uint32_t lane = 0; lane < t->n_lanes; lane++) sum += t->sums[lane * t->cols + c];
        k->mean[c] = sum / t->scale / (double)t->summed;
    }
    return WTE_OK;
}

/* Groups --------------------------------------------------------------------------------------- */

static wte_status read_row(nearness *t, uint64_t row, float *out)
{
    WTE_TRY(wte_row_source_read(&t->k->stored, row, t->raw, t->k->err));
    return wte_convert(t->k->stored.dtype, t->raw, WTE_F32, out, t->cols, NULL, t->k->err);
}

static wte_status cosine(nearness *t, uint64_t leader, uint64_t row, double *out)
{
    double dot = 0, a = 0, b = 0;
    if (t->in_a != leader) {
        t->in_a = WTE_NO_INDEX;
        WTE_TRY(read_row(t, leader, t->row_a));
        t->in_a = leader;
    }
    WTE_TRY(read_row(t, row, t->row_b));
    for (size_t c = 0; c < t->cols; c++) {
        const double x = (double)t->row_a[c], y = (double)t->row_b[c];
        dot += x * y;
        a += x * x;
        b += y * y;
    }
    *out = a > 0 && b > 0 ? dot / sqrt(a * b) : 0;
    return WTE_OK;
}

static uint32_t bits_apart(const signature *a, const signature *b)
{
    uint32_t n = 0;
    for (size_t i = 0; i < WORDS; i++) n += (uint32_t)__builtin_popcountll(a->word[i] ^ b->word[i]);
    return n;
}

/* Two rows whose bits are near: one of them joins the other's group if it is alone and its cosine
 * with the group's leader says so. */
static wte_status try_pair(nearness *t, uint64_t a, uint64_t b)
{
    uint64_t to = t->leader[a], from = t->leader[b];
    double cos = 0;
    if (to == from || t->failures > FAILURES * t->n_items) return WTE_OK;
    if (to > from) {
        const uint64_t keep = to;
        to = from;
        from = keep;
    }
    if (t->size[from] > 1) {
        if (t->size[to] > 1) return WTE_OK;
        const uint64_t keep = to;
        to = from;
        from = keep;
    }
    if (bits_apart(&t->sign[to], &t->sign[from]) > MOST_BITS) return WTE_OK;
    const bool apart = wte__int8_copy_apart(&t->rough, to, from, WTE__NEAR_COSINE);
    if (!apart) WTE_TRY(cosine(t, to, from, &cos));
    if (apart || cos < WTE__NEAR_COSINE) {
        t->failures++;
        return WTE_OK;
    }
    t->leader[from] = to;
    t->size[to]++;
    t->size[from] = 0;
    return WTE_OK;
}

static int by_key(const void *va, const void *vb)
{
    const order *a = va, *b = vb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static wte_status search_band(nearness *t, uint32_t band)
{
    const uint32_t turn = 16 * (band % 4);
    for (size_t i = 0; i < t->n_items; i++) {
        const uint64_t word = t->sign[t->items[i].row].word[band / 4];
        t->items[i].key = turn ? word << turn | word >> (64 - turn) : word;
    }
    qsort(t->items, t->n_items, sizeof *t->items, by_key);
    for (size_t i = 0; i < t->n_items; i++)
        for (size_t j = i + 1; j < t->n_items && j <= i + NEXT_ONES; j++) {
            const order *a = &t->items[i], *b = &t->items[j];
            if ((a->key ^ b->key) >> 48) break;
            if (bits_apart(&t->sign[a->row], &t->sign[b->row]) > MOST_BITS) continue;
            WTE_TRY(try_pair(t, a->row, b->row));
        }
    return WTE_OK;
}

/* Rows that equal an earlier one follow it. */
static wte_status find_groups(nearness *t)
{
    const wte__checking *k = t->k;
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const wte__state state = (wte__state)k->state[row];
        t->leader[row] = row;
        t->size[row] = 1;
        const bool plain = state == WTE__TRAINED || state == WTE__DUPLICATE;
        if (plain && wte__first_same(k, row) == row) t->items[t->n_items++].row = row;
    }
    if (t->n_items < 2) return WTE_OK;
    for (uint32_t band = 0; band < BANDS; band++) WTE_TRY(search_band(t, band));
    return WTE_OK;
}

/* Findings ------------------------------------------------------------------------------------- */

/* The leader of the group with most tokens; their number in *most. Sizes become numbers of tokens.
 */
static uint64_t largest_group(nearness *t, uint64_t *most)
{
    const wte__checking *k = t->k;
    const uint64_t rows = k->stored.rows;
    uint64_t best = 0;
    memset(t->size, 0, (size_t)rows * sizeof *t->size);
    for (uint64_t row = 0; row < rows; row++)
        if (wte__check_has_token(k, row)) t->size[t->leader[row]]++;
    for (uint64_t row = 1; row < rows; row++)
        if (t->size[row] > t->size[best]) best = row;
    *most = t->size[best];
    return best;
}

static wte_status tell_collapsed(nearness *t, const char *name, uint64_t leader, uint64_t tokens)
{
    wte__checking *k = t->k;
    wte__seen seen = { .lie = k->lie };
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        if (t->leader[row] != leader) continue;
        const bool plain = k->state[row] == WTE__TRAINED || k->state[row] == WTE__DUPLICATE;
        if (plain) k->state[row] = WTE__COLLAPSED;
        if (wte__check_has_token(k, row)) wte__seen_add(&seen, row);
    }
    const char *word = wte__repair_word(k, wte_model_path(k->m));
    return wte__check_add(k, WTE__CODE_ROWS_COLLAPSED, name, &seen,
                          word ? wte__repair_shell(k, "wte check %s --glitch 100", word) : NULL,
                          "%" PRIu64 " of %" PRIu64 " %s (%.2g%%) have one direction: cosine "
                          "at least %.2f with row %" PRIu64,
                          seen.count, tokens, k->lie ? "rows" : "tokens",
                          100 * (double)seen.count / (double)tokens, WTE__NEAR_COSINE, leader);
}

/* Groups of two and more, the collapsed one aside; exact copies are told elsewhere. */
static wte_status tell_near(nearness *t, const char *name, uint64_t collapsed)
{
    wte__checking *k = t->k;
    wte__seen seen = { .lie = k->lie };
    uint64_t groups = 0;
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const uint64_t leader = t->leader[row];
        if (leader != row) k->report->facts.n_near_duplicates++;
        if (leader == collapsed || t->size[leader] < 2 || !wte__check_has_token(k, row)) continue;
        groups += leader == row;
        wte__seen_add(&seen, row);
    }
    if (!seen.count) return WTE_OK;
    return wte__check_add(k, WTE__CODE_ROWS_NEAR, name, &seen, "",
                          "%" PRIu64 " %s in %" PRIu64 " group%s whose cosine is at least %.2f",
                          seen.count, k->lie ? "rows" : "tokens", groups, groups == 1 ? "" : "s",
                          WTE__NEAR_COSINE);
}

static wte_status tell_groups(nearness *t)
{
    wte__checking *k = t->k;
    const char *name = wte__check_table_name(k);
    uint64_t most, tokens = 0;
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    for (uint64_t row = 0; row < k->stored.rows; row++) tokens += wte__check_has_token(k, row);
    const uint64_t leader = largest_group(t, &most);
    const bool collapsed = most >= COLLAPSED && (double)most >= COLLAPSED_PART * (double)tokens;
    if (collapsed) WTE_TRY(tell_collapsed(t, name, leader, tokens));
    return tell_near(t, name, collapsed ? leader : WTE_NO_INDEX);
}

/* Rows that a resize has set to the mean of all, give or take a little noise. */
static wte_status find_mean_rows(nearness *t)
{
    wte__checking *k = t->k;
    double length = 0;
    for (size_t c = 0; c < t->cols; c++) length += k->mean[c] * k->mean[c];
    length = sqrt(length);
    if (k->stored.rows < WTE__MIN_ROWS || length < 0.01 * k->report->facts.norm_median)
        return WTE_OK;
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const wte__state state = (wte__state)k->state[row];
        const double norm = (double)k->table.norm[row];
        double distance = 0;
        if (fabs(norm - length) > WTE__MEAN_DISTANCE * length) continue;
        if (state != WTE__TRAINED && state != WTE__DUPLICATE && state != WTE__COLLAPSED) continue;
        WTE_TRY(read_row(t, row, t->row_b));
        for (size_t c = 0; c < t->cols; c++) {
            const double d = (double)t->row_b[c] - k->mean[c];
            distance += d * d;
        }
        if (sqrt(distance) <= WTE__MEAN_DISTANCE * length) k->state[row] = WTE__MEAN;
    }
    return WTE_OK;
}

/* ---------------------------------------------------------------------------------------------- */

static wte_status make_room(nearness *t)
{
    wte__checking *k = t->k;
    const wte_allocator *a = k->opt.allocator;
    const uint64_t rows = k->stored.rows;
    const size_t element = wte_dtype_bytes(k->stored.dtype);
    t->n_lanes = wte_pool_n_threads(k->opt.pool);
    t->sign = wte__alloc_array(a, rows, sizeof *t->sign);
    t->leader = wte__alloc_array(a, rows, sizeof *t->leader);
    t->size = wte__alloc_array(a, rows, sizeof *t->size);
    t->items = wte__alloc_array(a, rows, sizeof *t->items);
    t->row_a = wte__alloc_array(a, t->cols, sizeof *t->row_a);
    t->row_b = wte__alloc_array(a, t->cols, sizeof *t->row_b);
    t->raw = wte__alloc_array(a, t->cols, element);
    t->sums = wte__alloc_zeroed(a, t->n_lanes * t->cols * sizeof *t->sums);
    k->mean = wte__alloc_zeroed(a, t->cols * sizeof *k->mean);
    if (!k->stored.data) WTE_TRY(wte__int8_copy_make(&t->rough, rows, t->cols, a, k->err));
    if (t->sign && t->leader && t->size && t->items && t->row_a && t->row_b && t->raw && t->sums &&
        k->mean)
        return WTE_OK;
    return wte__no_memory(k->err, rows * 60, "a search for near rows");
}

static void free_room(nearness *t)
{
    const wte_allocator *a = t->k->opt.allocator;
    const size_t rows = (size_t)t->k->stored.rows;
    wte__int8_copy_free(&t->rough);
    wte__free(a, t->sign, rows * sizeof *t->sign);
    wte__free(a, t->leader, rows * sizeof *t->leader);
    wte__free(a, t->size, rows * sizeof *t->size);
    wte__free(a, t->items, rows * sizeof *t->items);
    wte__free(a, t->row_a, t->cols * sizeof *t->row_a);
    wte__free(a, t->row_b, t->cols * sizeof *t->row_b);
    wte__free(a, t->raw, t->cols * wte_dtype_bytes(t->k->stored.dtype));
    wte__free(a, t->sums, t->n_lanes * t->cols * sizeof *t->sums);
}

wte_status wte__check_near(wte__checking *k)
{
    static const wte__code codes[] = {
        WTE__CODE_ROWS_NEAR,          WTE__CODE_ROWS_COLLAPSED,     WTE__CODE_ROWS_MEAN,
        WTE__CODE_SPECIALS_UNTRAINED, WTE__CODE_RESERVED_UNTRAINED, WTE__CODE_TOKENS_UNTRAINED,
    };
    nearness t = { .k = k, .cols = (size_t)k->stored.cols, .in_a = WTE_NO_INDEX };
    if (t.cols < MIN_COLUMNS || k->stored.rows < 2) return WTE_OK;
    if (!wte__check_wants(k, codes, sizeof codes / sizeof *codes)) return WTE_OK;
    wte_status status = make_room(&t);
    if (status == WTE_OK) status = run_pass(&t);
    if (status == WTE_OK) status = find_groups(&t);
    if (status == WTE_OK) status = tell_groups(&t);
    if (status == WTE_OK) status = find_mean_rows(&t);
    free_room(&t);
    return status;
}
