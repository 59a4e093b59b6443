/* What the files of check share: one run, the report it fills, and what was seen of each row. The
 * words are those of docs/check.md. */
#ifndef WTE_SRC_TOOLS_CHECK_H
#define WTE_SRC_TOOLS_CHECK_H
#include <wte/check.h>

#include "base/alloc.h"

typedef enum wte__code {
#define CODE(name, code, level, why) WTE__CODE_##name,
#include "inspect/check_codes.def"
#undef CODE
    WTE__CODES
} wte__code;

/* Thresholds, all in one place; docs/check.md has them with their reasons. */
#define WTE__NEAR_ZERO      1e-3 /* of the median norm; rows of few numbers are short by chance: */
#define WTE__NEAR_ZERO_FEW  1e-6 /* below WTE__NEAR_ZERO_DIM numbers */
#define WTE__NEAR_ZERO_DIM  16u
#define WTE__SAMPLED        0.5 /* of the median head norm */
#define WTE__LARGEST_F16    65504.0
#define WTE__NEAR_COSINE    0.95
#define WTE__MEAN_DISTANCE  0.1   /* of the mean row's norm */
#define WTE__MIN_ROWS       32u   /* fewer rows have no statistics */
#define WTE__MIN_DIM        64u   /* of a row whose norm tells its distribution */
#define WTE__TRUNCATED_ROWS 1024u /* more rows than any padding without a token */

/* Ids as a finding tells them. */
typedef struct wte__seen {
    uint64_t count, id[WTE_FINDING_IDS];
    const uint32_t *lie; /* they are rows that a mapping leads to: how many ids to each; or NULL */
    uint64_t tokens;     /* ids that lead to those that were added */
} wte__seen;
void wte__seen_add(wte__seen *s, uint64_t id);

/* What the first pass says of each row of one table. */
#define WTE__ROW_ZERO      1u
#define WTE__ROW_CONSTANT  2u /* of more than one element, and not zero */
#define WTE__ROW_NAN       4u
#define WTE__ROW_INF       8u
#define WTE__ROW_NONFINITE (WTE__ROW_NAN | WTE__ROW_INF)
#define WTE__ROW_SHARED    128u /* another row has the same bytes */
typedef struct wte__check_scan {
    uint64_t rows;
    void *block; /* where all of these lie */
    size_t block_bytes;
    float *norm;    /* of rows with all elements finite */
    uint64_t *mark; /* rows of equal bytes have equal marks */
    uint8_t *flags;
    uint32_t *sorted; /* bits of the norms of rows that have a token and are not zero */
    uint64_t n_sorted;
    uint32_t *spare;                            /* room for as many */
    uint64_t nan, inf, beyond_f16, beyond_rows; /* elements; rows with such elements */
    uint64_t most_beyond;                       /* first row with such an element */
} wte__check_scan;

/* Why a row counts as untrained. Also its place in the words of a finding. */
typedef enum wte__state {
    WTE__TRAINED = 0,
    WTE__NONFINITE,
    WTE__ZERO,
    WTE__SMALL,
    WTE__CONSTANT,
    WTE__MEAN,
    WTE__DUPLICATE,
    WTE__COLLAPSED,
    WTE__STATES
} wte__state;

struct wte_check {
    const wte_allocator *allocator;
    wte__arena arena;
    wte_check_facts facts;
    wte_finding *findings;
    size_t n, cap;
    wte_glitch *glitch;
    size_t n_glitch, glitch_cap;
    const char *glitch_indicator;
};

/* One run. */
typedef struct wte__checking {
    const wte_model *m;
    wte_check_options opt;
    wte_check *report;
    wte_error *err;
    bool wanted[WTE__CODES];
    const wte_file *file; /* NULL for the built-in table */
    const wte_model_config *config;
    const wte_vocab *vocab;              /* may be NULL */
    const wte_model_table *input, *head; /* head: a tensor of its own, or NULL */
    wte_row_source stored;               /* the input table's own rows, whatever maps ids to them */
    uint32_t *lie;                       /* of a mapping: how many ids lead to each row; or NULL */
    bool coder;                          /* an encoder-decoder model */
    bool two_vocabularies; /* the head is the decoder's own table, beside the encoder's */
    bool has_tie;
    wte_tie tie;
    /* the rows */
    const wte_vocab *names; /* of rows: vocab, or NULL when rows are no ids */
    uint64_t named;         /* rows from here on have no token */
    uint64_t pad;           /* row of the padding token, or WTE_NO_INDEX */
    wte_check_facts *facts; /* the report's, as long as the input table is looked at */
    wte__check_scan table, head_scan;
    bool of_head;   /* `input` and `stored` are the head's for a while */
    bool unsayable; /* a word of the repair that is being made cannot be said */
    bool one_value; /* the whole table is one number: no row is worth a finding */
    uint8_t *state; /* wte__state of each row */
    uint8_t *used;  /* 1 = tokens or the template name this row */
    uint64_t *same; /* first row with the same bytes; itself when there is none before */
    double *mean;   /* of all finite rows; NULL when it was not needed */
} wte__checking;

