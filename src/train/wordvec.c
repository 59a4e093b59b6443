/* Word vectors: the tables and their first values, and what is asked of them in the end. */
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"
#include "train/corpus.h"
#include "train/wordvec.h"

#define LINE ((size_t)64)
/* Rows that are given their first values at a time. */
#define CHUNK 4096u

wte_status wte_wordvec_plan(const wte_corpus *corpus, const wte_wordvec_options *opt,
                            wte_wordvec_info *out, wte_error *err)
{
    wte__wordvec_plan p;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_wordvec_plan: out", err));
    WTE_TRY(wte__need(corpus, "wte_wordvec_plan: corpus", err));
    WTE_TRY(wte__wordvec_plan_make(&p, corpus, opt, err));
    *out = (wte_wordvec_info){ .rows = p.rows,
                               .dim = p.o.dim,
                               .grams = p.grams,
                               .out_rows = p.out_rows,
                               .bytes = p.bytes,
                               .total = p.corpus_info.tokens * p.o.epochs,
                               .loss = (double)NAN };
    return WTE_OK;
}

/* Independent of when reports came: of the last epoch that each part has finished, or of the first
 * one as far as it is. */
static double mean_loss(const wte_wordvec *w)
{
    wte__wordvec_loss all = { 0, 0 };
    for (uint32_t i = 0; i < w->plan.parts; i++) {
        const wte__wordvec_position *place = &w->worker[i].place;
        const wte__wordvec_loss *one = place->epoch ? &place->finished : &place->running;
        all.sum += one->sum;
        all.examples += one->examples;
    }
    return all.examples ? all.sum / (double)all.examples : (double)NAN;
}

void wte_wordvec_get(const wte_wordvec *w, wte_wordvec_info *out)
{
    if (out) memset(out, 0, sizeof *out);
    if (!w || !out) return;
    const wte__wordvec_plan *p = &w->plan;
    *out = (wte_wordvec_info){ .rows = p->rows,
                               .dim = p->o.dim,
                               .grams = p->grams,
                               .out_rows = p->out_rows,
                               .bytes = p->bytes,
                               .done = atomic_load_explicit(&w->done, memory_order_relaxed),
                               .total = p->corpus_info.tokens * p->o.epochs,
                               .loss = mean_loss(w),
                               .stop_reason = w->end };
}

/* Memory --------------------------------------------------------------------------------------- */

/* Rows that begin with lines of the cache. */
static wte_status make_matrix(const wte_wordvec *w, uint64_t rows, void **block, size_t *bytes,
                              float **out, wte_error *err)
{
    const size_t row = w->plan.stride * sizeof(float);
    *bytes = (size_t)rows * row + LINE;
    *block = wte__alloc(w->plan.o.allocator, *bytes);
    if (!*block) return wte__no_memory(err, *bytes, "a table of word vectors");
    const uintptr_t at = (uintptr_t)*block;
    *out = (float *)(void *)((char *)*block + ((LINE - at % LINE) % LINE));
    return WTE_OK;
}

/* The loss of one who gives every row of an example the probability of one half. */
static double loss_of_nothing(const wte_wordvec *w)
{
    const wte__wordvec_plan *p = &w->plan;
    const wte__wordvec_tables *t = &w->tables;
    double steps = 0, words = 0;
    if (!p->o.hierarchical) return log(2) * (double)(1 + p->o.negative);
    for (uint64_t i = 0; i < p->rows; i++) {
        const uint64_t begin = i ? t->way_end[i - 1] : 0;
        const double count = (double)p->corpus->counts[i];
        steps += count * (double)(t->way_end[i] - begin);
        words += count;
    }
    return log(2) * steps / words;
}

