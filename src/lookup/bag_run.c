/* The reduction of bags. Bags are cut into chunks, which threads share, and these into pieces of so
 * many ids as fit into the first-level cache; a bag longer than a piece goes on in the next one
 * from what is in its row of the output. Each bag is thus one thread's, its members in order, and
 * nothing of the cutting shows in the result.
 *
 * Where a kernel reads the table as it is stored, it does so, and the ids too, if they are i64 and
 * all of them members; it finds the bad ones on its way. Else ids are judged, and rows are fetched
 * as f32, first. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"
#include "lookup/bag.h"
#include "lookup/gather.h"

/* Ids and bags of a piece, 45 KiB of stack. */
#define PIECE_IDS  2048u
#define PIECE_BAGS 512u
/* Ids of a piece that are not copied: their numbers fit into 32 bits. */
#define PIECE_IDS_IN_PLACE ((size_t)1 << 30)
/* Ids of a chunk: enough that scheduling a chunk is cheap relative to reading its rows. */
#define CHUNK_IDS ((uint64_t)8192)
/* Fewer bytes of rows than this are read faster than a second thread wakes up. */
#define SHARED_BYTES ((uint64_t)256 << 10)
/* Rows that are fetched at a time as f32, and results that are still to be rounded. */
#define FETCHED_BYTES ((size_t)256 << 10)
#define RESULT_BYTES  ((size_t)64 << 10)
/* A norm below this divides as if it were this, as PyTorch has it. */
#define LEAST_NORM 1e-12

typedef struct sharing {
    const wte__bag_job *job;
    size_t cols, row_bytes; /* of a row of f32 */
    bool direct;            /* kernels read the table */
    bool ids_in_place;      /* and the ids */
    bool judges;            /* kernels find bad ids; else all ids are known to be valid */
    wte__stored stored;
    wte__row_kernels kernels;
    wte__fetch fetch; /* when not direct */
    bool narrow;      /* results are made in scratch and rounded into the output */
    size_t piece_ids, piece_bags;
    uint64_t chunk_bags;
    /* scratch of a thread: rows fetched, the fetch's own, numbers of members, results */
    size_t fetched_bytes, traced_bytes, result_bytes, slot_bytes;
    uint8_t *scratch;
} sharing;

/* How far a chunk has come. */
typedef struct place {
    uint64_t bag, id;
    uint64_t taken; /* members of this bag before this id */
} place;

typedef struct piece {
    uint64_t row[PIECE_IDS + WTE__IDS_AHEAD]; /* of members, and of some that come later */
    uint64_t at[PIECE_IDS];                   /* their positions in ids, if some are missing */
    float weight[PIECE_IDS];
    uint32_t end[PIECE_BAGS]; /* of each bag among the members */
    float divisor[PIECE_BAGS];
    const uint64_t *rows; /* of members: the above, or ids in place */
    const float *weights; /* NULL, or one for each member */
    size_t n, known, n_bags, n_finished;
    uint64_t first_bag, first_id;
    bool go_on; /* the first bag has members already */
    uint8_t *out;
    size_t out_stride;
    uint32_t *max_at; /* numbers of members */
} piece;

/* Moves the members among ids from .. to - 1 of the piece up to the ones before them. */
static size_t close_up(const wte__bag_job *job, piece *p, size_t n, size_t from, size_t to,
                       uint64_t first_id)
{
    for (size_t i = from; i < to; i++) {
        const uint64_t row = p->row[i];
        p->row[n] = row;
        if (i < PIECE_IDS) {
            p->at[n] = first_id + i;
            if (job->o.weights) p->weight[n] = job->o.weights[first_id + i];
        }
        n += row != WTE__ZERO_ROW;
    }
    return n;
}

/* Note the end of the bag at `at` among the members. True when all of its ids are in. */
static bool end_bag(const sharing *s, piece *p, place *at, size_t n, bool finished)
{
    const wte__bag_job *job = s->job;
    const bool mean = job->o.mode == WTE_BAG_MEAN && finished && at->taken;
    p->end[p->n_bags] = (uint32_t)n;
    p->divisor[p->n_bags] = mean ? (float)at->taken : 1.0f;
    p->n_bags++;
    if (!finished) return false;
    if (job->o.sizes) job->o.sizes[at->bag] = at->taken;
    p->n_finished++;
    at->bag++;
    at->taken = 0;
    return true;
}

