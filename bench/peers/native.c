/* What the scripts beside this file cannot do from Python at full speed: hand a peer's kernel to
 * the threads of a pool, and read a block plainly, which is a limit of the machine. A shared
 * library of its own, no part of libwte. */
#include <wte/base.h>

#include "base/thread.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MAX_STREAMS UINT64_C(8)

/* std::function<bool(eight arguments)> of libstdc++, as FBGEMM's generators return it: the code
 * behind it takes every argument by reference. */
typedef struct std_function {
    const void *stored[2];
    const void *manager;
    bool (*invoke)(const struct std_function *self, const int64_t *bags, const int64_t *ids,
                   const int64_t *rows, const void *const *table, const int64_t *const *first_id,
                   const int64_t *const *offsets, const float *const *weights, float *const *out);
} std_function;

typedef struct peers_bag_call {
    const std_function *function;
    const void *table;
    const int64_t *ids, *offsets; /* offsets: bags + 1 */
    const float *weights;         /* one for each id, or NULL */
    float *out;                   /* bags x cols, tight */
    int64_t rows, bags, cols, parts;
    bool *done; /* of each part: the kernel found nothing wrong */
} peers_bag_call;

/* The call's bags in `parts` parts, spread over the pool's threads. */
WTE_API void peers_bags(wte_pool *pool, const peers_bag_call *call);
/* std::function<int(eleven arguments)>: Adagrad of rows by gradients of their own. */
typedef struct step_function {
    const void *stored[2];
    const void *manager;
    int (*invoke)(const struct step_function *self, const int *ids, const uint64_t *numbers,
                  float *const *table, const float *const *d_out, float *const *state,
                  const int64_t *const *id, const float *eps, const float *lr, const float *decay,
                  const double *const *counter, const int64_t *half_life);
} step_function;

/* std::function<bool(ten arguments)>: row-wise Adagrad of the members of bags. */
typedef struct bag_step_function {
    const void *stored[2];
    const void *manager;
    bool (*invoke)(const struct bag_step_function *self, const int64_t *bags, const int64_t *ids,
                   const int64_t *rows, float *const *table, const float *const *d_out,
                   float *const *state, const int64_t *const *id, const int64_t *const *offsets,
                   const float *eps, const float *lr);
} bag_step_function;

typedef struct peers_step_call {
    const void *function; /* a step_function, or with bags a bag_step_function */
    float *table, *state;
    const float *d_out;           /* a vector for each id, or for each bag */
    const int64_t *ids, *offsets; /* offsets: bags + 1, or NULL */
    int64_t rows, cols, n, parts; /* n: ids, or bags */
    float eps, lr;
    bool *done; /* of each part: the kernel found nothing wrong */
} peers_step_call;

/* The call's ids or bags in `parts` parts, spread over the pool's threads: rows that two of them
 * name are changed by both at once, as FBGEMM's callers have it. */
WTE_API void peers_steps(wte_pool *pool, const peers_step_call *call);
/* Reads a block once, each thread its share, in so many streams at a time; returns what keeps the
 * compiler from leaving the reads out. streams: 1, 2, 4 or 8. */
WTE_API uint64_t peers_read(wte_pool *pool, const void *block, uint64_t bytes, uint32_t streams);

static void bags_part(void *ctx, uint64_t part)
{
    const peers_bag_call *call = ctx;
    const int64_t first = call->bags * (int64_t)part / call->parts;
    const int64_t bags = call->bags * ((int64_t)part + 1) / call->parts - first;
    const int64_t *offsets = call->offsets + first;
    const int64_t *ids = call->ids + offsets[0];
    const int64_t n_ids = offsets[bags] - offsets[0];
    const float *weights = call->weights ? call->weights + offsets[0] : NULL;
    float *out = call->out + first * call->cols;
    call->done[part] = call->function->invoke(call->function, &bags, &n_ids, &call->rows,
                                              &call->table, &ids, &offsets, &weights, &out);
}

