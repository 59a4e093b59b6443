/* The copying half of a lookup: blocks of ids, shared among threads. A block's place in the output
 * follows from its number, so the result is the same for any number of threads. */
#include "lookup/gather.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"
#include "num/kernels.h"

/* Output of one block: so much that handing blocks to threads costs nothing beside the copying. */
#define BLOCK_BYTES ((size_t)1 << 20)
/* A block has at least so many ids, as it begins without prefetched rows. */
#define BLOCK_IDS ((size_t)64)
/* Less output than this is copied faster than a second thread wakes up. */
#define SHARED_BYTES ((uint64_t)256 << 10)
/* A mapped file is read through its map for fewer ids than this. For more, one pread a row costs
 * less than the page faults of a fresh map (2048 rows of 16 KiB: 9 ms against 50). */
#define VIEW_IDS ((uint64_t)64)
/* Output larger than this is written past the caches. Measured with rows of 512 bytes to 16 KiB and
 * an output that is read back at once: up to 16 MiB plain stores win by 6 to 40 %, as the rows then
 * are still in the last-level cache; from 32 MiB streaming stores win. */
#define STREAM_BYTES ((uint64_t)16 << 20)
/* Scratch of one thread, for rows that are read and then converted or spread out. */
#define SCRATCH_BYTES ((size_t)256 << 10)

typedef struct sharing {
    const wte__gather_job *job;
    bool from_view; /* else through read_rows */
    bool in_place;  /* read_rows writes straight into the output */
    bool convert;   /* the output type is another one */
    bool stream;    /* write past the caches */
    uint32_t block; /* ids a block */
    /* scratch: a piece of slot_rows rows for each thread */
    uint8_t *scratch;
    size_t slot_rows;
} sharing;

/* One row in its stored type into the output. */
static wte_status put_row(const sharing *s, const void *row, uint8_t *out, wte_error *err)
{
    const wte__gather_job *j = s->job;
    if (s->convert)
        return wte_convert(j->rows->dtype, row, j->out_type, out, (size_t)j->rows->cols, NULL, err);
    memcpy(out, row, j->out_bytes);
    return WTE_OK;
}

static wte_status rows_of_view(const sharing *s, const uint64_t *row, size_t n, uint8_t *out,
                               wte_error *err)
{
    const wte__gather_job *j = s->job;
    const uint8_t *data = j->rows->data;
    if (!s->convert) {
        wte__kernels_get()->gather_rows(out, j->out_stride, data, (size_t)j->rows->row_bytes, row,
                                        n, j->out_bytes, s->stream);
        return WTE_OK;
    }
    for (size_t i = 0; i < n; i++)
        WTE_TRY(put_row(s, data + row[i] * j->rows->row_bytes, out + i * j->out_stride, err));
    return WTE_OK;
}

/* Rows of a reader, by way of the scratch piece that the caller holds. */
static wte_status rows_of_reader(const sharing *s, const uint64_t *row, size_t n, uint8_t *out,
                                 uint8_t *scratch, wte_error *err)
{
    const wte__gather_job *j = s->job;
    for (size_t first = 0; first < n; first += s->slot_rows) {
        const size_t some = n - first < s->slot_rows ? n - first : s->slot_rows;
        WTE_TRY(j->rows->read_rows(j->rows->ctx, row + first, some, scratch, err));
        for (size_t i = 0; i < some; i++)
            WTE_TRY(put_row(s, scratch + i * j->in_bytes, out + (first + i) * j->out_stride, err));
    }
    return WTE_OK;
}

/* n rows, none of them a zero row. */
static wte_status copy_run(sharing *s, uint32_t slot, const uint64_t *row, size_t n, uint8_t *out,
                           wte_error *err)
{
    const wte_rows *rows = s->job->rows;
    if (s->from_view) return rows_of_view(s, row, n, out, err);
    if (s->in_place) return rows->read_rows(rows->ctx, row, n, out, err);
    return rows_of_reader(s, row, n, out, s->scratch + slot * s->slot_rows * s->job->in_bytes, err);
}

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
    uint64_t row[WTE__IDS_BLOCK];
    wte__ids_rows(j->ids, first, n, &j->rules, j->zeros, row);
    if (!j->zeros) return copy_run(s, slot, row, n, out, err);
    for (uint32_t i = 0, run; i < n; i += run) {
        run = run_length(row, i, n);
        if (row[i] != WTE__ZERO_ROW) {
            WTE_TRY(copy_run(s, slot, row + i, run, out + i * j->out_stride, err));
            continue;
        }
        for (uint32_t k = i; k < i + run; k++) memset(out + k * j->out_stride, 0, j->out_bytes);
    }
    return WTE_OK;
}

static uint32_t ids_of_block(size_t row_bytes)
{
    const size_t fits = BLOCK_BYTES / row_bytes;
    if (fits < BLOCK_IDS) return BLOCK_IDS;
    return fits < WTE__IDS_BLOCK ? (uint32_t)fits : WTE__IDS_BLOCK;
}

wte_status wte__gather(const wte__gather_job *job, wte_error *err)
{
    const wte_rows *rows = job->rows;
    sharing s = { .job = job };
    wte_pool *pool = job->ids.count < SHARED_BYTES / job->out_bytes ? NULL : job->pool;
    size_t scratch_bytes = 0;
    s.from_view = rows->data && (!rows->read_rows || job->ids.count < VIEW_IDS);
    s.convert = job->out_type != rows->dtype;
    s.stream = job->ids.count > STREAM_BYTES / job->out_bytes;
    s.in_place = !s.convert && job->out_stride == job->out_bytes;
    s.block = ids_of_block(job->out_bytes);
    const uint64_t n_blocks = job->ids.count / s.block + (job->ids.count % s.block != 0);
    if (!s.from_view && !s.in_place) {
        s.slot_rows = SCRATCH_BYTES / job->in_bytes ? SCRATCH_BYTES / job->in_bytes : 1;
        if (s.slot_rows > s.block) s.slot_rows = s.block;
        scratch_bytes = wte_pool_threads(pool) * s.slot_rows * job->in_bytes;
        s.scratch = wte__alloc(job->allocator, scratch_bytes);
        if (!s.scratch) return wte__no_memory(err, scratch_bytes, "rows read from a file");
    }
    const wte_status status = wte__parallel_try(pool, n_blocks, copy_block, &s, err);
    wte__free(job->allocator, s.scratch, scratch_bytes);
    return status;
}