/* Rows and bags of the next ids, up to bag end_bag. */
static void next_piece(const sharing *s, place *at, uint64_t last_bag, piece *p)
{
    const wte__bag_job *job = s->job;
    const uint64_t first = at->id, end = wte__bag_begin(job, last_bag);
    const size_t n_ids = end - first < s->piece_ids ? (size_t)(end - first) : s->piece_ids;
    const uint64_t left = job->ids.count - first - n_ids;
    const bool look_on = s->ids_in_place || left < WTE__IDS_AHEAD;
    const size_t all = n_ids + (look_on ? (size_t)left : WTE__IDS_AHEAD);
    const bool gaps = job->some_missing && !s->ids_in_place;
    size_t n = 0, i = 0;
    p->n_bags = p->n_finished = 0;
    p->first_bag = at->bag;
    p->first_id = first;
    p->go_on = at->taken > 0;
    p->rows = p->row;
    if (s->ids_in_place)
        p->rows = (const uint64_t *)job->ids.data + first;
    else
        wte__ids_rows(job->ids, first, (uint32_t)all, &job->rules, job->some_missing, p->row);
    for (bool finished = true; finished && at->bag < last_bag && p->n_bags < s->piece_bags;) {
        const uint64_t bag_end = wte__bag_begin(job, at->bag + 1);
        const size_t stop = bag_end - first < n_ids ? (size_t)(bag_end - first) : n_ids;
        const size_t before = n;
        n = gaps ? close_up(job, p, n, i, stop, first) : stop;
        at->taken += n - before;
        i = stop;
        finished = end_bag(s, p, at, n, bag_end - first <= n_ids);
    }
    p->n = n;
    p->known = gaps ? close_up(job, p, n, i, all, first) : all;
    p->weights = !job->o.weights ? NULL : gaps ? p->weight : job->o.weights + first;
    at->id = first + i;
}

/* The numbers of members that were taken become positions in ids. */
static void put_positions(const sharing *s, const piece *p)
{
    for (size_t b = 0; b < p->n_bags; b++) {
        uint64_t *at = s->job->o.argmax + (p->first_bag + b) * s->cols;
        for (size_t c = 0; c < s->cols; c++) {
            const uint32_t m = p->max_at[b * s->cols + c];
            if (m != UINT32_MAX)
                at[c] = s->job->some_missing ? p->at[m] : p->first_id + m;
            else if (b || !p->go_on)
                at[c] = WTE_NO_INDEX;
        }
    }
}

static wte_status reduce(const sharing *s, const piece *p, const wte__stored *from, size_t known,
                         wte_error *err)
{
    const wte__bags job = { .from = *from,
                            .n_rows = s->judges ? s->job->rows->rows : UINT64_MAX,
                            .rows = p->rows,
                            .prefetch_end = known,
                            .ends = p->end,
                            .n_bags = p->n_bags,
                            .weights = p->weights,
                            .divisors = s->job->o.mode == WTE_BAG_MEAN ? p->divisor : NULL,
                            .out = p->out,
                            .out_stride = p->out_stride,
                            .max_at = p->max_at,
                            .max = s->job->o.mode == WTE_BAG_MAX,
                            .resume_first = p->go_on };
    if (!s->kernels.bags(&job)) /* the caller will look for it, and say more */
        return wte__fail(err, WTE_E_RANGE, WTE_NO_INDEX, "bags: an id changed while it was used");
    if (s->job->o.argmax && p->max_at) put_positions(s, p);
    return WTE_OK;
}

static wte_status reduce_piece(const sharing *s, piece *p, uint8_t *scratch, wte_error *err)
{
    if (s->direct) return reduce(s, p, &s->stored, p->known, err);
    WTE_TRY(wte__fetch_rows(&s->fetch, p->row, p->n, p->known, scratch, s->row_bytes,
                            scratch + s->fetched_bytes, err));
    wte__stored fetched = s->stored;
    fetched.table = fetched.codes = scratch;
    for (size_t i = 0; i < p->n; i++) p->row[i] = i;
    return reduce(s, p, &fetched, p->n, err);
}

/* Eight at a time, which compilers make vectors of. */
static void normalize(uint8_t *row, size_t cols)
{
    const double norm = wte__norm_f32(row, cols);
    const float by = (float)(norm < LEAST_NORM ? LEAST_NORM : norm);
    for (size_t c = 0, n; c < cols; c += n) {
        float x[8] = { 0 };
        n = cols - c < 8 ? cols - c : 8;
        memcpy(x, row + c * sizeof *x, n * sizeof *x);
        for (size_t k = 0; k < 8; k++) x[k] /= by;
        memcpy(row + c * sizeof *x, x, n * sizeof *x);
    }
}

/* What is left to do with the finished bags of a piece; the last one may go on. */
static wte_status finish_bags(const sharing *s, const piece *p, wte_error *err)
{
    const wte__bag_job *job = s->job;
    for (size_t b = 0; b < p->n_finished; b++) {
        uint8_t *row = p->out + b * p->out_stride;
        if (job->o.normalize) normalize(row, s->cols);
        if (s->narrow)
            WTE_TRY(wte_convert(WTE_F32, row, job->o.out_dtype,
                                job->out + (p->first_bag + b) * job->out_stride, s->cols, NULL,
                                err));
    }
    if (s->narrow && p->n_finished && p->n_finished < p->n_bags)
        memcpy(p->out, p->out + p->n_finished * p->out_stride, s->row_bytes);
    return WTE_OK;
}