static wte_status make_tables(wte_wordvec *w, wte_error *err)
{
    const wte__wordvec_plan *p = &w->plan;
    const wte_allocator *a = p->o.allocator;
    wte__wordvec_tables *t = &w->tables;
    t->keep = wte__alloc_array(a, p->rows, sizeof *t->keep);
    if (!t->keep) return wte__no_memory(err, p->rows * sizeof *t->keep, "counts of words");
    WTE_TRY(wte__wordvec_make_keep(p, t->keep));
    if (p->o.max_n) {
        t->gram_end = wte__alloc_array(a, p->rows, sizeof *t->gram_end);
        t->gram = wte__alloc_array(a, p->rows + p->grams, sizeof *t->gram);
        if (!t->gram_end || !t->gram)
            return wte__no_memory(err, (p->rows + p->grams) * sizeof *t->gram, "n-grams");
        wte__wordvec_make_grams(p, t);
    }
    if (p->o.hierarchical) return wte__wordvec_make_tree(p, t, err);
    t->alias = wte__alloc_array(a, p->rows, sizeof *t->alias);
    if (!t->alias) return wte__no_memory(err, p->rows * sizeof *t->alias, "negative samples");
    return wte__wordvec_make_alias(p, t->alias, err);
}

static size_t ring_bytes(const wte_wordvec *w)
{
    return (w->plan.ring + 2) * w->plan.stride * sizeof(float);
}

static wte_status make_workers(wte_wordvec *w, wte_error *err)
{
    const wte_allocator *a = w->plan.o.allocator;
    const size_t bytes = w->plan.parts * sizeof *w->worker;
    w->worker = wte__alloc_zeroed(a, bytes);
    if (!w->worker) return wte__no_memory(err, bytes, "threads of training");
    for (uint32_t i = 0; i < w->plan.parts; i++) {
        wte__wordvec_worker *k = &w->worker[i];
        k->place.random = wte__wordvec_mix(w->plan.o.seed + i * UINT64_C(0xd1342543de82ef95));
        k->block = wte__alloc_array(a, WTE__WORDS_BLOCK, sizeof *k->block);
        k->sentence = wte__alloc_array(a, WTE__WORDS_SENTENCE, sizeof *k->sentence);
        k->ring = wte__alloc(a, ring_bytes(w));
        k->before = wte__alloc(a, ring_bytes(w));
        if (!k->block || !k->sentence || !k->ring || !k->before)
            return wte__no_memory(err, (uint64_t)WTE__WORDS_BLOCK * 4 + 2 * ring_bytes(w),
                                  "a thread of training");
    }
    return WTE_OK;
}

/* What lies behind rows is zeros, in blocks of unknown alignment. */
static void free_worker(wte_wordvec *w, wte__wordvec_worker *k)
{
    const wte_allocator *a = w->plan.o.allocator;
    wte_corpus_reader_free(k->reader);
    wte__free(a, k->block, WTE__WORDS_BLOCK * sizeof *k->block);
    wte__free(a, k->sentence, WTE__WORDS_SENTENCE * sizeof *k->sentence);
    wte__free(a, k->ring, ring_bytes(w));
    wte__free(a, k->before, ring_bytes(w));
}

void wte_wordvec_free(wte_wordvec *w)
{
    if (!w) return;
    const wte__wordvec_plan *p = &w->plan;
    const wte_allocator *a = p->o.allocator;
    const wte__wordvec_tables *t = &w->tables;
    for (uint32_t i = 0; w->worker && i < p->parts; i++) free_worker(w, &w->worker[i]);
    wte__free(a, w->worker, p->parts * sizeof *w->worker);
    wte__free(a, t->keep, (size_t)p->rows * sizeof *t->keep);
    wte__free(a, t->alias, (size_t)p->rows * sizeof *t->alias);
    wte__free(a, t->way_end, (size_t)p->rows * sizeof *t->way_end);
    wte__free(a, t->way, (size_t)t->n_way * sizeof *t->way);
    wte__free(a, t->gram_end, (size_t)p->rows * sizeof *t->gram_end);
    wte__free(a, t->gram, (size_t)(p->rows + p->grams) * sizeof *t->gram);
    wte__free(a, w->in_block, w->in_bytes);
    wte__free(a, w->out_block, w->out_bytes);
    wte__strfree(a, w->checkpoint);
    wte__free(a, w, sizeof *w);
}

