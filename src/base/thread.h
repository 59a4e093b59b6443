/* A parallel loop over a pool. */
#ifndef WTE_SRC_BASE_THREAD_H
#define WTE_SRC_BASE_THREAD_H
#include <wte/base.h>
/* Call work(ctx, i) once for every i < n, spread over the pool's threads (and the caller's);
 * returns when all are done. Each thread begins with its own share of consecutive chunks, the same
 * in every call with this n, and goes on with what others have left; a result must not depend on
 * which thread ran which. pool NULL or n < 2: plain loop. work must not call wte__parallel on the
 * same pool. */
void wte__parallel(wte_pool *pool, uint64_t n, void (*work)(void *ctx, uint64_t i), void *ctx);

/* The same for work that can fail, and that has a piece of scratch for each thread: `slot` is below
 * wte_pool_n_threads(pool), and no two calls that run at the same time have the same. After a
 * failure later chunks are left out; what comes back is the failure of the lowest chunk, so that
 * the error too does not depend on the number of threads. */
wte_status wte__parallel_try(wte_pool *pool, uint64_t n,
                             wte_status (*work)(void *ctx, uint64_t i, uint32_t slot,
                                                wte_error *err),
                             void *ctx, wte_error *err);

/* Seconds on a clock that only goes forward, from some moment on. Never for results. */
double wte__seconds(void);
#endif
