/* One element of any type as an exact number, and back with one rounding: the slow, plain statement
 * of what every conversion must do. */
#ifndef WTE_SRC_NUM_NUMBER_H
#define WTE_SRC_NUM_NUMBER_H
#include <wte/dtype.h>

typedef enum wte__class { WTE__ZERO, WTE__FINITE, WTE__INFINITE, WTE__NAN } wte__class;

typedef struct wte__number {
    wte__class what;
    bool negative;
    int32_t exponent; /* finite: value = significand / 2^63 * 2^exponent */
    uint64_t bits;    /* finite: the significand, top bit set; NaN: the payload, top bit = quiet */
} wte__number;

/* What a value lost on its way into a type; wte_convert_report counts them. */
typedef enum wte__loss {
    WTE__EXACT,
    WTE__OVERFLOW,
    WTE__UNDERFLOW,
    WTE__INEXACT,
    WTE__WAS_NAN,
    WTE__N_LOSSES
} wte__loss;

/* The element at src (any alignment) of a type that converts. */
wte__number wte__number_load(wte_dtype type, const void *src);
/* Store it at dst as a type that converts, by the rules of wte_convert. */
wte__loss wte__number_store(wte__number number, wte_dtype type, void *dst);
#endif
