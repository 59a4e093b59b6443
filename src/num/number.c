/* Every type's elements as sign, 64-bit significand and exponent: f64 (53 bits) and u64 (64) fit
 * exactly, so a conversion through here rounds once, whatever the pair of types. Integer arithmetic
 * only: the floating-point environment does not matter. */
#include "num/number.h"

#include <string.h>

#include "num/dtype.h"

#define TOP_BIT (UINT64_C(1) << 63)

/* Elements are little-endian in memory, and so are the hosts that wte runs on. */
static uint64_t load_bits(const void *src, uint32_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, src, bytes);
    return bits;
}

static wte__number from_magnitude(bool negative, uint64_t magnitude, int32_t unit_exponent)
{
    wte__number number = { WTE__ZERO, negative, 0, 0 };
    if (magnitude) {
        const int32_t zeros = __builtin_clzll(magnitude);
        number.what = WTE__FINITE;
        number.bits = magnitude << zeros;
        number.exponent = unit_exponent + 63 - zeros;
    }
    return number;
}

static uint32_t fraction_bits(const wte__layout *layout)
{
    return layout->digits - 1u; /* the leading digit is not stored */
}

static int32_t bias(const wte__layout *layout)
{
    return (1 << (layout->exponent_bits - 1)) - 1;
}

/* The largest code of a finite value, without its sign. */
static uint64_t max_finite_code(const wte__layout *layout)
{
    const uint64_t all_ones = (UINT64_C(1) << (layout->exponent_bits + fraction_bits(layout))) - 1;
    return layout->has_infinity ? all_ones - (UINT64_C(1) << fraction_bits(layout)) : all_ones - 1;
}

static wte__number load_float(const wte__layout *layout, uint64_t bits)
{
    const uint32_t fraction_width = fraction_bits(layout);
    const uint32_t sign_at = layout->exponent_bits + fraction_width;
    const bool negative = bits >> sign_at & 1;
    const uint64_t code = bits & ((UINT64_C(1) << sign_at) - 1);
    const uint64_t hidden = UINT64_C(1) << fraction_width;
    const uint64_t fraction = code & (hidden - 1);
    const int32_t field = (int32_t)(code >> fraction_width);

    if (code > max_finite_code(layout)) {
        wte__number special = { WTE__NAN, negative, 0, TOP_BIT };
        if (layout->has_infinity && fraction == 0) special.what = WTE__INFINITE;
        /* Without infinities there is one NaN code, and its bits carry nothing. */
        if (layout->has_infinity) special.bits |= fraction << (64 - fraction_width);
        return special;
    }
    const int32_t unit = 1 - bias(layout) - (int32_t)fraction_width;
    if (field == 0) return from_magnitude(negative, fraction, unit);
    return from_magnitude(negative, hidden | fraction, unit + field - 1);
}

static wte__number load_integer(const wte__layout *layout, uint64_t bits)
{
    const uint64_t sign = UINT64_C(1) << (layout->digits & 63);
    if (!layout->is_signed || !(bits & sign)) return from_magnitude(false, bits, 0);
    return from_magnitude(true, sign - (bits & (sign - 1)), 0);
}

wte__number wte__number_load(wte_dtype type, const void *src)
{
    const wte__layout *layout = wte__dtype_layout(type);
    const uint64_t bits = load_bits(src, wte_dtype_bytes(type));
    switch (layout->kind) {
    case WTE__FLOAT: return load_float(layout, bits);
    case WTE__INTEGER: return load_integer(layout, bits);
    case WTE__BOOL: break;
    }
    return from_magnitude(false, bits != 0, 0);
}

/* bits / 2^shift to the nearest integer, ties to even. */
static uint64_t round_shift(uint64_t bits, int32_t shift, bool *exact)
{
    if (shift <= 0) {
        *exact = true;
        return bits;
    }
    if (shift > 64) { /* less than one half */
        *exact = false;
        return 0;
    }
    const uint64_t whole = shift == 64 ? 0 : bits >> shift;
    const uint64_t rest = bits << (64 - shift);
    *exact = rest == 0;
    return whole + (rest > TOP_BIT || (rest == TOP_BIT && (whole & 1)));
}

