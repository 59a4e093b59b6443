/* Numbers as text files of vectors write them: whatever the locale, correctly rounded to f32. */
#ifndef WTE_SRC_FORMAT_TEXT_NUMBER_H
#define WTE_SRC_FORMAT_TEXT_NUMBER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No exact decimal form of an f32 or f64 is longer. */
#define WTE__TEXT_NUMBER_MAX 1100u

typedef enum wte__text_kind {
    WTE__TEXT_WORD,    /* no number */
    WTE__TEXT_INTEGER, /* digits alone, perhaps with a sign */
    WTE__TEXT_FLOAT    /* with a point or an exponent, or nan or inf */
} wte__text_kind;

/* Decimal digits with a point and an exponent as people may write them ("-1", ".5", "1e-3"), "nan"
 * and "inf" in any case. */
wte__text_kind wte__text_kind_of(const uint8_t *text, size_t n);
/* The text with a decimal point in the place of its one decimal comma; false when it has a point,
 * or no comma or several, or is longer than a number. */
bool wte__text_with_point(const uint8_t *text, size_t n, uint8_t buf[WTE__TEXT_NUMBER_MAX]);
/* The number that all n bytes are; false when they are none. As strtof: too large becomes infinite.
 */
bool wte__text_f32(const uint8_t *text, size_t n, float *out);
/* The same in f64, for few numbers: always through the C library. */
bool wte__text_f64(const uint8_t *text, size_t n, double *out);
#endif
