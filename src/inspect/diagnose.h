/* What the files of diagnose share: a vector made ready to compare, the rules by which a row may
 * have become it, and the tally of explanations. The words are those of docs/diagnose.md. */
#ifndef WTE_SRC_TOOLS_DIAGNOSE_H
#define WTE_SRC_TOOLS_DIAGNOSE_H
#include <wte/inspect.h>

#define WTE__PROBES 16u /* columns that are compared before whole rows are */
#define WTE__NEAR   4u  /* rows kept as the nearest ones, for the runner-up */
#define WTE__CHUNK  64u /* columns compared between two chances to give up */
#define WTE__RULES  80u
#define WTE__WEAK   0.01 /* a change is named only when luck explains fewer fits than this */

/* Distances between neighbouring values of a type. */
typedef struct wte__grid {
    bool integer;
    int32_t digits, min_exponent;
} wte__grid;
wte__grid wte__grid_of(wte_dtype type);
double wte__spacing(const wte__grid *grid, double x);
/* The type in whose ulps numbers given as `got` are compared with a table of type `stored`. */
wte_dtype wte__tolerance_type(wte_dtype stored, wte_dtype got);

/* n numbers of a type that converts, as f64. */
bool wte__widen(wte_dtype type, const void *src, double *out, size_t n);

/* A vector that somebody got. */
typedef struct wte__observed {
    size_t n;
    wte_dtype dtype;
    const void *raw;                     /* n elements of dtype */
    const double *half_unit;             /* n, or NULL */
    double *value;                       /* n */
    size_t probe[WTE__PROBES], n_probes; /* the columns of the largest finite numbers, descending */
    uint64_t zeros, nonfinite;
    double norm, root_mean_square; /* of the finite ones */
    bool is_bf16, is_f16;          /* every number is a value of that type */
    wte__grid tolerance, stored;   /* of the tolerance type; of the table's type */
    double step;                   /* that all numbers are multiples of; 0 = of their tolerance */
    double log_chance;             /* wte__evidence of a row as it is, */
    double log_changed;            /* and of one that was changed by a known rule */
} wte__observed;
/* value has room for n numbers; stored is the table's type. */
wte_status wte__observed_fill(wte__observed *g, const wte_observed *got, uint64_t i,
                              wte_dtype stored, double *value, wte_error *err);
/* Columns of the largest finite non-zero numbers of x. */
size_t wte__probes(const double *x, size_t n, size_t probe[WTE__PROBES]);
double wte__tolerance(const wte__observed *g, const wte__grid *grid, size_t c);

/* One way in which the numbers of a row may have been changed. */
typedef struct wte__hypothesis_rule {
    wte_label change;     /* UNKNOWN = not at all */
    int32_t power;        /* SCALED: by the factor once, twice, or divided (-1); 0 = measured */
    bool model_factor;    /* SCALED: the factor of the model's config */
    bool own_only;        /* tried on the row asked for only */
    wte_dtype type;       /* as wte_hypothesis.dtype */
    wte_dtype arithmetic; /* results are rounded to it */
    double factor;
} wte__hypothesis_rule;
/* Every rule, in order of preference; returns how many. rule[0] is "not at all". */
size_t wte__rules(uint64_t dim, wte_dtype stored, wte_dtype got, double model_factor,
                  wte__hypothesis_rule rule[WTE__RULES]);

typedef enum wte__source_kind { WTE__TABLE, WTE__HEAD, WTE__OTHER } wte__source_kind;
typedef struct wte__row {
    const void *raw; /* in the stored type */
    wte_dtype dtype;
    wte__grid grid; /* of the tolerance type */
    wte__source_kind place;
    const char *tensor;
    uint64_t index;
    bool own;                /* the row that was asked for */
    double tried;            /* hypotheses that compete with those about this row */
    const double *base;      /* PLUS_ROW: what it was added to, or NULL; */
    const char *base_tensor; /* a row of this tensor, */
    uint64_t base_row;       /* with this number */
} wte__row;

typedef struct wte__fit {
    uint64_t fits;
    double worst, square; /* largest difference in tolerances; sum of squared differences */
    double factor;        /* SCALED, NORMALISED: what the row was multiplied by */
    double log_chance;    /* of a fit: wte__evidence */
    bool same_bits;
} wte__fit;
/* Compare the row, changed by the rule, with the vector. Returns whether it fits; when it does not
 * and `thorough` is false, *out is not complete. */
