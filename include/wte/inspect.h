/* wte/inspect.h - see a lookup step by step, and find where a wrong one parts from it.
 *
 * Everything here looks; nothing is written. Texts in the structs are one line, fit to print. */
#ifndef WTE_INSPECT_H
#define WTE_INSPECT_H
#include <wte/model.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Trace -----------------------------------------------------------------------------------------
 */

typedef enum wte_proof {
    WTE_PROOF_NOT_RUN = 0, /* the text beside it says why */
    WTE_PROOF_HOLDS = 1,
    WTE_PROOF_FAILS = 2 /* the text beside it says where; the file or this library is at fault */
} wte_proof;

typedef struct wte_trace_options {
    size_t struct_size;
    uint64_t max_one_hot_bytes; /* largest table to multiply by a one-hot vector; 0 = 256 MiB */
    wte_pool *pool;
    const wte_progress *progress; /* rows of the one-hot product */
    const wte_allocator *allocator;
} wte_trace_options;
#define WTE_TRACE_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(wte_trace_options), 0, NULL, NULL, NULL                                             \
    }

/** One lookup, step by step. Made by wte_model_trace or wte_trace_row, freed by wte_trace_free;
 *  texts that come from the model live as long as the model. */
typedef struct wte_trace {
    /* the id */
    uint64_t id;
    const char *token;    /* as people write it, token_bytes long, raw; NULL when it has no text */
    uint64_t token_bytes; /* (no vocabulary, or a hole in it) */
    wte_token_kind token_kind;
    /* the row */
    uint64_t row, rows, dim; /* row counts from zero */
    bool mapped;             /* id -> row went through a mapping tensor */
    char ordinal[64];        /* "the 4th of 6 rows" */
    /* where it is stored */
    const char *tensor; /* "" for wte_trace_row */
    wte_dtype dtype;
    bool transposed;   /* stored dim x rows */
    const char *file;  /* path of the file that holds the tensor; "" when it lies in memory */
    uint64_t begin;    /* the row's first byte in that file; WTE_NO_INDEX without a file, and for a
                          row that is made of several places */
    uint64_t end;      /* one past its last byte */
    uint64_t pieces;   /* 1, or dim when its elements lie `stride` bytes apart */
    uint64_t stride;   /* bytes between the pieces; 0 for one piece */
    const void *bytes; /* the row in its stored type, this machine's byte order */
    uint64_t n_bytes;  /* dim * element size, or those of the blocks */
    /* the vector */
    const float *f32; /* dim */
    const double *f64;
    bool f32_exact; /* every value of the stored type is an f32 */
    double norm;    /* sqrt of the sum of squares, in double, in order */
    uint64_t zeros, negative_zeros, nonfinite;
    /* what the model does to it next */
    double factor;           /* 1 = nothing */
    double factor_exact;     /* before it is rounded to the table's type */
    const char *factor_rule; /* "" when there is none */
    const double *scaled;    /* factor * row, rounded to the stored type; NULL when factor is 1 */
    /* the proof that nothing was computed */
    wte_proof same_bytes; /* the looked-up row against the bytes read at begin .. end */
    char same_bytes_why[256];
    wte_proof one_hot; /* one-hot(row) x table, in double, against the row's values */
    char one_hot_why[160];
    uint64_t one_hot_sign_lost; /* elements that are -0 in the row and +0 in the product */
    wte_block_type block; /* how the row is stored; `bytes` are its blocks then, dtype is f32 */
    const char *scheme;   /* of a quantised table, as in wte_model_table; `bytes` are f32 then */
} wte_trace;

/** Follow one id through a model.
 *  returns  E_RANGE when id has no row; E_NOT_FOUND when the model has no input table
 *  cost     one row; and, for a table of at most max_one_hot_bytes, one pass over it */
WTE_API WTE_MUST_CHECK wte_status wte_model_trace(const wte_model *m, uint64_t id,
                                                  const wte_trace_options *opt, wte_trace **out,
                                                  wte_error *err);
/** The same for rows that belong to no model: id is the row. */
WTE_API WTE_MUST_CHECK wte_status wte_trace_row(const wte_row_source *rows, uint64_t id,
                                                const wte_trace_options *opt, wte_trace **out,
                                                wte_error *err);
