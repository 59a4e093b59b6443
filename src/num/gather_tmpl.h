/* Row gathering with software prefetch, for any vector width. An instruction set's file defines
 *
 *     static inline void copy_line(char *to, const char *from, bool stream)      64 bytes
 *
 * and then includes this and names GATHER_KERNEL. Everything here is static, so that no code of one
 * instruction set can be linked into another's; and inlined, so that `stream` is a constant in the
 * loops: their speed is the number of loads that the processor has under way, and every other
 * instruction takes the place of one. */
#ifndef WTE_SRC_NUM_GATHER_H
#define WTE_SRC_NUM_GATHER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GATHER_INLINE static inline __attribute__((always_inline))

#define GATHER_LINE ((size_t)64) /* of the caches */
/* Long rows are copied, and prefetched, in blocks of this size. */
#define GATHER_BLOCK ((size_t)256)
/* Bytes between what is prefetched and what is copied. Measured from 4 to 8 KiB this is best, or
 * within 3 % of it, for rows of 512 bytes, 3 KiB and 16 KiB. */
#define GATHER_AHEAD ((size_t)6144)
/* Up to here rows are prefetched as wholes, some rows ahead; above, block by block. */
#define GATHER_SHORT ((size_t)1024)

typedef struct gather_job {
    char *out;
    size_t out_stride;
    const char *table;
    size_t table_stride;
    const uint64_t *rows;
    size_t n, row_bytes; /* neither is 0 */
} gather_job;

GATHER_INLINE const char *gather_row(const gather_job *job, size_t i)
{
    return job->table + job->rows[i] * job->table_stride;
}

/* Streaming stores want whole, aligned lines: the bytes before the first are written plainly. */
GATHER_INLINE size_t gather_head(const char *to, size_t bytes, bool stream)
{
    const size_t head = stream ? -(uintptr_t)to % GATHER_LINE : 0;
    return head < bytes ? head : bytes;
}

GATHER_INLINE void gather_short_rows(const gather_job *job, bool stream)
{
    const size_t bytes = job->row_bytes, lines = (bytes + GATHER_LINE - 1) / GATHER_LINE;
    const size_t ahead = GATHER_AHEAD / GATHER_LINE / lines;
    for (size_t i = 0; i < job->n; i++) {
        const char *from = gather_row(job, i);
        const char *next = job->n - i > ahead ? gather_row(job, i + ahead) : from;
        char *to = job->out + i * job->out_stride;
        size_t at = gather_head(to, bytes, stream);
        if (at) memcpy(to, from, at);
        __builtin_prefetch(next + bytes - 1); /* as in gather_next */
        for (; bytes - at >= GATHER_LINE; at += GATHER_LINE, next += GATHER_LINE) {
            __builtin_prefetch(next);
            copy_line(to + at, from + at, stream);
        }
        if (at == bytes) continue;
        __builtin_prefetch(next);
        memcpy(to + at, from + at, bytes - at);
    }
}

/* The block that is prefetched next. It runs ahead of the block that is copied and on into the rows
 * that follow, which no hardware prefetcher can know. */
typedef struct gather_cursor {
    size_t row;    /* index into the job's rows */
    size_t offset; /* of the block in that row */
} gather_cursor;

/* The block to prefetch, and move on. The last one of a row ends where the row ends, so that
 * nothing else is fetched; after the last row it is that row again. */
GATHER_INLINE const char *gather_next(const gather_job *job, gather_cursor *cursor)
{
    const char *row = gather_row(job, cursor->row);
    const size_t offset = cursor->offset;
    if (job->row_bytes - offset > GATHER_BLOCK) {
        cursor->offset = offset + GATHER_BLOCK;
        return row + offset;
    }
    __builtin_prefetch(row + job->row_bytes - 1); /* a row that is not aligned has one line more */
    cursor->offset = 0;
    if (cursor->row + 1 < job->n) cursor->row++;
    return row + job->row_bytes - GATHER_BLOCK;
}

GATHER_INLINE void gather_prefetch(const char *block)
{
    for (size_t line = 0; line < GATHER_BLOCK; line += GATHER_LINE)
        __builtin_prefetch(block + line);
}