bool wte__fit_rule(const wte__observed *g, const wte__row *row, const wte__hypothesis_rule *rule,
                   bool thorough, wte__fit *out);
/* The same for numbers that are there already. */
void wte__fit_start(wte__fit *fit, const wte__observed *g);
void wte__fit_numbers(wte__fit *fit, const wte__observed *g, const wte__grid *grid, size_t first,
                      const double *x, size_t n);
bool wte__fit_good(const wte__fit *fit, const wte__observed *g);
/* The factor by which the row comes nearest to the vector, and the row's norm. */
double wte__measure(const wte__observed *g, const wte__row *row, double *norm);

/* Explanations of one vector, best first. */
typedef struct wte__search_entry {
    wte_hypothesis guess; /* n = 0: none */
    uint32_t order;       /* of the rule */
    bool asked;           /* the row's index is the one asked for */
    double log_chance;
} wte__search_entry;
typedef struct wte__rank_hypotheses {
    wte__search_entry best, second;
} wte__rank_hypotheses;
void wte__hypotheses_offer(wte__rank_hypotheses *t, const wte__search_entry *entry);
bool wte__hypotheses_explained(const wte__rank_hypotheses *t);
/* The same by something better than a factor that nobody knows: other tables need not be looked at.
 */
bool wte__hypotheses_settled(const wte__rank_hypotheses *t);
wte__search_entry wte__entry_make(const wte__observed *g, const wte__row *row,
                                  const wte__hypothesis_rule *rule, uint32_t order,
                                  const wte__fit *fit);

/* One vector under diagnosis. */
typedef struct wte__case {
    wte__observed given;
    wte__rank_hypotheses tally;
    uint64_t index;  /* in the call */
    uint64_t row;    /* asked for */
    uint64_t tried;  /* hypotheses */
    uint8_t *own;    /* the row asked for, as stored */
    double *own_f64; /* and widened */
    double *target;  /* room for one vector to look for */
} wte__case;

/* Its factor comes from the row and the vector. */
bool wte__is_measured(const wte__hypothesis_rule *rule);
/* log10 of the chance that an unrelated row, changed by the rule (NULL = not at all), fits. */
double wte__evidence(const wte__observed *g, const wte__hypothesis_rule *rule, double factor);
/* Whether a rule may be named at all, when `tried` hypotheses of its kind are: small numbers of
 * digits or columns fit something by luck. */
bool wte__rule_allowed(const wte__observed *g, const wte__hypothesis_rule *rule, double tried);
/* Try the rules on the row asked for: the first alone when it fits. */
void wte__hypotheses_own_table(wte__case *k, const wte__row *row, const wte__hypothesis_rule *rule,
                               size_t n_rules);

/* Search all rows of one tensor for all cases. */
typedef struct wte__search {
    const wte_row_source *rows;
    const char *tensor;
    wte__source_kind place;
    wte_dtype got_dtype;
    const wte__hypothesis_rule *rule;
    size_t n_rules;
    const wte_diagnose_options *opt;
} wte__search;
wte_status wte__search_run(const wte__search *s, wte__case *const *cases, size_t n_cases,
                           wte_error *err);

/* What is left when no row fits: the table read with its axes exchanged. The vector may be as long
 * as a row, or as the table has rows. */
wte_status wte__try_layouts(const wte_row_source *table, wte__case *k, const char *tensor,
                            const wte_diagnose_options *opt, wte_error *err);

/* Fill the texts of a finished diagnosis of a table of that name and so many rows. */
void wte__diagnose_report(wte_diagnosis *d, const wte__observed *g, uint64_t rows, bool mapped,
                          const char *table);

/* E_ARGUMENT for a factor that is not finite, and for others that are counted but not given. */
wte_status wte__diagnose_options_check(const wte_diagnose_options *opt, wte_error *err);
/* wte_diagnose_rows where id number i names row row_of[i]; NULL = the id is the row. */
wte_status wte__diagnose(const wte_row_source *table, wte_ids ids, const uint64_t *row_of,
                         const wte_observed *got, const wte_diagnose_options *opt,
                         wte_diagnosis *out, wte_error *err);
#endif
