/* The parallel loop: every index exactly once, whoever calls and however often. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "base/thread.h"

enum { MOST = 1000 };

typedef struct marks {
    atomic_uint count[MOST];
} marks;

static void mark(void *ctx, uint64_t i)
{
    marks *m = ctx;
    atomic_fetch_add_explicit(&m->count[i], 1, memory_order_relaxed);
}

static void every_index_is_worked_exactly_once(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    static const uint64_t sizes[] = { 0, 1, 2, 3, 7, 8, 9, MOST };
    for (size_t t = 0; t < 4; t++) {
        wte_error err;
        wte_pool *pool;
        assert_ok(wte_pool_create(threads[t], &pool, &err), err);
        assert_int_equal(wte_pool_n_threads(pool), threads[t]);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            static marks m;
            memset(&m, 0, sizeof m);
            wte__parallel(pool, sizes[k], mark, &m);
            for (uint64_t i = 0; i < MOST; i++) assert_int_equal(m.count[i], i < sizes[k]);
        }
        wte_pool_free(pool);
    }
}

static void without_a_pool_the_caller_works_in_order(void **state)
{
    (void)state;
    static marks m;
    memset(&m, 0, sizeof m);
    wte__parallel(NULL, 5, mark, &m);
    for (uint64_t i = 0; i < 6; i++) assert_int_equal(m.count[i], i < 5);
    assert_int_equal(wte_pool_n_threads(NULL), 1);
    wte_pool_free(NULL);
}

/* What a job wrote before is seen after it, without atomics: the loop itself orders memory. */
static uint64_t plain[64];
static void add_plain(void *ctx, uint64_t i)
{
    plain[i] += *(const uint64_t *)ctx;
}

static void many_small_jobs_follow_one_another(void **state)
{
    (void)state;
    wte_error err;
    wte_pool *pool;
    assert_ok(wte_pool_create(4, &pool, &err), err);
    memset(plain, 0, sizeof plain);
    uint64_t sum = 0;
    for (uint64_t job = 1; job <= 3000; job++) {
        wte__parallel(pool, 64, add_plain, &job);
        sum += job;
    }
    for (size_t i = 0; i < 64; i++) assert_int_equal(plain[i], sum);
    wte_pool_free(pool);
}

typedef struct caller {
    wte_pool *pool;
    marks m;
} caller;

static void *call_often(void *arg)
{
    caller *c = arg;
    for (int job = 0; job < 200; job++) wte__parallel(c->pool, 50, mark, &c->m);
    return NULL;
}

static void several_callers_take_turns_on_one_pool(void **state)
{
    (void)state;
    static caller callers[3];
    wte_error err;
    wte_pool *pool;
    pthread_t thread[3];
    memset(callers, 0, sizeof callers);
    assert_ok(wte_pool_create(3, &pool, &err), err);
    for (int i = 0; i < 3; i++) {
        callers[i].pool = pool;
        assert_int_equal(pthread_create(&thread[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < MOST; k++) assert_int_equal(callers[i].m.count[k], k < 50 ? 200 : 0);
    wte_pool_free(pool);
}

static void sleeping_workers_wake_up_and_go_home(void **state)
{
    (void)state;
    static marks m;
    memset(&m, 0, sizeof m);
    for (int round = 0; round < 20; round++) {
        wte_error err;
        wte_pool *pool;
        assert_ok(wte_pool_create(4, &pool, &err), err);
        if (round % 2) { /* long enough for the workers to have gone to sleep */
            usleep(3000);
            wte__parallel(pool, MOST, mark, &m);
        }
        wte_pool_free(pool); /* also at once, before a worker has looked for work */
    }
    for (int k = 0; k < MOST; k++) assert_int_equal(m.count[k], 10);
}

static void a_pool_has_as_many_threads_as_asked_for(void **state)
{
    (void)state;
    wte_error err;
    wte_pool *pool;
    assert_ok(wte_pool_create(0, &pool, &err), err);
    assert_in_range(wte_pool_n_threads(pool), 1, WTE_LIMIT_THREADS);
    wte_pool_free(pool);
    assert_fails(wte_pool_create(WTE_LIMIT_THREADS + 1, &pool, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "257 threads, but at most 256");
    assert_null(pool);
}

/* Where the caller and the one worker begin; neither goes on before the other has begun. */
typedef struct beginnings {
    pthread_t caller;
    bool begun[2];
    uint64_t first[2];
    atomic_uint here;
} beginnings;
static void begin(void *ctx, uint64_t i)
{
    beginnings *b = ctx;
    const int me = !pthread_equal(pthread_self(), b->caller);
    if (b->begun[me]) return;
    b->begun[me] = true;
    b->first[me] = i;
    atomic_fetch_add(&b->here, 1);
    while (atomic_load(&b->here) < 2) sched_yield();
}

static void each_thread_begins_with_a_share_of_its_own(void **state)
{
    (void)state;
    wte_error err;
    wte_pool *pool;
    assert_ok(wte_pool_create(2, &pool, &err), err);
    for (int job = 0; job < 100; job++) {
        beginnings b = { .caller = pthread_self() };
        wte__parallel(pool, 7, begin, &b);
        assert_int_equal(b.first[0], 0);
        assert_int_equal(b.first[1], 4);
    }
    wte_pool_free(pool);
}

#if defined(__linux__)
/* Both chunks must be in work at once before either may end. */
typedef struct meeting {
    atomic_uint here;
    pthread_t caller;
    int worker_cpus; /* how many processors the worker may use */
} meeting;
static void meet(void *ctx, uint64_t i)
{
    (void)i;
    meeting *m = ctx;
    if (!pthread_equal(pthread_self(), m->caller)) {
        cpu_set_t set;
        assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof set, &set), 0);
        m->worker_cpus = CPU_COUNT(&set);
    }
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < 2) sched_yield();
}

static void workers_keep_off_the_processor_of_the_caller(void **state)
{
    (void)state;
    wte_error err;
    wte_pool *pool;
    meeting m = { .caller = pthread_self() };
    cpu_set_t set;
    assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof set, &set), 0);
    assert_ok(wte_pool_create(2, &pool, &err), err);
    wte__parallel(pool, 2, meet, &m);
    assert_int_equal(m.worker_cpus, CPU_COUNT(&set) > 1 ? CPU_COUNT(&set) - 1 : 1);
    wte_pool_free(pool);
}
#endif