/* First values --------------------------------------------------------------------------------- */

/* Each number by itself, from the seed and its place. A row's length does not depend on its width;
 * that it is some times as long as word2vec's is worth an epoch (docs/training.md). */
static void draw_rows(void *ctx, uint64_t chunk)
{
    wte_wordvec *w = ctx;
    const wte__wordvec_plan *p = &w->plan;
    const uint64_t key = wte__wordvec_mix(p->o.seed ^ UINT64_C(0x5851f42d4c957f2d));
    const float width = sqrtf((float)p->o.dim);
    const uint64_t end = (chunk + 1) * CHUNK < p->in_rows ? (chunk + 1) * CHUNK : p->in_rows;
    for (uint64_t r = chunk * CHUNK; r < end; r++) {
        float *row = w->in + r * p->stride;
        for (uint64_t c = 0; c < p->stride; c++) {
            uint64_t state = key + (r * p->o.dim + c) * UINT64_C(0x9e3779b97f4a7c15);
            const float x = (float)(wte__wordvec_draw(&state) >> 40) * 0x1p-24f - 0.5f;
            row[c] = c < p->o.dim ? x / width : 0;
        }
    }
}

static void clear_rows(void *ctx, uint64_t chunk)
{
    wte_wordvec *w = ctx;
    const uint64_t rows = w->plan.out_rows, begin = chunk * CHUNK;
    const uint64_t n = rows - begin < CHUNK ? rows - begin : CHUNK;
    memset(w->out + begin * w->plan.stride, 0, (size_t)n * w->plan.stride * sizeof(float));
}

/* Rows of another table, as f32, `times` as long. */
static wte_status take_rows(const wte_wordvec *w, const wte_row_source *from, float *to,
                            bool by_rows, wte_error *err)
{
    const wte_allocator *a = w->plan.o.allocator;
    const size_t dim = (size_t)w->plan.o.dim, bytes = dim * wte_dtype_bytes(from->dtype);
    void *stored = wte__alloc(a, bytes);
    if (!stored) return wte__no_memory(err, bytes, "a row");
    wte_status status = WTE_OK;
    for (uint64_t r = 0; r < from->rows && status == WTE_OK; r++) {
        const uint32_t id = (uint32_t)r, *rows;
        float *row = to + r * w->plan.stride;
        status = wte_row_source_read_block(from, r, 1, stored, err);
        if (status == WTE_OK)
            status = wte_convert(from->dtype, stored, WTE_F32, row, dim, NULL, err);
        if (status == WTE_OK && !w->kernels->all_finite(row, dim))
            status =
                wte__fail(err, WTE_E_RANGE, r,
                          "row %" PRIu64 " of the table to start from holds NaN or infinity", r);
        const float times = by_rows ? (float)wte__wordvec_rows_of(w, &id, &rows) : 1;
        for (size_t c = 0; c < dim && times > 1; c++) row[c] *= times;
    }
    wte__free(a, stored, bytes);
    return status;
}

/* With n-grams a word's own row is its vector times the number of its rows, and those of n-grams
 * are zeros, so that their mean is the vector. */
static wte_status set_values(wte_wordvec *w, wte_error *err)
{
    const wte__wordvec_plan *p = &w->plan;
    wte__parallel(p->o.pool, (p->in_rows + CHUNK - 1) / CHUNK, draw_rows, w);
    wte__parallel(p->o.pool, (p->out_rows + CHUNK - 1) / CHUNK, clear_rows, w);
    if (p->o.init_from) {
        const size_t grams = (size_t)(p->in_rows - p->rows) * p->stride;
        memset(w->in + p->rows * p->stride, 0, grams * sizeof *w->in);
        WTE_TRY(take_rows(w, p->o.init_from, w->in, true, err));
    }
    if (p->o.init_input_from) WTE_TRY(take_rows(w, p->o.init_input_from, w->in, false, err));
    return p->o.init_output_from ? take_rows(w, p->o.init_output_from, w->out, false, err) : WTE_OK;
}

