/* Decimal text to f32. What people write is nearly always short enough to be one exact division in
 * double; the C library does the rest, in the C locale. */
#include "format/text_number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct decimal {
    bool negative, named; /* named: nan or inf */
    bool has_point, has_exponent;
    bool exact;         /* digits holds all that matter */
    uint64_t digits;    /* the significant ones as an integer ... */
    int32_t scale;      /* ... times ten to this */
    size_t digit_count; /* of the text, leading zeros too */
} decimal;

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(const uint8_t *text, size_t n, const char *name)
{
    if (n != strlen(name)) return false;
    for (size_t i = 0; i < n; i++)
        if ((text[i] | 0x20) != (uint8_t)name[i]) return false;
    return true;
}

/* Beyond this the exact value matters no more: any f32 is 0 or infinite there. */
#define SCALE_MAX 100000

static size_t take_digits(decimal *d, const uint8_t *text, size_t n, size_t at, bool fraction)
{
    const uint64_t most = (UINT64_MAX - 9) / 10;
    for (; at < n && is_digit(text[at]); at++) {
        d->digit_count++;
        if (d->digits > most) {
            d->exact = false;
            continue;
        }
        d->digits = d->digits * 10 + (uint64_t)(text[at] - '0');
        if (fraction) d->scale--;
    }
    return at;
}

static size_t take_exponent(decimal *d, const uint8_t *text, size_t n, size_t at)
{
    int32_t value = 0;
    const size_t start = at;
    bool negative = at < n && text[at] == '-';
    if (at < n && (text[at] == '-' || text[at] == '+')) at++;
    const size_t first = at;
    for (; at < n && is_digit(text[at]); at++)
        if (value < SCALE_MAX) value = value * 10 + (text[at] - '0');
    if (at == first) return start;
    d->has_exponent = true;
    d->scale += negative ? -value : value;
    return at;
}

/* All n bytes as a decimal number; false when they are something else. */
static bool read_decimal(decimal *d, const uint8_t *text, size_t n)
{
    memset(d, 0, sizeof *d);
    d->exact = true;
    size_t at = 0;
    if (n == 0 || n > WTE__TEXT_NUMBER_MAX) return false;
    if (text[0] == '-' || text[0] == '+') {
        d->negative = text[0] == '-';
        at = 1;
    }
    if (at < n && !is_digit(text[at]) && text[at] != '.') {
        d->named = is_name(text + at, n - at, "nan") || is_name(text + at, n - at, "inf") ||
                   is_name(text + at, n - at, "infinity");
        return d->named;
    }
    at = take_digits(d, text, n, at, false);
    if (at < n && text[at] == '.') {
        d->has_point = true;
        at = take_digits(d, text, n, at + 1, true);
    }
    if (d->digit_count == 0) return false;
    if (at < n && (text[at] | 0x20) == 'e') {
        at = take_exponent(d, text, n, at + 1);
        if (!d->has_exponent) return false;
    }
    return at == n;
}

wte__text_kind wte__text_kind_of(const uint8_t *text, size_t n)
{
    decimal d;
    if (!read_decimal(&d, text, n)) return WTE__TEXT_WORD;
    return d.named || d.has_point || d.has_exponent ? WTE__TEXT_FLOAT : WTE__TEXT_INTEGER;
}

bool wte__text_with_point(const uint8_t *text, size_t n, uint8_t buf[WTE__TEXT_NUMBER_MAX])
{
    size_t commas = 0;
    if (n == 0 || n > WTE__TEXT_NUMBER_MAX) return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.') return false;
        commas += text[i] == ',';
        buf[i] = text[i] == ',' ? '.' : text[i];
    }
    return commas == 1;
}

/* In one operation of double on exact numbers, if that decides the f32 beyond doubt. */
static bool by_double(const decimal *d, float *out)
{
#if FLT_EVAL_METHOD == 0
    static const double ten_to[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const uint64_t halfway = UINT64_C(1) << 28, below_f32 = (UINT64_C(1) << 29) - 1;
    if (!d->exact || d->digits > UINT64_C(1) << 53 || d->scale < -22 || d->scale > 22) return false;
    double value = (double)d->digits;
    if (d->scale < 0)
        value /= ten_to[-d->scale];
    else
        value *= ten_to[d->scale];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    /* the double is the nearest to the text; what is nearest to the double is nearest to the text
     * too, unless the double lies halfway between two floats */
    if (value != 0 && (value < (double)FLT_MIN || value > 1e38 || (bits & below_f32) == halfway))
        return false;
    *out = (float)(d->negative ? -value : value);
    return true;
#else /* numbers of more bits than a double's would be rounded twice */
    (void)d;
    (void)out;
    return false;
#endif
}

/* Digits and names are the same in every locale, but for the point. */
static bool by_library(const uint8_t *text, size_t n, float *out)
{
    char buf[WTE__TEXT_NUMBER_MAX + 1];
    memcpy(buf, text, n);
    buf[n] = '\0';
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return false;
    char *end;
    *out = strtof_l(buf, &end, plain);
    freelocale(plain);
    return *end == '\0';
}

bool wte__text_f32(const uint8_t *text, size_t n, float *out)
{
    decimal d;
    *out = 0;
    if (!read_decimal(&d, text, n)) return false;
    return (!d.named && by_double(&d, out)) || by_library(text, n, out);
}

bool wte__text_f64(const uint8_t *text, size_t n, double *out)
{
    decimal d;
    char buf[WTE__TEXT_NUMBER_MAX + 1], *end = buf;
    *out = 0;
    if (!read_decimal(&d, text, n)) return false;
    memcpy(buf, text, n);
    buf[n] = '\0';
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return false;
    *out = strtod_l(buf, &end, plain);
    freelocale(plain);
    return *end == '\0';
}
