/* Sums of outer products, what AVX2 and AVX-512 share: columns are done 64 at a time; of these, the
 * rows of b lie or are copied side by side, so that they stay in the first-level cache and meet no
 * other in it, and serve all rows of c, six at a time. Static, like all that sets share. */
#ifndef WTE_SRC_NUM_OUTER_X86_H
#define WTE_SRC_NUM_OUTER_X86_H
#include <immintrin.h>
#include <string.h>

#include "num/kernels.h"

#define OUTER_INLINE static inline __attribute__((always_inline))
#define OUTER_COLS   WTE__OUTER_COLS
#define OUTER_ROWS   6u
/* Sums live in registers only where loops over them are unrolled. */
#if defined(__clang__)
#define OUTER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define OUTER_UNROLL _Pragma("GCC unroll 8")
#endif

typedef struct outer_panel {
    const float *b; /* rows of OUTER_COLS; zeros behind the columns that are meant */
    size_t cols;    /* that are meant */
    _Alignas(64) float copy[WTE__OUTER_STEPS * OUTER_COLS];
} outer_panel;

/* c has n_i rows from `c` on, a as in the job. */
typedef void (*outer_block)(const wte__outer *job, const outer_panel *panel, const float *a,
                            float *c, size_t n_i);

OUTER_INLINE void outer_pack(const wte__outer *job, size_t col, outer_panel *panel)
{
    const float *from = job->b + col;
    panel->cols = job->cols - col < OUTER_COLS ? job->cols - col : OUTER_COLS;
    panel->b = panel->copy;
    if (panel->cols == OUTER_COLS && job->b_stride == OUTER_COLS && (uintptr_t)from % 64 == 0) {
        panel->b = from;
        return;
    }
    if (panel->cols == OUTER_COLS) {
        for (size_t s = 0; s < job->steps; s++)
            memcpy(panel->copy + s * OUTER_COLS, from + s * job->b_stride,
                   OUTER_COLS * sizeof *from);
        return;
    }
    memset(panel->copy, 0, job->steps * OUTER_COLS * sizeof *panel->copy);
    for (size_t s = 0; s < job->steps; s++)
        memcpy(panel->copy + s * OUTER_COLS, from + s * job->b_stride, panel->cols * sizeof *from);
}

/* Share `number` of `shares` of what the caller will want, into the second-level cache. */
OUTER_INLINE void outer_fetch(const wte__outer *job, size_t number, size_t shares)
{
    for (size_t f = 0; f < WTE__OUTER_WANTED; f++) {
        const wte__wanted *some = job->wanted + f;
        const size_t end = some->n * (number + 1) / shares;
        for (size_t n = some->n * number / shares; n < end; n++)
            for (size_t line = 0; line < WTE__WANTED_BYTES; line += 64)
                _mm_prefetch((const char *)some->at + n * some->stride + line, _MM_HINT_T1);
    }
}

OUTER_INLINE void outer_run(const wte__outer *job, outer_block block)
{
    outer_panel panel;
    const size_t blocks = (job->rows + OUTER_ROWS - 1) / OUTER_ROWS;
    const size_t panels = (job->cols + OUTER_COLS - 1) / OUTER_COLS;
    if (job->steps == 0 || blocks == 0 || panels == 0) return;
    for (size_t col = 0; col < job->cols; col += OUTER_COLS) {
        outer_pack(job, col, &panel);
        for (size_t i = 0; i < job->rows; i += OUTER_ROWS) {
            const size_t n_i = job->rows - i < OUTER_ROWS ? job->rows - i : OUTER_ROWS;
            outer_fetch(job, col / OUTER_COLS * blocks + i / OUTER_ROWS, blocks * panels);
            block(job, &panel, job->a + i * job->a_row, job->c + i * job->c_stride + col, n_i);
        }
    }
}
#endif
