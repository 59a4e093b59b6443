/* wte/near.h - rows compared with rows: the nearest ones of a table, and what changed between two
 * tables. */
#ifndef WTE_NEAR_H
#define WTE_NEAR_H
#include <wte/row_source.h>
#include <wte/vocab.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Nearest rows ----------------------------------------------------------------------------------
 */

/** How near a row x is to a query q; docs/near.md. Greater is nearer, but for EUCLID less is. */
typedef enum wte_metric {
    WTE_METRIC_COSINE = 0, /* x.q / (|x| |q|), -1 .. 1 */
    WTE_METRIC_DOT = 1,    /* x.q */
    WTE_METRIC_EUCLID = 2  /* |x - q| */
} wte_metric;
WTE_API const char *wte_metric_name(wte_metric metric); /* "cosine", "dot", "euclid"; never NULL */

typedef struct wte_near_hit {
    uint64_t row; /* WTE_NO_INDEX: there are no more rows */
    double score; /* by the metric; NaN then */
} wte_near_hit;

/** Rows that were passed over. */
typedef struct wte_near_report {
    uint64_t n_zero;      /* COSINE: all zeros, so that there is no angle */
    uint64_t n_nonfinite; /* with NaN or an infinity (in f32) */
} wte_near_report;

typedef struct wte_near_options {
    size_t struct_size;
    wte_metric metric;
    uint32_t top;            /* hits for each query; 0 = 10 */
    const uint64_t *exclude; /* rows that are no answer, ascending; or NULL */
    uint64_t n_exclude;
    const uint64_t *own; /* for each query one more row that is no answer (WTE_NO_INDEX = none), as
                            the row it was taken from; or NULL */
    wte_near_report *report;
    wte_pool *pool;
    const wte_progress *progress; /* rows */
    const wte_allocator *allocator;
} wte_near_options;
#define WTE_NEAR_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_near_options), WTE_METRIC_COSINE, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL      \
    }

/** The rows nearest to each of n queries, nearest first; of equal ones the lower row first.
 *
 *  Exact: rows are widened (f64, i32 and wider rounded) to f32, and products summed in f32 in one
 *  fixed order, so that every instruction set and any number of threads and queries give the same
 *  bits. Sums that leave f32's range are made again in f64.
 *
 *  table    any type that converts
 *  queries  n x cols f32, cols = the table's
 *  hits     n x top
 *  returns  E_SHAPE when cols is not the table's, or 0; E_ARGUMENT for a query with NaN or an
 *           infinity, or for COSINE of zeros, with err->where = its number, and for an `exclude`
 *           that does not ascend; E_UNSUPPORTED for a type that does not convert
 *  cost     one pass over the table; 16 bytes for each thread, query and hit */
WTE_API WTE_MUST_CHECK wte_status wte_nearest(const wte_row_source *table, const float *queries,
                                              uint64_t n, uint64_t cols,
                                              const wte_near_options *opt, wte_near_hit *hits,
                                              wte_error *err);

/* Differences between two tables ----------------------------------------------------------------
 */

/* X(NAME, value, "name"): append only. What became of a row; docs/diff.md defines each. */
#define WTE_CHANGE_LIST(X)                                                                         \
    X(SAME_BITS, 0, "bit-equal")                                                                   \
    X(SAME_VALUES, 1, "equal values")                                                              \
    X(MOVED, 2, "moved")                                                                           \
    X(REINITIALISED, 3, "re-initialised")                                                          \
    X(BECAME_ZERO, 4, "became zero")                                                               \
    X(WAS_ZERO, 5, "was zero")                                                                     \
    X(NONFINITE, 6, "NaN or infinity")                                                             \
    X(ONLY_IN_A, 7, "only in A")
typedef enum wte_change {
#define X(name, value, text) WTE_CHANGE_##name = (value),
    WTE_CHANGE_LIST(X)
#undef X
        WTE_CHANGE_FORCE_INT = 0x7fffffff
} wte_change;
#define WTE_CHANGES 8
WTE_API const char *wte_change_name(wte_change change); /* never NULL */

