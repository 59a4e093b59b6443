/* wte/check.h - what is wrong with the embedding of a model: every fault with its one repair.
 *
 * Nothing is written, neither to the model nor elsewhere. docs/check.md has every code: its level,
 * what it means, why it hurts and what repairs it. Texts are one line, fit to print: names from
 * files are made safe for a terminal. */
#ifndef WTE_CHECK_H
#define WTE_CHECK_H
#include <wte/model.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_check_level {
    WTE_CHECK_INFO = 1,  /* worth knowing; nothing to repair */
    WTE_CHECK_WARN = 2,  /* will hurt some uses */
    WTE_CHECK_ERROR = 3, /* wrong numbers, or no load at all */
    WTE_CHECK_LEVEL_FORCE_INT = 0x7fffffff
} wte_check_level;
WTE_API const char *wte_check_level_name(wte_check_level level); /* "info", "warn", "error" */

#define WTE_FINDING_IDS 8u
/** One fault. */
typedef struct wte_finding {
    const char *code; /* "rows-zero": stable */
    wte_check_level level;
    const char *subject; /* the tensor or file: with `code` the identity of a finding */
    const char *fact;    /* with its numbers */
    const char *why;     /* it hurts */
    const char *repair;  /* one command for a shell; "" when there is nothing to repair */
    uint64_t count;      /* ids concerned; 0 when it is not about ids */
    uint32_t n_ids;      /* the first of them, ascending */
    bool rows;           /* they are stored rows: ids reach these through a mapping */
    uint64_t ids[WTE_FINDING_IDS];
    bool of_adapter; /* their tokens are those of the adapter's tokenizer */
    uint64_t tokens; /* `rows`: ids that lead to all of these rows */
} wte_finding;

/** What the findings are made of. Counts are 0 where there is no such thing. */
typedef struct wte_check_facts {
    bool has_table, has_vocab;
    bool scanned;                 /* the rows were read: what follows `holes` is known */
    uint64_t config_vocab;        /* vocab_size of the config */
    uint64_t table_rows, dim;     /* ids that the input table answers */
    uint64_t stored_rows;         /* of the input table; other than table_rows with a mapping */
    uint64_t head_rows;           /* stored head; 0 = none is stored */
    uint64_t n_tokens, token_ids; /* of the tokenizer: how many, largest id + 1 */
    uint64_t n_holes;             /* ids below token_ids without a token */
    uint64_t n_zero, n_constant;  /* stored rows */
    uint64_t n_nonfinite, n_nan, n_inf; /* stored rows; elements */
    uint64_t beyond_f16;                /* finite elements beyond 65504 */
    uint64_t n_duplicates,
        n_near_duplicates; /* stored rows that equal, or nearly equal, an earlier one */
    double norm_min, norm_median, norm_max; /* of rows that have a token and are not zero */
    double head_median;                     /* the same of the head */
    bool has_adapter;
    uint64_t adapter_rows, adapter_dim; /* the table that it saves, or whose change it is */
    uint64_t adapter_head_rows;
    uint64_t adapter_needs; /* rows that the base must have for it */
} wte_check_facts;

typedef enum wte_token_class {
    WTE_CLASS_NORMAL = 0,
    WTE_CLASS_SPECIAL = 1,
    WTE_CLASS_BYTE = 2,
    WTE_CLASS_PARTIAL_UTF8 = 3, /* its bytes are no whole characters */
    WTE_CLASS_UNUSED = 4        /* no token, or one whose kind or text says unused or reserved */
} wte_token_class;
WTE_API const char *wte_token_class_name(wte_token_class c); /* "partial UTF-8"; never NULL */

/** A token that training may never have seen: the lower the indicator the likelier. */
typedef struct wte_glitch {
    uint64_t id;
    double indicator;
    wte_token_class token_class;
} wte_glitch;

typedef struct wte_check_options {
    size_t struct_size;
    const char *const *only; /* n_only codes; NULL = all. What none of them needs is not read */
    size_t n_only;
    const uint64_t *tokens; /* n_tokens ids that are going to be used: their rows must be trained */
    size_t n_tokens;
    const char *template_text; /* a chat template: special tokens in it are going to be used */
    uint64_t template_bytes;
    uint64_t glitch; /* how many candidates to rank; 0 = none */
    wte_pool *pool;
    const wte_progress *progress; /* rows, of the pass at hand */
    const wte_allocator *allocator;
    const wte_model *adapter; /* an adapter that is meant for the model, or NULL */
} wte_check_options;
#define WTE_CHECK_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(wte_check_options), NULL, 0, NULL, 0, NULL, 0, 0, NULL, NULL, NULL, NULL            \
    }

typedef struct wte_check wte_check;
/** Check a model. Findings are sorted: errors first, then by code and subject.
 *  returns  E_NOT_FOUND for a code in `only` that there is not; E_RANGE for an id in `tokens`
 *           without a row (where = its position); E_ARGUMENT for an adapter that is none; what
 *           the files give when they cannot be read
 *  cost     one pass over the input table, one over a head that is stored apart (two for their
 *           comparison), and a second one of the table for near duplicates and mean rows; 23
 *           bytes of memory a row, in the second pass 60 more */
WTE_API WTE_MUST_CHECK wte_status wte_model_check(const wte_model *m, const wte_check_options *opt,
                                                  wte_check **out, wte_error *err);
/** Why a model does not open, as a report without a table: of an index and its shards all that is
 *  wrong, not the first fault alone.
 *
 *  path, model  as for wte_model_open, which is called; `file.shards` is not the caller's here
 *  returns      E_ARGUMENT when it opens */
WTE_API WTE_MUST_CHECK wte_status wte_check_unopened(const char *path,
                                                     const wte_model_options *model,
                                                     const wte_allocator *allocator,
                                                     wte_check **out, wte_error *err);
WTE_API void wte_check_free(wte_check *c); /* NULL is fine */

WTE_API const wte_check_facts *wte_check_facts_of(const wte_check *c);
WTE_API uint64_t wte_check_n_findings(const wte_check *c);
WTE_API const wte_finding *wte_check_finding(const wte_check *c, uint64_t i); /* NULL past end */
/** Candidate i, likeliest first; NULL past the end. *indicator gets what was measured. */
WTE_API const wte_glitch *wte_check_glitch(const wte_check *c, uint64_t i);
WTE_API const char *wte_check_glitch_indicator(const wte_check *c); /* "" when none was asked for */
/** Code i of all there are, with its level and why it hurts (both may be NULL); NULL past the end.
 */
WTE_API const char *wte_check_code(size_t i, wte_check_level *level, const char **why);

#ifdef __cplusplus
}
#endif
#endif
