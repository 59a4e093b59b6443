/* A parallel loop over a pool. */
#ifndef WTE_SRC_BASE_THREAD_H
#define WTE_SRC_BASE_THREAD_H
#include <wte/base.h>
/* Call work(ctx, i) once for every i < n, spread over the pool's threads (and the caller's);
 * returns when all are done. Chunks are handed out in order; a result must not depend on which
 * thread ran which. pool NULL or n < 2: plain loop. work must not call wte__parallel on the same
 * pool. */
void wte__parallel(wte_pool *pool, uint64_t n, void (*work)(void *ctx, uint64_t i), void *ctx);
#endif