typedef struct wte_row_change {
    uint64_t a, b;     /* rows */
    wte_change change; /* MOVED or a later one */
    uint32_t reserved;
    double distance;       /* |b - a|; infinity for NONFINITE */
    double relative;       /* distance / |a|; infinity for WAS_ZERO and NONFINITE */
    double largest;        /* of |b[i] - a[i]|; infinity for NONFINITE */
    double cosine;         /* of a and b; NaN where one is zero or not finite */
    double norm_a, norm_b; /* NaN for NONFINITE */
} wte_row_change;

#define WTE_DECADES 8
typedef struct wte_diff {
    uint64_t count[WTE_CHANGES]; /* rows of A for each wte_change */
    uint64_t compared;           /* rows that both have */
    uint64_t only_in_b;          /* rows of B with which no row of A was compared */
    uint64_t changed;            /* compared, neither bit-equal nor of equal values */
    uint64_t first_changed;      /* row of A; WTE_NO_INDEX = none */
    bool same; /* bit-equal: the same shape and type, and every row of both bit-equal */
    /* changed rows, but for WAS_ZERO and NONFINITE, with a relative distance below 1e-6,
     * 1e-5, ... 1, and the rest */
    uint64_t decade[WTE_DECADES];
    double cosine_limit; /* |cosine| at or below it says that two rows are unrelated */
    uint64_t n_largest;  /* rows in `largest` */
} wte_diff;

typedef struct wte_diff_options {
    size_t struct_size;
    const uint64_t *b_of;    /* for each row of A the row of B to compare it with (WTE_NO_INDEX =
                                none);    NULL = the same number */
    uint8_t *changes;        /* for each row of A gets its wte_change; or NULL */
    wte_row_change *largest; /* the changed rows with the greatest distance, that first */
    uint64_t max_largest;    /* room in it */
    wte_pool *pool;
    const wte_progress *progress; /* rows of A */
    const wte_allocator *allocator;
} wte_diff_options;
#define WTE_DIFF_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_diff_options), NULL, NULL, NULL, 0, NULL, NULL, NULL                            \
    }

/** Compare row for row. Types may differ: numbers are compared as f64. The sums of a row are made
 *  in f64, column by column, so no result depends on the number of threads.
 *
 *  returns  E_SHAPE when rows are not equally long, or 0; E_RANGE when b_of names a row that B
 *           lacks, err->where = the row of A; E_UNSUPPORTED for a type that does not convert
 *  cost     one pass over both tables */
WTE_API WTE_MUST_CHECK wte_status wte_diff_rows(const wte_row_source *a, const wte_row_source *b,
                                                const wte_diff_options *opt, wte_diff *out,
                                                wte_error *err);

/** How two vocabularies number their tokens. */
typedef struct wte_vocab_match {
    uint64_t same_id;        /* ids with the same token in both */
    uint64_t other_id;       /* tokens that both have, under two ids */
    uint64_t only_a;         /* tokens of A that B lacks */
    uint64_t conflicts;      /* ids that both use, for different tokens */
    uint64_t first_conflict; /* the lowest of these; WTE_NO_INDEX = none */
} wte_vocab_match;

/** Match tokens by their texts: as spelled, where both files spell in the same way, else as people
 *  write them; that of the same id first.
 *  b_of  for each id below rows_a gets the id in b, if that is below rows_b, else WTE_NO_INDEX; or
 *        NULL, and rows_a and rows_b then mean nothing
 *  cost  one search in b for each token of a that has another id there; no allocation */
WTE_API void wte_vocab_align(const wte_vocab *a, const wte_vocab *b, uint64_t rows_a,
                             uint64_t rows_b, uint64_t *b_of, wte_vocab_match *out);

#ifdef __cplusplus
}
#endif
#endif