static wte_status reduce_chunk(void *ctx, uint64_t chunk, uint32_t slot, wte_error *err)
{
    const sharing *s = ctx;
    const wte__bag_job *job = s->job;
    const uint64_t first = chunk * s->chunk_bags, left = job->n_bags - first;
    const uint64_t last = first + (left < s->chunk_bags ? left : s->chunk_bags);
    uint8_t *scratch = s->scratch ? s->scratch + slot * s->slot_bytes : NULL;
    uint8_t *results = s->narrow ? scratch + s->slot_bytes - s->result_bytes : NULL;
    uint8_t *traced = scratch ? scratch + s->slot_bytes - s->result_bytes - s->traced_bytes : NULL;
    place at = { first, wte__bag_begin(job, first), 0 };
    piece p;
    while (at.bag < last) {
        next_piece(s, &at, last, &p);
        if (s->cols == 0) continue;
        p.out = s->narrow ? results : job->out + p.first_bag * job->out_stride;
        p.max_at = job->o.argmax ? (uint32_t *)(void *)traced : NULL;
        p.out_stride = s->narrow ? s->row_bytes : job->out_stride;
        WTE_TRY(reduce_piece(s, &p, scratch, err));
        WTE_TRY(finish_bags(s, &p, err));
    }
    return WTE_OK;
}

/* Rows of f32 that a piece of scratch holds: from 1 to `most`. */
static size_t rows_in(size_t bytes, size_t cols, size_t most)
{
    const size_t rows = cols ? bytes / sizeof(float) / cols : most;
    return rows < most ? rows + (rows == 0) : most;
}

/* Kernels for the table itself, or for rows of it that are fetched. */
static void choose_way(sharing *s)
{
    const wte__bag_job *job = s->job;
    s->fetch = (wte__fetch){ .rows = job->rows,
                             .out_type = WTE_F32,
                             .scale = 1.0f,
                             .limit = job->limit,
                             .from_view = wte__gather_views(job->rows, job->ids.count) };
    wte__fetch_init(&s->fetch, s->row_bytes);
    s->direct = s->fetch.direct;
    s->stored = s->fetch.stored;
    s->kernels = s->fetch.kernels;
    if (!s->direct && job->rows->packed && job->o.max_norm == 0)
        s->direct = wte__stored_blocks(job->rows->packing, job->rows->cols, job->rows->packed,
                                       job->rows->packed_row_bytes, &s->stored, &s->kernels);
    s->judges =
        s->direct && job->o.bad_ids == WTE_BAD_ID_ERROR && !job->o.n_ignore_ids && !job->o.mask;
    if (s->direct) return;
    (void)wte__stored_plain(WTE_F32, s->cols, NULL, s->row_bytes, &s->stored, &s->kernels);
    s->piece_ids = rows_in(FETCHED_BYTES, s->cols, PIECE_IDS);
    s->fetched_bytes = (s->piece_ids * s->row_bytes + 63) / 64 * 64;
    s->slot_bytes = s->fetched_bytes + s->fetch.scratch_bytes;
}

/* Results that wait in scratch: those to be rounded, and the numbers of members. */
static void add_results(sharing *s)
{
    const bool traced = s->job->o.argmax && s->cols;
    if (!s->narrow && !traced) return;
    s->piece_bags = rows_in(RESULT_BYTES, s->cols, PIECE_BAGS);
    s->result_bytes = s->narrow ? s->piece_bags * s->row_bytes : 0;
    s->traced_bytes = traced ? s->piece_bags * s->row_bytes : 0; /* as many bytes as f32 */
    s->slot_bytes += s->result_bytes + s->traced_bytes;
}

wte_status wte__bag_run(wte__bag_job *job, wte_error *err)
{
    const size_t cols = (size_t)job->rows->cols;
    sharing s = { .job = job, .cols = cols, .row_bytes = cols * sizeof(float) };
    s.piece_ids = PIECE_IDS;
    s.piece_bags = PIECE_BAGS;
    s.narrow = job->o.out_dtype != WTE_F32;
    if (cols) choose_way(&s);
    add_results(&s);
    if (!s.judges) WTE_TRY(wte__bag_judge(job, err));
    s.ids_in_place = s.direct && !job->some_missing && job->ids.type == WTE_I64 &&
                     (uintptr_t)job->ids.data % sizeof(uint64_t) == 0;
    if (s.ids_in_place) s.piece_ids = PIECE_IDS_IN_PLACE;
    const uint64_t each = job->ids.count / job->n_bags + 1;
    s.chunk_bags = each < CHUNK_IDS ? CHUNK_IDS / each : 1;
    const uint64_t chunks = job->n_bags / s.chunk_bags + (job->n_bags % s.chunk_bags != 0);
    wte_pool *pool = job->ids.count < SHARED_BYTES / (s.row_bytes + 1) ? NULL : job->o.pool;
    const size_t scratch_bytes = wte_pool_n_threads(pool) * s.slot_bytes;
    if (scratch_bytes) {
        s.scratch = wte__alloc(job->o.allocator, scratch_bytes);
        if (!s.scratch) return wte__no_memory(err, scratch_bytes, "rows of bags");
    }
    const wte_status status = wte__parallel_try(pool, chunks, reduce_chunk, &s, err);
    wte__free(job->o.allocator, s.scratch, scratch_bytes);
    if (status == WTE_E_RANGE && s.judges) WTE_TRY(wte__bag_judge(job, err));
    return status;
}
