/* Learning of rows, what AVX2 and AVX-512 share. Static, like all that sets share. */
#ifndef WTE_SRC_NUM_LEARN_X86_H
#define WTE_SRC_NUM_LEARN_X86_H
#include "num/kernels.h"
#include "num/outer_x86.h"

/* Threads read and write the same rows without order, and lose or mix changes: that is meant
 * (Hogwild). C knows no relaxed atomic of a whole vector, and one for each number would forbid
 * vectors; the processor moves each aligned number whole, which is all that is asked of it. Hence
 * the functions that touch such rows, and they alone, are not watched by ThreadSanitizer; the
 * scalar set, which uses relaxed atomics, is. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LEARN_SHARED __attribute__((no_sanitize("thread")))
#endif
#elif defined(__SANITIZE_THREAD__)
#define LEARN_SHARED __attribute__((no_sanitize("thread")))
#endif
#ifndef LEARN_SHARED
#define LEARN_SHARED
#endif
#define LEARN_INLINE LEARN_SHARED OUTER_INLINE

/* The slopes of a group: those of each vector side by side. */
typedef struct learn_slopes {
    _Alignas(64) float of[WTE__LEARN_IN + 1][WTE__LEARN_GROUP]; /* pairs of vectors may end in one
                                                                   more */
} learn_slopes;

/* A group of a constant number of rows, from `first` on. */
typedef void (*learn_group)(const wte__learn_pairs *job, size_t first, learn_slopes *slopes);

/* What a set makes of all groups: one function for each number of rows, so that loops over rows
 * are unrolled and rows stay in registers. */
#define LEARN_PAIRS(set)                                                                           \
    LEARN_GROUP_OF(set, 1)                                                                         \
    LEARN_GROUP_OF(set, 2)                                                                         \
    LEARN_GROUP_OF(set, 3)                                                                         \
    LEARN_GROUP_OF(set, 4)                                                                         \
    LEARN_GROUP_OF(set, 5)                                                                         \
    LEARN_GROUP_OF(set, 6)                                                                         \
    LEARN_GROUP_OF(set, 7)                                                                         \
    LEARN_GROUP_OF(set, 8)                                                                         \
    LEARN_SHARED static void learn_pairs_##set(const wte__learn_pairs *job)                        \
    {                                                                                              \
        static const learn_group groups[WTE__LEARN_GROUP] = {                                      \
            learn_1_##set, learn_2_##set, learn_3_##set, learn_4_##set,                            \
            learn_5_##set, learn_6_##set, learn_7_##set, learn_8_##set,                            \
        };                                                                                         \
        learn_slopes slopes;                                                                       \
        for (size_t first = 0; job->n_in && first < job->n_out; first += WTE__LEARN_GROUP) {       \
            const size_t left = job->n_out - first;                                                \
            const size_t n = left < WTE__LEARN_GROUP ? left : WTE__LEARN_GROUP;                    \
            groups[n - 1](job, first, &slopes);                                                    \
        }                                                                                          \
    }
#define LEARN_GROUP_OF(set, n)                                                                     \
    LEARN_SHARED static void learn_##n##_##set(const wte__learn_pairs *job, size_t first,          \
                                               learn_slopes *slopes)                               \
    {                                                                                              \
        learn_slopes_##set(job, first, n, slopes);                                                 \
        learn_step_##set(job, first, n, slopes);                                                   \
    }
#endif
