/* Progress of a call of the head, reported between rounds of chunks on the caller's thread. */
#include "head/progress.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/thread.h"
#include "head/tile.h"

/* Rounds of a pass, at most, and chunks that each thread has in a round, at least: waiting for the
 * last thread of a round costs a few hundredths of it. */
#define ROUNDS ((uint64_t)64)
#define EACH   ((uint64_t)16)

typedef struct round {
    wte_status (*work)(void *ctx, uint64_t i, uint32_t slot, wte_error *err);
    void *ctx;
    uint64_t first;
} round;

wte_status wte__progress_advance(wte__progress_state *t, uint64_t more, wte_error *err)
{
    if (!t || !t->progress || !t->progress->report) return WTE_OK;
    t->done = wte__plus(t->done, more);
    if (t->done > t->total) t->done = t->total;
    if (t->progress->report(t->progress->ctx, t->done, t->total)) return WTE_OK;
    return wte__fail(err, WTE_E_CANCELLED, t->done,
                     "head: stopped after %" PRIu64 " of %" PRIu64 " products", t->done, t->total);
}

static wte_status run_chunk(void *ctx, uint64_t i, uint32_t slot, wte_error *err)
{
    const round *r = ctx;
    return r->work(r->ctx, r->first + i, slot, err);
}

wte_status wte__progress_run(wte__progress_state *t, uint64_t amount, wte_pool *pool, uint64_t n,
                             wte_status (*work)(void *ctx, uint64_t i, uint32_t slot,
                                                wte_error *err),
                             void *ctx, wte_error *err)
{
    if (!t || !t->progress) return wte__parallel_try(pool, n, work, ctx, err);
    const uint64_t least = EACH * wte_pool_n_threads(pool);
    const uint64_t each = n / ROUNDS < least ? least : n / ROUNDS;
    uint64_t told = 0;
    for (round r = { work, ctx, 0 }; r.first < n; r.first += each) {
        const uint64_t chunks = n - r.first < each ? n - r.first : each;
        WTE_TRY(wte__parallel_try(pool, chunks, run_chunk, &r, err));
        /* the share of the chunks so far, without a product that overflows */
        const uint64_t so_far = r.first + chunks;
        const uint64_t now = amount / n * so_far + amount % n * so_far / n;
        WTE_TRY(wte__progress_advance(t, now - told, err));
        told = now;
    }
    return WTE_OK;
}