/* Mixed line by line: prefetching the whole block before copying measured some 10 % slower. */
GATHER_INLINE void gather_copy_block(char *to, const char *from, const char *next, bool stream)
{
    __builtin_prefetch(next);
    copy_line(to, from, stream);
    __builtin_prefetch(next + GATHER_LINE);
    copy_line(to + GATHER_LINE, from + GATHER_LINE, stream);
    __builtin_prefetch(next + 2 * GATHER_LINE);
    copy_line(to + 2 * GATHER_LINE, from + 2 * GATHER_LINE, stream);
    __builtin_prefetch(next + 3 * GATHER_LINE);
    copy_line(to + 3 * GATHER_LINE, from + 3 * GATHER_LINE, stream);
}

GATHER_INLINE void gather_long_rows(const gather_job *job, bool stream)
{
    const size_t bytes = job->row_bytes, blocks = (bytes + GATHER_BLOCK - 1) / GATHER_BLOCK;
    gather_cursor cursor = { 0, 0 };
    for (size_t i = 0; i < GATHER_AHEAD / GATHER_BLOCK; i++)
        gather_prefetch(gather_next(job, &cursor));
    for (size_t i = 0; i < job->n; i++) {
        const char *from = gather_row(job, i), *const end = from + bytes;
        char *to = job->out + i * job->out_stride;
        const size_t head = gather_head(to, bytes, stream);
        if (head) memcpy(to, from, head);
        to += head;
        from += head;
        for (; (size_t)(end - from) >= GATHER_BLOCK; to += GATHER_BLOCK, from += GATHER_BLOCK)
            gather_copy_block(to, from, gather_next(job, &cursor), stream);
        /* What is left is less than a block; the cursor moves by all blocks of a row for each row,
         * or the distance would shrink. */
        for (size_t b = (bytes - head) / GATHER_BLOCK; b < blocks; b++)
            gather_prefetch(gather_next(job, &cursor));
        for (; (size_t)(end - from) >= GATHER_LINE; to += GATHER_LINE, from += GATHER_LINE)
            copy_line(to, from, stream);
        if (from < end) memcpy(to, from, (size_t)(end - from));
    }
}

GATHER_INLINE void gather_any_rows(const gather_job *job, bool stream)
{
    if (job->row_bytes <= GATHER_SHORT)
        gather_short_rows(job, stream);
    else
        gather_long_rows(job, stream);
}

/* Lines that are written in parts are slow to stream: rows of 100 bytes, close together, took two
 * to three times as long; from 300 bytes on the whole lines among them outweigh that. */
static inline bool gather_can_stream(const gather_job *job)
{
    const bool aligned = (((uintptr_t)job->out | job->out_stride) & (GATHER_LINE - 1)) == 0;
    return aligned || job->row_bytes > GATHER_BLOCK;
}

GATHER_INLINE void copy_lines_past(char *to, const char *from, size_t bytes)
{
    const size_t head = gather_head(to, bytes, true);
    size_t at = head;
    if (head) memcpy(to, from, head);
    for (; bytes - at >= GATHER_LINE; at += GATHER_LINE) copy_line(to + at, from + at, true);
    if (at < bytes) memcpy(to + at, from + at, bytes - at);
}

#define COPY_PAST_KERNEL(isa, fence)                                                               \
    static void copy_nontemporal_##isa(void *out, const void *from, size_t bytes, bool last)       \
    {                                                                                              \
        copy_lines_past(out, from, bytes);                                                         \
        if (last) fence;                                                                           \
    }

/* fence: orders streaming stores before what follows, which nothing else does */
#define GATHER_KERNEL(isa, fence)                                                                  \
    static void gather_rows_##isa(void *out, size_t out_stride, const void *table,                 \
                                  size_t table_stride, const uint64_t *rows, size_t n,             \
                                  size_t row_bytes, bool stream)                                   \
    {                                                                                              \
        const gather_job job = { out, out_stride, table, table_stride, rows, n, row_bytes };       \
        if (n == 0 || row_bytes == 0) return;                                                      \
        if (stream && gather_can_stream(&job)) {                                                   \
            gather_any_rows(&job, true);                                                           \
            fence;                                                                                 \
        } else {                                                                                   \
            gather_any_rows(&job, false);                                                          \
        }                                                                                          \
    }
#endif
