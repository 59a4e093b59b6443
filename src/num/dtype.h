/* How the values of a type that converts are laid out in bits. */
#ifndef WTE_SRC_NUM_DTYPE_H
#define WTE_SRC_NUM_DTYPE_H
#include <wte/dtype.h>

typedef enum wte__kind { WTE__FLOAT, WTE__INTEGER, WTE__BOOL } wte__kind;

typedef struct wte__layout {
    wte__kind kind;
    bool is_signed;
    uint8_t digits;        /* binary digits of a value: significand with its hidden bit, or integer
                              without its sign */
    uint8_t exponent_bits; /* floats: bias is 2^(exponent_bits - 1) - 1 */
    bool has_infinity; /* floats: false = the all-ones code alone is NaN, the rest are numbers */
} wte__layout;

/* NULL for a type that does not convert. */
const wte__layout *wte__dtype_layout(wte_dtype type);
/* Whether a name as typed is `name`, which is in lower case. ASCII only: the answer may not depend
 * on the locale. */
bool wte__same_name(const char *typed, const char *name);
#endif