/* The code without its sign. */
static wte__loss float_code(wte__number number, const wte__layout *layout, uint64_t *code)
{
    const uint32_t fraction_width = fraction_bits(layout);
    const uint64_t max_finite = max_finite_code(layout);
    const uint64_t beyond = max_finite + 1; /* infinity, or the NaN of a type that has none */
    const int32_t min_exponent = 1 - bias(layout);

    if (number.what == WTE__ZERO) {
        *code = 0;
        return WTE__EXACT;
    }
    if (number.what == WTE__INFINITE || number.exponent > bias(layout) + 1) {
        *code = beyond;
        return number.what == WTE__INFINITE && layout->has_infinity ? WTE__EXACT : WTE__OVERFLOW;
    }
    if (number.what == WTE__NAN) {
        const uint64_t payload = number.bits >> (64 - fraction_width);
        *code = layout->has_infinity ? beyond | payload : beyond;
        return WTE__WAS_NAN;
    }
    /* Below the smallest normal number the digits shrink; the code of a subnormal is its digits,
     * and a carry out of either's rounding leads to the right next code. */
    const bool subnormal = number.exponent < min_exponent;
    const int32_t lost_digits = subnormal ? min_exponent - number.exponent : 0;
    const int32_t field = subnormal ? 0 : number.exponent - min_exponent;
    bool exact;
    const uint64_t digits =
        round_shift(number.bits, 63 - (int32_t)fraction_width + lost_digits, &exact);
    *code = ((uint64_t)field << fraction_width) + digits;
    if (*code > max_finite) {
        *code = beyond;
        return WTE__OVERFLOW;
    }
    if (exact) return WTE__EXACT;
    return *code == 0 ? WTE__UNDERFLOW : WTE__INEXACT;
}

static wte__loss integer_bits(wte__number number, const wte__layout *layout, uint64_t *bits)
{
    const uint64_t max = UINT64_MAX >> (64 - layout->digits);
    const uint64_t limit = !number.negative ? max : layout->is_signed ? max + 1 : 0;
    uint64_t magnitude = 0;
    wte__loss loss = WTE__EXACT;
    switch (number.what) {
    case WTE__ZERO: break;
    case WTE__NAN: loss = WTE__WAS_NAN; break;
    case WTE__INFINITE:
        magnitude = limit;
        loss = WTE__OVERFLOW;
        break;
    case WTE__FINITE: {
        bool exact = false;
        const bool huge = number.exponent > 63;
        if (!huge) magnitude = round_shift(number.bits, 63 - number.exponent, &exact);
        if (huge || magnitude > limit) {
            magnitude = limit;
            loss = WTE__OVERFLOW;
        } else if (!exact) {
            loss = magnitude == 0 ? WTE__UNDERFLOW : WTE__INEXACT;
        }
        break;
    }
    }
    *bits = number.negative ? 0 - magnitude : magnitude;
    return loss;
}

static wte__loss bool_bits(wte__number number, uint64_t *bits)
{
    *bits = number.what != WTE__ZERO;
    if (number.what == WTE__NAN) return WTE__WAS_NAN;
    const bool one = number.what == WTE__FINITE && !number.negative && number.exponent == 0 &&
                     number.bits == TOP_BIT;
    return number.what == WTE__ZERO || one ? WTE__EXACT : WTE__INEXACT;
}

wte__loss wte__number_store(wte__number number, wte_dtype type, void *dst)
{
    const wte__layout *layout = wte__dtype_layout(type);
    uint64_t bits = 0;
    wte__loss loss = WTE__EXACT;
    switch (layout->kind) {
    case WTE__FLOAT:
        loss = float_code(number, layout, &bits);
        bits |= (uint64_t)number.negative << (layout->exponent_bits + fraction_bits(layout));
        break;
    case WTE__INTEGER: loss = integer_bits(number, layout, &bits); break;
    case WTE__BOOL: loss = bool_bits(number, &bits); break;
    }
    memcpy(dst, &bits, wte_dtype_bytes(type));
    return loss;
}
