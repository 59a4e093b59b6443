/* A pool of threads that share chunk numbers. The only file that makes threads.
 *
 * Each thread begins with its own share of the numbers, and takes from the shares of others when it
 * has done its own. Shares are consecutive and depend on nothing but how many chunks there are: in
 * the next call of the same size a thread works where it worked before, and finds in the cache of
 * its own processor what it left there.
 *
 * A worker joins a job only while it is open. The caller works too, closes the job when no chunk is
 * left, and waits for those that have joined: one that the system keeps asleep delays no call.
 * A worker that finds no work spins for a short while (the next call of a tight loop comes within
 * microseconds) and then sleeps on a condition variable.
 *
 * A fork copies the pool but not its workers, and the copied locks may be held. So the pool records
 * its process; in a child every call runs in the calling thread and no lock is touched. */
#include "base/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#if defined(__linux__)
#include <sched.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/unfinished.h"

#define SPINS 4000 /* some 20 to 150 us: a pause takes 10 to 140 cycles by processor */

/* A ticket says which job there is, whether it is open, and how many workers are in it. */
#define TICKET_WORKERS UINT64_C(0xffff)
#define TICKET_OPEN    UINT64_C(0x10000)
#define TICKET_JOB     UINT64_C(0x20000) /* added for each new job */

/* The chunks of one thread; a line of the caches apart from those of the next. */
typedef struct share {
    atomic_uint_fast64_t next;
    uint64_t end; /* written while no job is open */
    char apart[64 - 2 * sizeof(uint64_t)];
} share;

struct wte_pool {
    pthread_mutex_t turn; /* held by the call that uses the pool */
    pthread_mutex_t lock; /* guards sleeping */
    pthread_cond_t wake;
    atomic_uint_fast64_t ticket;
    void (*work)(void *ctx, uint64_t i); /* this and ctx are written while no job is open */
    void *ctx;
    uint32_t n_workers;
    pid_t process;       /* that owns the workers */
    atomic_uint n_begun; /* workers that have begun: the next one's number, less one */
    atomic_bool stop;
#if defined(__linux__)
    cpu_set_t allowed; /* where the thread that made the pool may run */
    int caller_cpu;    /* the one that workers are kept off; -1: none yet */
#endif
    pthread_t worker[WTE_LIMIT_THREADS];
    share share[WTE_LIMIT_THREADS]; /* the caller's is the first */
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void lay_out_shares(wte_pool *p, uint64_t n)
{
    const uint32_t threads = p->n_workers + 1;
    const uint64_t each = n / threads, more = n % threads;
    uint64_t end = 0;
    for (uint32_t t = 0; t < threads; t++) {
        atomic_store_explicit(&p->share[t].next, end, memory_order_relaxed);
        end += each + (t < more);
        p->share[t].end = end;
    }
}

/* Thread number `first`: its own share, then what is left of the others'. */
static void take_chunks(wte_pool *p, uint32_t first)
{
    const uint32_t threads = p->n_workers + 1;
    for (uint32_t k = 0; k < threads; k++) {
        share *s = &p->share[(first + k) % threads];
        while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end) {
            const uint64_t i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
            if (i < s->end) p->work(p->ctx, i);
        }
    }
}

/* Whether there is reason to wake: another job than the one seen last, or the end. */
static bool is_called(wte_pool *p, uint64_t seen)
{
    uint64_t ticket = atomic_load_explicit(&p->ticket, memory_order_acquire);
    return atomic_load_explicit(&p->stop, memory_order_acquire) ||
           ((ticket & TICKET_OPEN) && ticket / TICKET_JOB != seen);
}

static void wait_for_call(wte_pool *p, uint64_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_called(p, seen)) return;
        pause_briefly();
    }
    pthread_mutex_lock(&p->lock);
    while (!is_called(p, seen)) pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg)
{
    wte_pool *p = arg;
    const uint32_t number = 1 + atomic_fetch_add_explicit(&p->n_begun, 1, memory_order_relaxed);
    uint64_t seen = 0;
    for (;;) {
        wait_for_call(p, seen);
        if (atomic_load_explicit(&p->stop, memory_order_acquire)) return NULL;
        uint64_t ticket = atomic_load_explicit(&p->ticket, memory_order_relaxed);
        /* joining fails when the job was closed or others joined meanwhile: look again */
        if (!(ticket & TICKET_OPEN) ||
            !atomic_compare_exchange_strong_explicit(&p->ticket, &ticket, ticket + 1,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        seen = ticket / TICKET_JOB;
        take_chunks(p, number);
        atomic_fetch_sub_explicit(&p->ticket, 1, memory_order_release);
    }
}

/* Under the lock, so that no worker goes to sleep between its last look and this call. */
static void call_workers(wte_pool *p, uint64_t add)
{
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add_explicit(&p->ticket, add, memory_order_release);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

#if defined(__linux__)
static void note_allowed(wte_pool *p)
{
    p->caller_cpu = -1;
    if (pthread_getaffinity_np(pthread_self(), sizeof p->allowed, &p->allowed) != 0)
        CPU_ZERO(&p->allowed);
}

/* A worker that wakes tends to be put on the processor that woke it, where it and the caller take
 * turns instead of sharing the work: two threads were measured no faster than one. Workers may
 * use every processor but the caller's. A hint: results do not depend on it. */
static void keep_off_caller(wte_pool *p)
{
    const int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == p->caller_cpu) return;
    cpu_set_t others = p->allowed;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) == 0) return;
    for (uint32_t i = 0; i < p->n_workers; i++)
        (void)pthread_setaffinity_np(p->worker[i], sizeof others, &others);
    p->caller_cpu = cpu;
}
#else
static void note_allowed(wte_pool *p)
{
    (void)p;
}
static void keep_off_caller(wte_pool *p)
{
    (void)p;
}
#endif

