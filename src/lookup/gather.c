/* The copying half of a lookup: blocks of ids, shared among threads. A block's place in the output
 * follows from its number, so the result is the same for any number of threads. */
#include "lookup/gather.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"

/* Maximum output of one block: enough that scheduling a block is cheap relative to copying it. */
#define BLOCK_BYTES ((size_t)1 << 20)
/* Minimum ids of a block: its first rows are not prefetched. */
#define BLOCK_IDS ((size_t)64)
/* Less output than this is copied faster than a second thread wakes up. */
#define SHARED_BYTES ((uint64_t)256 << 10)
/* A mapped file is read through its map for fewer ids than this. For more, one pread a row costs
 * less than the page faults of a fresh map (2048 rows of 16 KiB: 9 ms against 50). */
#define VIEW_IDS ((uint64_t)64)
/* Output larger than this uses non-temporal stores. Measured with rows of 512 bytes to 16 KiB and
 * an output that is read back at once: up to 16 MiB plain stores win by 6 to 40 %, since the rows
 * are still in the last-level cache; from 32 MiB non-temporal stores win. */
#define STREAM_BYTES ((uint64_t)16 << 20)
/* From this size on, several threads use non-temporal stores for all blocks. Below it they leave
 * STREAM_BYTES in the caches, in evenly spread blocks: cores that share a last-level cache share
 * its memory bandwidth too, and one core with non-temporal stores takes all of it (docs/kernels.md
 * has the figures). */
#define SHARED_STREAM_BYTES ((uint64_t)64 << 20)

typedef struct sharing {
    const wte__gather_job *job;
    wte__fetch fetch;
    uint32_t block; /* ids a block */
    uint64_t n_blocks;
    uint64_t
        kept; /* blocks, evenly spread, left in the caches; the others use non-temporal stores */
    uint8_t *scratch; /* a piece for each thread */
} sharing;

/* How many rows from i on are alike: all to be copied, or all zero. */
static uint32_t run_length(const uint64_t *row, uint32_t i, uint32_t n)
{
    const bool zero = row[i] == WTE__ZERO_ROW;
    uint32_t end = i + 1;
    while (end < n && (row[end] == WTE__ZERO_ROW) == zero) end++;
    return end - i;
}

static wte_status copy_block(void *ctx, uint64_t block, uint32_t slot, wte_error *err)
{
    sharing *s = ctx;
    const wte__gather_job *j = s->job;
    const uint64_t first = block * s->block, left = j->ids.count - first;
    const uint32_t n = left < s->block ? (uint32_t)left : s->block;
    uint8_t *out = j->out + first * j->out_stride;
    uint8_t *scratch = s->scratch ? s->scratch + slot * s->fetch.scratch_bytes : NULL;
    uint64_t row[WTE__IDS_BLOCK + WTE__IDS_AHEAD];
    wte__fetch fetch = s->fetch;
    fetch.stream = block * s->kept % s->n_blocks >= s->kept;
    wte__ids_rows(j->ids, first, n, &j->rules, j->zeros, row);
    if (!j->zeros) {
        const uint32_t ahead = left - n < WTE__IDS_AHEAD ? (uint32_t)(left - n) : WTE__IDS_AHEAD;
        wte__ids_rows(j->ids, first + n, ahead, &j->rules, false, row + n);
        return wte__fetch_rows(&fetch, row, n, n + ahead, out, j->out_stride, scratch, err);
    }
    for (uint32_t i = 0, run; i < n; i += run) {
        uint8_t *to = out + i * j->out_stride;
        run = run_length(row, i, n);
        if (row[i] != WTE__ZERO_ROW)
            WTE_TRY(wte__fetch_rows(&fetch, row + i, run, run, to, j->out_stride, scratch, err));
        else
            for (uint32_t k = 0; k < run; k++) memset(to + k * j->out_stride, 0, j->out_bytes);
    }
    return WTE_OK;
}

/* Ids of a block: blocks are alike and as many for each thread, unless that makes them small. */
static uint32_t ids_of_block(const wte__gather_job *job, uint32_t threads)
{
    const size_t fits = BLOCK_BYTES / job->out_bytes;
    if (fits < BLOCK_IDS) return BLOCK_IDS;
    const uint64_t most = fits < WTE__IDS_BLOCK ? fits : WTE__IDS_BLOCK;
    const uint64_t rounds = (job->ids.count - 1) / (most * threads) + 1;
    const uint64_t even = (job->ids.count - 1) / (rounds * threads) + 1;
    return (uint32_t)(even < BLOCK_IDS ? BLOCK_IDS : even);
}

/* How many blocks are not streamed. */
static uint64_t blocks_kept(const sharing *s, uint32_t threads)
{
    const wte__gather_job *job = s->job;
    const uint64_t fit = STREAM_BYTES / job->out_bytes;
    if (job->ids.count <= fit) return s->n_blocks;
    return threads > 1 && job->ids.count <= SHARED_STREAM_BYTES / job->out_bytes ? fit / s->block
                                                                                 : 0;
}

bool wte__gather_views(const wte_row_source *rows, uint64_t n_ids)
{
    return rows->data && (!rows->read_rows || n_ids < VIEW_IDS);
}

wte_status wte__gather(const wte__gather_job *job, wte_error *err)
{
    sharing s = { .job = job };
    wte_pool *pool = job->ids.count < SHARED_BYTES / job->out_bytes ? NULL : job->pool;
    const uint32_t threads = wte_pool_n_threads(pool);
    s.fetch = (wte__fetch){ .rows = job->rows,
                            .out_type = job->out_type,
                            .scale = job->scale,
                            .limit = job->limit,
                            .from_view = wte__gather_views(job->rows, job->ids.count) };
    wte__fetch_init(&s.fetch, job->out_stride);
    s.block = ids_of_block(job, threads);
    s.n_blocks = (job->ids.count - 1) / s.block + 1;
    s.kept = blocks_kept(&s, threads);
    const size_t scratch_bytes = threads * s.fetch.scratch_bytes;
    if (scratch_bytes) {
        s.scratch = wte__alloc(job->allocator, scratch_bytes);
        if (!s.scratch) return wte__no_memory(err, scratch_bytes, "rows on their way");
    }
    const wte_status status = wte__parallel_try(pool, s.n_blocks, copy_block, &s, err);
    wte__free(job->allocator, s.scratch, scratch_bytes);
    return status;
}
