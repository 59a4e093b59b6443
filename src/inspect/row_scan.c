/* One pass over all rows of a table. Rows in memory are read where they lie; rows of a file are
 * read in large blocks into buffers that each lane reuses (a walk through a map costs several times
 * as much). Nothing is decided here: the visitor does that. */
#include "inspect/row_scan.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"

#define BLOCK_BYTES      (256u << 10) /* raw and widened block of a lane stay in the L2 cache */
#define LONG_PASS        256u /* blocks: then a lane reads into a huge page, with fewer TLB misses */
#define HUGE_PAGE        (2u << 20)
#define BLOCKS_PER_ROUND 256u /* of one lane, between two calls of progress */

typedef struct lane {
    void *raw, *wide;
    wte_error error;
    wte_status status;
} lane;

typedef struct run {
    const wte__row_scan *pass;
    lane *lanes;
    uint32_t n_lanes;
    size_t element, row_bytes;
    size_t wide_bytes;            /* of one row widened; 0 = the stored type is what is wanted */
    size_t block_rows, raw_bytes; /* raw_bytes: of a lane's buffer */
    uint64_t n_blocks, round;     /* the round ends before this block */
    atomic_uint_fast64_t next;    /* block that no lane has taken */
} run;

/* Rows that lie in memory, tight and aligned, need no copy. */
static const void *in_place(const run *r, uint64_t first)
{
    const wte_row_source *rows = r->pass->rows;
    if (!rows->data || rows->read_rows || rows->read_block || rows->row_bytes != r->row_bytes)
        return NULL;
    if ((uintptr_t)rows->data % r->element != 0) return NULL;
    return (const uint8_t *)rows->data + first * r->row_bytes;
}

static wte_status visit_block(run *r, uint32_t lane_number, uint64_t block)
{
    const wte_row_source *rows = r->pass->rows;
    lane *l = &r->lanes[lane_number];
    const uint64_t first = block * r->block_rows, left = rows->rows - first;
    const size_t n = left < r->block_rows ? (size_t)left : r->block_rows;
    const void *raw = in_place(r, first);
    if (!raw) {
        WTE_TRY(wte_row_source_read_block(rows, first, n, l->raw, &l->error));
        raw = l->raw;
    }
    const void *values = raw;
    if (r->wide_bytes) {
        WTE_TRY(wte_convert(rows->dtype, raw, r->pass->wide, l->wide, n * (size_t)rows->cols, NULL,
                            &l->error));
        values = l->wide;
    }
    r->pass->visit(r->pass->ctx, lane_number, first, n, raw, values);
    return WTE_OK;
}

/* Lanes take the next block when they are done with one: a thread that the system holds up does not
 * hold up the others. */
static void work(void *ctx, uint64_t lane_number)
{
    run *r = ctx;
    lane *l = &r->lanes[lane_number];
    while (l->status == WTE_OK) {
        const uint64_t block = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
        if (block >= r->round) return;
        l->status = visit_block(r, (uint32_t)lane_number, block);
    }
}

static wte_status between_rounds(const run *r, wte_error *err)
{
    const wte__row_scan *pass = r->pass;
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        if (r->lanes[i].status == WTE_OK) continue;
        if (err) *err = r->lanes[i].error;
        return r->lanes[i].status;
    }
    uint64_t done = r->round * r->block_rows;
    if (done > pass->rows->rows) done = pass->rows->rows;
    if (pass->progress && !pass->progress->report(pass->progress->ctx, done, pass->rows->rows))
        return wte__fail(err, WTE_E_CANCELLED, done,
                         "stopped after %" PRIu64 " of %" PRIu64 " rows", done, pass->rows->rows);
    return WTE_OK;
}

static bool lanes_create(run *r)
{
    const wte_allocator *a = r->pass->allocator;
    const bool copies = !in_place(r, 0);
    r->lanes = wte__alloc_zeroed(a, r->n_lanes * sizeof *r->lanes);
    if (!r->lanes) return false;
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        lane *l = &r->lanes[i];
        if (copies && !(l->raw = wte__alloc(a, r->raw_bytes))) return false;
        if (r->wide_bytes && !(l->wide = wte__alloc(a, r->block_rows * r->wide_bytes)))
            return false;
    }
    return true;
}

static void lanes_free(run *r)
{
    const wte_allocator *a = r->pass->allocator;
    for (uint32_t i = 0; r->lanes && i < r->n_lanes; i++) {
        wte__free(a, r->lanes[i].raw, r->raw_bytes);
        wte__free(a, r->lanes[i].wide, r->block_rows * r->wide_bytes);
    }
    wte__free(a, r->lanes, r->n_lanes * sizeof *r->lanes);
}

wte_status wte__row_scan_run(const wte__row_scan *pass, wte_error *err)
{
    const wte_row_source *rows = pass->rows;
    run r = { .pass = pass, .element = wte_dtype_bytes(rows->dtype) };
    uint64_t row_bytes, wide_bytes;
    if (!wte__mul_u64(rows->cols, r.element, &row_bytes) || row_bytes > SIZE_MAX / 2 ||
        !wte__mul_u64(rows->cols, wte_dtype_bytes(pass->wide), &wide_bytes))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "a row of %" PRIu64 " numbers is too long",
                         rows->cols);
    if (rows->rows == 0) return WTE_OK;
    r.row_bytes = (size_t)row_bytes;
    r.wide_bytes = rows->dtype == pass->wide ? 0 : (size_t)wide_bytes;
    r.block_rows = BLOCK_BYTES / (r.wide_bytes > r.row_bytes ? r.wide_bytes : r.row_bytes);
    if (r.block_rows == 0) r.block_rows = 1;
    if (r.block_rows > rows->rows) r.block_rows = (size_t)rows->rows;
    r.n_blocks = (rows->rows - 1) / r.block_rows + 1;
    r.raw_bytes = r.block_rows * r.row_bytes;
    if (r.n_blocks >= LONG_PASS && r.raw_bytes < HUGE_PAGE) r.raw_bytes = HUGE_PAGE;
    r.n_lanes = wte_pool_n_threads(pass->pool);
    wte_status status = WTE_OK;
    if (!lanes_create(&r)) {
        status = wte__no_memory(err, r.raw_bytes + r.block_rows * r.wide_bytes, "a block of rows");
        goto done;
    }
    while (status == WTE_OK && r.round < r.n_blocks && !(pass->enough && pass->enough(pass->ctx))) {
        const uint64_t left = r.n_blocks - r.round, most = (uint64_t)BLOCKS_PER_ROUND * r.n_lanes;
        atomic_init(&r.next, r.round);
        r.round += left < most ? left : most;
        wte__parallel(pass->pool, r.n_lanes, work, &r);
        status = between_rounds(&r, err);
    }
done:
    lanes_free(&r);
    return status;
}