static wte_status make_words(wte_wordvec *w, wte_error *err)
{
    const wte__wordvec_plan *p = &w->plan;
    w->kernels = wte__kernels_get();
    if (p->o.checkpoint) {
        w->checkpoint = wte__strdup(p->o.allocator, p->o.checkpoint);
        if (!w->checkpoint) return wte__no_memory(err, strlen(p->o.checkpoint) + 1, "a path");
    }
    WTE_TRY(make_tables(w, err));
    w->nothing = loss_of_nothing(w);
    WTE_TRY(make_workers(w, err));
    WTE_TRY(make_matrix(w, p->in_rows, &w->in_block, &w->in_bytes, &w->in, err));
    WTE_TRY(make_matrix(w, p->out_rows, &w->out_block, &w->out_bytes, &w->out, err));
    WTE_TRY(set_values(w, err));
    return p->o.resume ? wte__wordvec_resume(w, err) : WTE_OK;
}

wte_status wte_wordvec_create(const wte_corpus *corpus, const wte_wordvec_options *opt,
                              wte_wordvec **out, wte_error *err)
{
    wte__wordvec_plan plan;
    WTE_TRY(wte__need(out, "wte_wordvec_create: out", err));
    *out = NULL;
    WTE_TRY(wte__need(corpus, "wte_wordvec_create: corpus", err));
    WTE_TRY(wte__wordvec_plan_make(&plan, corpus, opt, err));
    wte_wordvec *w = wte__alloc_zeroed(plan.o.allocator, sizeof *w);
    if (!w) return wte__no_memory(err, sizeof *w, "word vectors");
    w->plan = plan;
    atomic_init(&w->done, 0);
    const wte_status status = make_words(w, err);
    if (status == WTE_OK)
        *out = w;
    else
        wte_wordvec_free(w);
    return status;
}

/* Results -------------------------------------------------------------------------------------- */

static wte_status read_words(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte_wordvec *w = ctx;
    const size_t stride = w->plan.stride, dim = (size_t)w->plan.o.dim;
    float *row = wte__alloc_array(w->plan.o.allocator, stride, sizeof *row), *to = out;
    if (!row) return wte__no_memory(err, stride * sizeof *row, "a row");
    for (size_t i = 0; i < n; i++, to += dim) {
        const uint32_t id = (uint32_t)ids[i];
        wte__learn_rows job = { w->in, stride, stride, NULL, 0, NULL };
        job.n = wte__wordvec_rows_of(w, &id, &job.rows);
        w->kernels->learn_mean(&job, row);
        memcpy(to, row, dim * sizeof *row);
    }
    wte__free(w->plan.o.allocator, row, stride * sizeof *row);
    return WTE_OK;
}

void wte_wordvec_vectors(const wte_wordvec *w, wte_row_source *out)
{
    if (out) memset(out, 0, sizeof *out);
    if (!w || !out) return;
    *out = (wte_row_source){ .rows = w->plan.rows, .cols = w->plan.o.dim, .dtype = WTE_F32 };
    if (w->tables.gram_end) {
        out->read_rows = read_words;
        out->ctx = (void *)(uintptr_t)w; /* a callback's context is not const, but is not changed */
        return;
    }
    out->data = w->in;
    out->row_bytes = w->plan.stride * sizeof(float);
}

void wte_wordvec_output_vectors(const wte_wordvec *w, wte_row_source *out)
{
    if (out) memset(out, 0, sizeof *out);
    if (!w || !out) return;
    *out = (wte_row_source){ .rows = w->plan.out_rows, .cols = w->plan.o.dim, .dtype = WTE_F32 };
    out->data = w->out;
    out->row_bytes = w->plan.stride * sizeof(float);
}
