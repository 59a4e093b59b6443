/* Rows made no longer than max_norm. */
#ifndef WTE_SRC_LOOKUP_RENORM_H
#define WTE_SRC_LOOKUP_RENORM_H
#include <wte/lookup.h>

/* A limit on the norms of rows; max_norm 0 in the options of a call means no limit. */
typedef struct wte__norm_limit {
    double max_norm, p;
} wte__norm_limit;

/* E_ARGUMENT for a max_norm or norm_type that is negative or NaN. */
wte_status wte__norm_numbers_check(double max_norm, double norm_type, const char *what,
                                   wte_error *err);
/* E_ARGUMENT for numbers that make no sense, E_UNSUPPORTED for a type that has no norms. `what`
 * begins the messages. */
wte_status wte__norm_limit_init(wte__norm_limit *limit, double max_norm, double norm_type,
                                wte_dtype type, const char *what, wte_error *err);
/* One row in place; true when it was too long. */
bool wte__renorm_row(const wte__norm_limit *limit, wte_dtype type, void *row, size_t cols);
/* The L2 norm of n f32 at any address: sums of doubles in a fixed order. */
double wte__norm_f32(const void *x, size_t n);
#endif