/* Sanitizers reserve address space of their own, and could not start under the limit below. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
/* In a child, which keeps the limit: room for a few stacks of 8 MiB, and not for 255. */
static void a_pool_goes_on_with_the_threads_that_started(void **state)
{
    (void)state;
    if (getenv("WTE_UNDER_VALGRIND")) skip(); /* it would need the address space itself */
    if (getenv("WTE_EMULATOR")) skip();       /* qemu's programs know no such limit */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = { (rlim_t)256 << 20, (rlim_t)256 << 20 };
        static marks m;
        wte_error err;
        wte_pool *pool = NULL;
        bool good = setrlimit(RLIMIT_AS, &limit) == 0 &&
                    wte_pool_create(WTE_LIMIT_THREADS, &pool, &err) == WTE_OK &&
                    wte_pool_n_threads(pool) < WTE_LIMIT_THREADS;
        if (good) wte__parallel(pool, MOST, mark, &m);
        for (uint64_t i = 0; i < MOST; i++) good = good && m.count[i] == 1;
        wte_pool_free(pool);
        good = good && wte_pool_create(2, &pool, &err) == WTE_OK; /* nothing was left behind */
        wte_pool_free(pool);
        _exit(good ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}
#endif

typedef struct lender {
    wte_pool *pool;
    atomic_bool in_call, may_end;
} lender;
static void hold(void *ctx, uint64_t i)
{
    lender *l = ctx;
    if (i) return;
    atomic_store(&l->in_call, true);
    while (!atomic_load(&l->may_end)) sched_yield();
}
static void *lend(void *arg)
{
    lender *l = arg;
    wte__parallel(l->pool, 64, hold, l);
    return NULL;
}

static bool child_uses_and_frees(wte_pool *pool)
{
    static marks m;
    alarm(60); /* a hang is a failure, not the end of the run */
    memset(&m, 0, sizeof m);
    wte__parallel(pool, MOST, mark, &m);
    for (uint64_t i = 0; i < MOST; i++)
        if (m.count[i] != 1) return false;
    if (wte_pool_n_threads(pool) != 1) return false;
    wte_pool_free(pool);
    wte_error err;
    if (wte_pool_create(3, &pool, &err) != WTE_OK) return false;
    const bool own = wte_pool_n_threads(pool) == 3;
    wte_pool_free(pool);
    return own;
}

/* The fork happens while another thread is inside a call, so that every lock of the pool is held.
 */
static void a_forked_child_may_use_and_free_the_pool(void **state)
{
    (void)state;
    wte_error err;
    lender l = { .pool = NULL };
    pthread_t thread;
    assert_ok(wte_pool_create(3, &l.pool, &err), err);
    for (int busy = 0; busy < 2; busy++) {
        if (busy) {
            assert_int_equal(pthread_create(&thread, NULL, lend, &l), 0);
            while (!atomic_load(&l.in_call)) sched_yield();
        }
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(child_uses_and_frees(l.pool) ? 0 : 1);
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
    }
    atomic_store(&l.may_end, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wte_pool_n_threads(l.pool), 3);
    wte_pool_free(l.pool);
}

static const struct CMUnitTest tests[] = {
    TEST("a forked child may use and free the pool", a_forked_child_may_use_and_free_the_pool),
#if defined(__linux__)
    TEST("workers keep off the processor of their caller",
         workers_keep_off_the_processor_of_the_caller),
#endif
    TEST("every index is worked exactly once", every_index_is_worked_exactly_once),
    TEST("without a pool the caller does all", without_a_pool_the_caller_works_in_order),
    TEST("many small jobs follow one another", many_small_jobs_follow_one_another),
    TEST("each thread begins with a share of its own", each_thread_begins_with_a_share_of_its_own),
    TEST("several callers take turns on one pool", several_callers_take_turns_on_one_pool),
    TEST("sleeping workers wake up and go home", sleeping_workers_wake_up_and_go_home),
    TEST("a pool has as many threads as asked for", a_pool_has_as_many_threads_as_asked_for),
#ifndef SANITIZED
    TEST("a pool goes on with the threads that started",
         a_pool_goes_on_with_the_threads_that_started),
#endif
};
TEST_MAIN(tests)