/* check.c: add a finding; subject and fact are copied, names in them must be safe already.
 * repair is one of wte__repair_..., or "". */
__attribute__((format(printf, 6, 7))) wte_status wte__check_add(wte__checking *k, wte__code code,
                                                                const char *subject,
                                                                const wte__seen *ids,
                                                                const char *repair, const char *fmt,
                                                                ...);
void wte__check_sort(wte_check *r); /* errors first, then by code and subject */
bool wte__check_wants(const wte__checking *k, const wte__code *codes, size_t n);
bool wte__check_has_token(const wte__checking *k, uint64_t row);
/* The first row with the same bytes; the row itself when there is none before. */
static inline uint64_t wte__first_same(const wte__checking *k, uint64_t row)
{
    return k->same ? k->same[row] : row;
}
bool wte__check_is_reserved(const wte__checking *k, uint64_t row); /* "unused", "reserved" */
const char *wte__check_table_name(const wte__checking *k);         /* safe, in the arena's memory */

/* check_repair.c: commands, in the report's memory; NULL = out of memory. */
/* False without a config, and when it is metadata of the weights: GGUF, llama2.c, llm.c. */
bool wte__check_has_json_config(const wte__checking *k);
const char *wte__repair_config(wte__checking *k, const char *key, const char *value);
/* python on the loaded model, or on the file where that is no model; `change` works on w, its input
 * table */
__attribute__((format(printf, 2, 3))) const char *wte__repair_table(wte__checking *k,
                                                                    const char *change, ...);
/* python on the loaded model alone; `change` works on m, the model */
__attribute__((format(printf, 2, 3))) const char *wte__repair_model(wte__checking *k,
                                                                    const char *change, ...);
__attribute__((format(printf, 2, 3))) const char *wte__repair_shell(wte__checking *k,
                                                                    const char *fmt, ...);
/* a tensor gets `length` columns: cut, or with zeros behind; in safetensors, else get it again */
const char *wte__repair_length(wte__checking *k, const wte_tensor *t, uint64_t length);
/* the files are wrong in themselves: get them again */
const char *wte__repair_fetch(wte__checking *k);
/* the same for the path of a model that is not open */
const char *wte__repair_fetch_path(wte__checking *k, const char *path);
/* merge an adapter in a folder into the model, resized to `rows` (0 = as it is), as untied */
const char *wte__repair_merge(wte__checking *k, const char *adapter, uint64_t rows);
/* A path, or the name of a tensor, as one word of a shell that stands for its very bytes, safe for
 * a terminal; NULL = out of memory. One that cannot be said makes the next wte__repair_shell give
 * "". */
const char *wte__repair_word(wte__checking *k, const char *path);
const char *wte__repair_name(wte__checking *k, const wte_tensor *t);

/* The steps, in order. */
wte_status wte__check_roles(wte__checking *k);   /* check_roles.c */
wte_status wte__check_sizes(wte__checking *k);   /* check_sizes.c */
wte_status wte__check_tie(wte__checking *k);     /* check_tie.c */
wte_status wte__check_adapter(wte__checking *k); /* check_adapter.c */
wte_status wte__check_files(wte__checking *k);   /* check_files.c */
wte_status wte__check_twins(wte__checking *k);   /* check_twins.c: tokens that look alike */
/* check_gguf.c: what a GGUF file's metadata say (nothing of others); repair: NULL is E_MEMORY */
wte_status wte__check_gguf(wte__checking *k, const wte_file *f, const char *repair);
/* check_scan.c; scan_init gives room for 3 bytes a row at flags, all zero */
wte_status wte__check_scan_init(wte__checking *k, wte__check_scan *scan, uint64_t rows);
wte_status wte__check_scan_run(wte__checking *k, const wte_row_source *rows, wte__check_scan *out);
void wte__check_scan_free(wte__checking *k, wte__check_scan *scan);
double wte__check_scan_quantile(const wte__check_scan *scan, double part);
double wte__check_scan_median(
    const wte__check_scan *scan);             /* of an even number: the mean of the middle two */
wte_status wte__check_head(wte__checking *k); /* check_head.c: the head's rows, scan and all */
wte_status wte__check_bias_numbers(wte__checking *k); /* check_head.c too */
wte_status wte__check_numbers(wte__checking *k); /* check_numbers.c: what the first pass shows */
wte_status wte__check_same(wte__checking *k);    /* check_same.c: equal bytes */
wte_status wte__check_near(wte__checking *k);    /* check_near.c: near ones, the mean row */
wte_status wte__check_tokens(wte__checking *k);  /* check_tokens.c: who is untrained */
/* zero, constant and equal rows of ordinary tokens alone; a part of check_tokens */
wte_status wte__check_states(wte__checking *k, const char *name);
wte_status wte__check_padding(wte__checking *k);     /* check_padding.c */
wte_status wte__check_glitch_rank(wte__checking *k); /* check_glitch.c */
#endif
