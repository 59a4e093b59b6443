/* One vector on one line: for commands that show single rows rather than matrices. */
#include "vector.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Beyond SHOWN, the middle is left out. */
#define SHOWN_NUMBERS 10
#define FIRST_NUMBERS 8
#define SHOWN_BYTES   20
#define FIRST_BYTES   16

static bool is_integer(wte_dtype type)
{
    return type >= WTE_I8 && type <= WTE_BOOL;
}

typedef enum style { STYLE_WHOLE, STYLE_FIXED, STYLE_EXPONENT } style;

/* Four decimals say enough of vectors whose largest number lies between these. */
#define FIXED_FROM 1e-2
#define FIXED_TO   1e5

static style style_of(const double *values, uint64_t n, wte_dtype type)
{
    double largest = 0;
    for (uint64_t i = 0; i < n; i++)
        if (isfinite(values[i])) largest = fmax(largest, fabs(values[i]));
    if (is_integer(type)) return STYLE_WHOLE;
    const bool fixed = largest == 0 || (largest >= FIXED_FROM && largest < FIXED_TO);
    return fixed ? STYLE_FIXED : STYLE_EXPONENT;
}

static void put_number(FILE *out, style how, double value)
{
    if (how == STYLE_EXPONENT)
        fprintf(out, "%.4e", value);
    else
        fprintf(out, "%.*f", how == STYLE_FIXED ? 4 : 0, value);
}

/* Element i where a double does not tell all its values apart; false for the other types. */
static bool whole_of(const void *stored, uint64_t i, wte_dtype type, uint64_t *bits)
{
    if (!stored || (type != WTE_I64 && type != WTE_U64)) return false;
    memcpy(bits, (const char *)stored + i * sizeof *bits, sizeof *bits);
    return true;
}

static void put_whole(FILE *out, wte_dtype type, uint64_t bits)
{
    if (type == WTE_U64)
        fprintf(out, "%" PRIu64, bits);
    else
        fprintf(out, "%" PRId64, (int64_t)bits);
}

void cli_put_vector(FILE *out, const double *values, const void *stored, uint64_t n, wte_dtype type,
                    bool full)
{
    uint64_t bits;
    const style how = style_of(values, n, type);
    for (uint64_t i = 0; i < n; i++) {
        if (!full && n > SHOWN_NUMBERS && i == FIRST_NUMBERS) {
            fputs(" ...", out);
            i = n - 1;
        }
        if (i) fputc(' ', out);
        if (whole_of(stored, i, type, &bits))
            put_whole(out, type, bits);
        else
            put_number(out, how, values[i]);
    }
    if (!full && n > SHOWN_NUMBERS) fprintf(out, " (%" PRIu64 " numbers)", n);
}

void cli_put_bytes(FILE *out, const void *bytes, uint64_t n, bool full)
{
    const uint8_t *at = bytes;
    for (uint64_t i = 0; i < n; i++) {
        if (!full && n > SHOWN_BYTES && i == FIRST_BYTES) {
            fputs(" ...", out);
            i = n - 1;
        }
        fprintf(out, "%s%02x", i ? " " : "", at[i]);
    }
    if (!full && n > SHOWN_BYTES) fprintf(out, " (%" PRIu64 " bytes)", n);
}

void cli_json_vector(cli_json *j, const char *key, const double *values, const void *stored,
                     uint64_t n, wte_dtype type)
{
    uint64_t bits;
    cli_json_line(j, key);
    for (uint64_t i = 0; i < n; i++) {
        if (whole_of(stored, i, type, &bits) && type == WTE_U64)
            cli_json_unsigned(j, NULL, bits);
        else if (whole_of(stored, i, type, &bits))
            cli_json_signed(j, NULL, (int64_t)bits);
        else if (type == WTE_F64 || (is_integer(type) && !wte_dtype_fits(type, WTE_F32)))
            cli_json_f64(j, NULL, values[i]);
        else
            cli_json_f32(j, NULL, (float)values[i]);
    }
    cli_json_close(j);
}
