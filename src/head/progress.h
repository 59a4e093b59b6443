/* Progress of a call of the head. Private to this room. */
#ifndef WTE_SRC_HEAD_TOLD_H
#define WTE_SRC_HEAD_TOLD_H
#include <wte/base.h>

/* In products of a hidden vector and a row, over all passes. */
typedef struct wte__progress_state {
    const wte_progress *progress; /* NULL = not reported */
    uint64_t done, total;
} wte__progress_state;

/* Advance progress by `more`. E_CANCELLED when the caller stops the call. t may be NULL. */
wte_status wte__progress_advance(wte__progress_state *t, uint64_t more, wte_error *err);
/* wte__parallel_try for n chunks of `amount` in all, in rounds when progress is reported. */
wte_status wte__progress_run(wte__progress_state *t, uint64_t amount, wte_pool *pool, uint64_t n,
                             wte_status (*work)(void *ctx, uint64_t i, uint32_t slot,
                                                wte_error *err),
                             void *ctx, wte_error *err);
#endif