void peers_bags(wte_pool *pool, const peers_bag_call *call)
{
    wte__parallel(pool, (uint64_t)call->parts, bags_part, (void *)(uintptr_t)call);
}

static void step_ids(const peers_step_call *call, int64_t first, int64_t n, uint64_t part)
{
    const step_function *function = call->function;
    const int ids = (int)n;
    const uint64_t numbers = (uint64_t)(call->rows * call->cols);
    const float *d_out = call->d_out + first * call->cols, decay = 0;
    const int64_t *id = call->ids + first, half_life = 0;
    const double *counter = NULL;
    call->done[part] =
        function->invoke(function, &ids, &numbers, &call->table, &d_out, &call->state, &id,
                         &call->eps, &call->lr, &decay, &counter, &half_life) == ids;
}

static void step_bags(const peers_step_call *call, int64_t first, int64_t bags, uint64_t part)
{
    const bag_step_function *function = call->function;
    const int64_t *offsets = call->offsets + first, *id = call->ids + offsets[0];
    const int64_t ids = offsets[bags] - offsets[0];
    const float *d_out = call->d_out + first * call->cols;
    call->done[part] = function->invoke(function, &bags, &ids, &call->rows, &call->table, &d_out,
                                        &call->state, &id, &offsets, &call->eps, &call->lr);
}

static void step_part(void *ctx, uint64_t part)
{
    const peers_step_call *call = ctx;
    const int64_t first = call->n * (int64_t)part / call->parts;
    const int64_t n = call->n * ((int64_t)part + 1) / call->parts - first;
    if (call->offsets)
        step_bags(call, first, n, part);
    else
        step_ids(call, first, n, part);
}

void peers_steps(wte_pool *pool, const peers_step_call *call)
{
    wte__parallel(pool, (uint64_t)call->parts, step_part, (void *)(uintptr_t)call);
}

typedef struct read_call {
    const char *block;
    uint64_t share; /* bytes of a thread: a multiple of 64 * MAX_STREAMS */
    uint32_t streams;
    uint64_t found[64];
} read_call;

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f"))) static uint64_t read_avx512(const char *at, uint64_t bytes,
                                                               uint32_t streams)
{
    const uint64_t each = bytes / streams;
    __m512i sum = _mm512_setzero_si512();
    for (uint64_t i = 0; i < each; i += 64)
        for (uint32_t s = 0; s < streams; s++)
            sum = _mm512_xor_si512(sum, _mm512_loadu_si512(at + s * each + i));
    return (uint64_t)_mm512_reduce_or_epi64(sum);
}
#endif

static uint64_t read_plain(const char *at, uint64_t bytes, uint32_t streams)
{
    const uint64_t each = bytes / streams;
    uint64_t sum[8] = { 0 };
    for (uint64_t i = 0; i < each; i += sizeof sum)
        for (uint32_t s = 0; s < streams; s++)
            for (uint32_t word = 0; word < 8; word++) {
                uint64_t x;
                __builtin_memcpy(&x, at + s * each + i + word * sizeof x, sizeof x);
                sum[word] ^= x;
            }
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

static void read_part(void *ctx, uint64_t part)
{
    read_call *call = ctx;
    const char *at = call->block + part * call->share;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512f")) {
        call->found[part] = read_avx512(at, call->share, call->streams);
        return;
    }
#endif
    call->found[part] = read_plain(at, call->share, call->streams);
}

uint64_t peers_read(wte_pool *pool, const void *block, uint64_t bytes, uint32_t streams)
{
    const uint32_t threads = wte_pool_n_threads(pool);
    const uint64_t step = 64 * MAX_STREAMS, parts = threads < 64 ? threads : 64;
    read_call call = { .block = block, .share = bytes / parts / step * step, .streams = streams };
    uint64_t all = 0;
    wte__parallel(pool, parts, read_part, &call);
    for (uint64_t i = 0; i < parts; i++) all ^= call.found[i];
    return all;
}