WTE_API void wte_trace_free(wte_trace *t); /* NULL is fine */
/** "1st", "2nd", "11th", "121st": number n (from 1) into buf; returns buf. */
WTE_API const char *wte_ordinal(uint64_t n, char *buf, size_t cap);

/* Diagnose --------------------------------------------------------------------------------------
 */

/* X(NAME, value, "name"): append only. The first step at which a vector parts from the lookup. */
#define WTE_LABEL_LIST(X)                                                                          \
    X(UNKNOWN, 0, "unknown")                                                                       \
    X(MATCH, 1, "match")                                                                           \
    X(OTHER_ROW, 2, "another row")                                                                 \
    X(HEAD_ROW, 3, "the head's row")                                                               \
    X(OTHER_TENSOR, 4, "another tensor")                                                           \
    X(COLUMN_NOT_ROW, 5, "a column")                                                               \
    X(TRANSPOSED_MEMORY, 6, "transposed memory")                                                   \
    X(RESHAPED, 7, "reshaped, not transposed")                                                     \
    X(SCALED, 8, "scaled")                                                                         \
    X(NORMALISED, 9, "L2-normalised")                                                              \
    X(BYTE_SWAPPED, 10, "byte-swapped")                                                            \
    X(NARROWED, 11, "narrowed")                                                                    \
    X(PLUS_ROW, 12, "plus another tensor's row")                                                   \
    X(ZEROS, 13, "all zeros")                                                                      \
    X(NONFINITE, 14, "NaN or infinity")                                                            \
    X(UNROUNDED, 15, "unrounded")
typedef enum wte_label {
#define X(name, value, text) WTE_LABEL_##name = (value),
    WTE_LABEL_LIST(X)
#undef X
        WTE_LABEL_FORCE_INT = 0x7fffffff
} wte_label;
#define WTE_LABELS 16
WTE_API const char *wte_label_name(wte_label label); /* "another row"; never NULL */

typedef enum wte_step {
    WTE_STEP_NONE = 0, /* nothing parts */
    WTE_STEP_ID = 1,
    WTE_STEP_ROW = 2,
    WTE_STEP_VECTOR = 3
} wte_step;

#define WTE_SAME_SHOWN 4
/** One explanation of a vector. docs/diagnose.md defines tolerance, chance and confidence. */
typedef struct wte_hypothesis {
    wte_label label;    /* the first thing that differs */
    wte_label change;   /* what was done to the numbers of that row: SCALED, NORMALISED,
                           BYTE_SWAPPED, NARROWED, UNROUNDED, PLUS_ROW; UNKNOWN = nothing */
    const char *tensor; /* whose row it is */
    uint64_t row;       /* of that tensor; the column for COLUMN; WTE_NO_INDEX when none */
    int64_t offset;     /* OTHER_ROW: row - the row asked for */
    wte_dtype dtype;    /* SCALED: the type the factor was rounded in (F64 = not rounded); NARROWED,
                           UNROUNDED: the type; BYTE_SWAPPED: the type whose bytes were swapped */
    double factor;      /* SCALED: got = row * factor */
    int32_t power;      /* SCALED: 1, 2, -1 of sqrt(dim); 0 = the model's own, or measured */
    bool model_factor;  /* SCALED: factor is the one of the model's config */
    bool bit_for_bit;   /* every number given has the very bits (or value, in a wider type) */
    const char *plus;   /* PLUS_ROW: the tensor whose row was added, else NULL */
    uint64_t plus_row;
    uint64_t n_matching, n; /* numbers that fit, of how many */
    double max_error;       /* the largest difference, in units of its tolerance; <= 1 fits */
    double distance;        /* |got - explained| / |got|, Euclidean */
    uint64_t n_same;        /* rows that fit equally well (this one among them) */
    uint64_t same[WTE_SAME_SHOWN]; /* the first of them */
    double expected_false_matches; /* unrelated hypotheses expected to fit by luck */
    double confidence;             /* 1 / (n_same + chance); MATCH: 1 / (1 + chance); UNKNOWN: 0 */
} wte_hypothesis;

/** "row 3 of wte.weight, divided by its own norm": what a guess says the vector is, in buf (cut to
 *  cap, always terminated; names made fit for a terminal); returns buf. */
