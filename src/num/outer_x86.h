/* Sums of outer products, what AVX2 and AVX-512 share: columns are done 64 at a time; of these, the
 * rows of b are copied side by side, so that they stay in the first-level cache and meet no other
 * in it, and serve all rows of c, six at a time. Static, like all that sets share. */
#ifndef WTE_SRC_NUM_OUTER_X86_H
#define WTE_SRC_NUM_OUTER_X86_H
#include <immintrin.h>
#include <string.h>

#include "num/kernels.h"

#define OUTER_INLINE static inline __attribute__((always_inline))
#define OUTER_COLS   64u
#define OUTER_ROWS   6u
/* Sums live in registers only where loops over them are unrolled. */
#if defined(__clang__)
#define OUTER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define OUTER_UNROLL _Pragma("GCC unroll 8")
#endif

typedef struct outer_panel {
    _Alignas(64) float b[WTE__OUTER_STEPS * OUTER_COLS];
    size_t cols; /* that are meant; zeros behind them */
} outer_panel;

/* c has n_i rows from `c` on, a as in the job. */
typedef void (*outer_block)(const wte__outer *job, const outer_panel *panel, const float *a,
                            float *c, size_t n_i);

OUTER_INLINE void outer_pack(const wte__outer *job, size_t col, outer_panel *panel)
{
    const float *from = job->b + col;
    panel->cols = job->cols - col < OUTER_COLS ? job->cols - col : OUTER_COLS;
    if (panel->cols == OUTER_COLS) {
        for (size_t s = 0; s < job->steps; s++)
            memcpy(panel->b + s * OUTER_COLS, from + s * job->b_stride, OUTER_COLS * sizeof *from);
        return;
    }
    memset(panel->b, 0, job->steps * OUTER_COLS * sizeof *panel->b);
    for (size_t s = 0; s < job->steps; s++)
        memcpy(panel->b + s * OUTER_COLS, from + s * job->b_stride, panel->cols * sizeof *from);
}

/* Fetches are spread over the blocks. */
OUTER_INLINE void outer_run(const wte__outer *job, outer_block block)
{
    outer_panel panel;
    const size_t blocks = (job->rows + OUTER_ROWS - 1) / OUTER_ROWS;
    const size_t panels = (job->cols + OUTER_COLS - 1) / OUTER_COLS;
    const size_t lines = job->fetch_bytes / 64;
    if (job->steps == 0 || blocks == 0 || panels == 0) return;
    const size_t at_once = lines / (blocks * panels) + 1;
    size_t fetched = 0;
    for (size_t col = 0; col < job->cols; col += OUTER_COLS) {
        outer_pack(job, col, &panel);
        for (size_t i = 0; i < job->rows; i += OUTER_ROWS) {
            const size_t n_i = job->rows - i < OUTER_ROWS ? job->rows - i : OUTER_ROWS;
            for (size_t n = 0; n < at_once && fetched < lines; n++, fetched++)
                _mm_prefetch((const char *)job->fetch + fetched * 64, _MM_HINT_T1);
            block(job, &panel, job->a + i * job->a_row, job->c + i * job->c_stride + col, n_i);
        }
    }
}
#endif