wte_status wte_pool_create(uint32_t threads, wte_pool **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_pool_create: out", err));
    *out = NULL;
    if (threads == 0) {
        int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores < 1                            ? 1
                  : cores > (int64_t)WTE_LIMIT_THREADS ? WTE_LIMIT_THREADS
                                                       : (uint32_t)cores;
    }
    if (threads > WTE_LIMIT_THREADS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu32 " threads, but at most %u are made", threads,
                         WTE_LIMIT_THREADS);
    wte_pool *p = calloc(1, sizeof *p);
    if (!p)
        return wte__fail(err, WTE_E_MEMORY, WTE_NO_INDEX,
                         "out of memory: %zu bytes for a thread pool", sizeof *p);
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->process = getpid();
    note_allowed(p);
    sigset_t before;
    wte__section_begin(&before); /* signals are for the program's own threads: workers block them */
    /* The system may refuse a thread (a container's pids limit, memory for its stack). Results do
     * not depend on the number of threads, so the pool makes do with those that started. */
    while (p->n_workers + 1 < threads &&
           pthread_create(&p->worker[p->n_workers], NULL, worker_main, p) == 0)
        p->n_workers++;
    wte__section_end(&before);
    *out = p;
    return WTE_OK;
}

static bool has_workers(const wte_pool *pool)
{
    return pool && pool->n_workers && pool->process == getpid();
}

void wte_pool_free(wte_pool *pool)
{
    if (!pool) return;
    if (pool->process != getpid()) {
        free(pool);
        return;
    }
    atomic_store_explicit(&pool->stop, true, memory_order_release);
    call_workers(pool, 0);
    for (uint32_t i = 0; i < pool->n_workers; i++) pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    free(pool);
}

uint32_t wte_pool_n_threads(const wte_pool *pool)
{
    return has_workers(pool) ? pool->n_workers + 1 : 1;
}

void wte__parallel(wte_pool *pool, uint64_t n, void (*work)(void *ctx, uint64_t i), void *ctx)
{
    if (n < 2 || !has_workers(pool)) {
        for (uint64_t i = 0; i < n; i++) work(ctx, i);
        return;
    }
    pthread_mutex_lock(&pool->turn);
    pool->work = work;
    pool->ctx = ctx;
    lay_out_shares(pool, n);
    keep_off_caller(pool);
    call_workers(pool, TICKET_JOB + TICKET_OPEN);
    take_chunks(pool, 0);
    atomic_fetch_sub_explicit(&pool->ticket, TICKET_OPEN, memory_order_relaxed);
    for (uint32_t spins = 0;
         atomic_load_explicit(&pool->ticket, memory_order_acquire) & TICKET_WORKERS;) {
        if (++spins < SPINS)
            pause_briefly();
        else
            usleep(20); /* a worker was put aside by the system: do not burn its core */
    }
    pthread_mutex_unlock(&pool->turn);
}

typedef struct attempt {
    wte_status (*work)(void *ctx, uint64_t i, uint32_t slot, wte_error *err);
    void *ctx;
    uint32_t n_slots;
    atomic_bool taken[WTE_LIMIT_THREADS];
    /* the failed chunk with the lowest number */
    atomic_flag failure_lock;
    atomic_uint_fast64_t failed; /* UINT64_MAX: none */
    wte_status failure;
    wte_error error;
} attempt;

static void note_failure(attempt *a, uint64_t i, wte_status status, const wte_error *error)
{
    while (atomic_flag_test_and_set_explicit(&a->failure_lock, memory_order_acquire)) {
    }
    if (i < atomic_load(&a->failed)) {
        atomic_store(&a->failed, i);
        a->failure = status;
        a->error = *error;
        if (error->status != (int32_t)status)
            (void)wte__fail(&a->error, status, WTE_NO_INDEX,
                            "the row source failed and gave no reason");
    }
    atomic_flag_clear_explicit(&a->failure_lock, memory_order_release);
}

static void try_chunk(void *ctx, uint64_t i)
{
    attempt *a = ctx;
    wte_error error = { 0 };
    if (i > atomic_load_explicit(&a->failed, memory_order_relaxed)) return;
    uint32_t slot = 0; /* one is free: as many as threads */
    while (atomic_exchange_explicit(&a->taken[slot], true, memory_order_acquire))
        slot = (slot + 1) % a->n_slots;
    const wte_status status = a->work(a->ctx, i, slot, &error);
    atomic_store_explicit(&a->taken[slot], false, memory_order_release);
    if (status != WTE_OK) note_failure(a, i, status, &error);
}

wte_status wte__parallel_try(wte_pool *pool, uint64_t n,
                             wte_status (*work)(void *ctx, uint64_t i, uint32_t slot,
                                                wte_error *err),
                             void *ctx, wte_error *err)
{
    attempt a = {
        .work = work,
        .ctx = ctx,
        .n_slots = wte_pool_n_threads(pool),
        .failure_lock = ATOMIC_FLAG_INIT,
    };
    atomic_init(&a.failed, UINT64_MAX);
    wte__parallel(pool, n, try_chunk, &a);
    if (a.failure != WTE_OK && err) *err = a.error;
    return a.failure;
}

double wte__seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