WTE_API const char *wte_hypothesis_text(const wte_hypothesis *guess, char *buf, size_t cap);

/** Where one vector parts from the lookup of one id. */
typedef struct wte_diagnosis {
    uint64_t id, row;          /* asked for */
    wte_step first_difference; /* the first step that differs */
    wte_hypothesis best;       /* label UNKNOWN: nothing fits, and no label is invented */
    wte_hypothesis runner_up;  /* the next best; n = 0: there is none. It fits if worst <= 1 */
    uint64_t n_hypotheses;     /* hypotheses: rows searched times changes */
    uint64_t not_searched;     /* tensors left out for their size */
    char id_text[160], row_text[160], vector_text[160]; /* the three steps, each in one line */
    bool id_ok, row_ok, vector_ok;                      /* the three lines' verdicts */
    char verdict[240], advice[240];
} wte_diagnosis;

/** The vectors that somebody got. */
typedef struct wte_observed {
    const void *data; /* n x cols numbers, tight, this machine's byte order */
    wte_dtype dtype;  /* as they were given: any type that converts */
    uint32_t reserved;
    uint64_t n, cols;
    const double *half_unit; /* n x cols: half a unit of the last digit typed; NULL = from a file:
                                1 ulp */
} wte_observed;

typedef struct wte_named_source {
    const char *name; /* must outlive the diagnoses */
    wte_row_source rows;
} wte_named_source;

typedef struct wte_diagnose_options {
    size_t struct_size;
    const char *name;               /* of the table; NULL = "the table" */
    const wte_named_source *head;   /* the output head, when it is another tensor; or NULL */
    const wte_named_source *others; /* further tensors to search; wte_model_diagnose adds its own */
    size_t n_others;
    double factor;            /* the model's own, 0 or 1 = none */
    uint64_t max_other_bytes; /* search at most so much of other tensors; 0 = 8 GiB */
    wte_pool *pool;
    const wte_progress *progress; /* rows searched, of the tensor at hand */
    const wte_allocator *allocator;
} wte_diagnose_options;
#define WTE_DIAGNOSE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(wte_diagnose_options), NULL, NULL, NULL, 0, 0.0, 0, NULL, NULL, NULL                \
    }

/** Explain got[i, :], which should be the row of ids[i], for every i.
 *
 *  out      ids.count of them
 *  returns  E_SHAPE when got is not ids.count x dim (one vector as long as the table has rows is
 *           tried as a column first); E_RANGE for an id without a row, err->where = its position;
 *           E_UNSUPPORTED for a type that does not convert
 *  cost     one pass over the table for every 64 vectors; of more than 64 only those that are no
 *           match are searched for, and a match then has no runner-up. Passes over the head and
 *           other tensors of the same width only while something is unexplained */
WTE_API WTE_MUST_CHECK wte_status wte_diagnose_rows(const wte_row_source *table, wte_ids ids,
                                                    const wte_observed *got,
                                                    const wte_diagnose_options *opt,
                                                    wte_diagnosis *out, wte_error *err);
/** The same against a model's input table, its stored head and every other 2-D tensor of that
 *  width in its files; name, head and factor of the options are taken from the model. */
WTE_API WTE_MUST_CHECK wte_status wte_model_diagnose(const wte_model *m, wte_ids ids,
                                                     const wte_observed *got,
                                                     const wte_diagnose_options *opt,
                                                     wte_diagnosis *out, wte_error *err);

/** What many diagnoses say together. */
typedef struct wte_diagnosis_summary {
    uint64_t n, label[WTE_LABELS]; /* how many have each label */
    uint64_t first_bad;            /* the first that is no match; WTE_NO_INDEX = all match */
    int64_t offset;                /* the commonest row - row asked for, among OTHER_ROW */
    uint64_t n_offset;             /* how many have it; the ids are off by it when >= 2 and all */
    bool off_by;                   /* every vector that is another row is off by `offset`, >= 2 */
    char text[240];
} wte_diagnosis_summary;
WTE_API void wte_diagnosis_summarize(const wte_diagnosis *d, uint64_t n,
                                     wte_diagnosis_summary *out);

#ifdef __cplusplus
}
#endif
#endif
