/* The value of --observed, or of --vector. Typed numbers keep how many digits were typed: a number
 * stands for all that are written so. */
#include "observed.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "baseline.h"
#include "number.h"
#include "open.h"
#include "out.h"

#define SEPARATORS  ", \t\n\r[]\""
#define NUMBER_TEXT 400 /* longer than any f64 is written */

/* Numbers as people have them: typed, or copied from what a program printed, with a word before the
 * list and perhaps something after it ("tensor([[-0.4, 0.9]], grad_fn=...)"). *list gets the
 * numbers, *n their length. */
static bool looks_typed(const char *text, const char **list, size_t *n)
{
    const char *open = strchr(text, '['), *close = strrchr(text, ']');
    bool digit = false;
    *list = text;
    *n = strlen(text);
    if (open && close && close > open && open > text && open[-1] == '(') {
        *list = open;
        *n = (size_t)(close - open) + 1;
    }
    for (size_t i = 0; i < *n; i++) {
        const char c = (*list)[i];
        const size_t dash = cli_false_dash(*list + i);
        digit |= isdigit((unsigned char)c) || (i && c == ',');
        if (!dash && !isdigit((unsigned char)c) && !strchr("+-.eEnaNiIfFtTyY" SEPARATORS, c))
            return false;
        if (dash) i += dash - 1;
    }
    return digit;
}

/* Half a unit of the last digit of a number as typed: "-0.4015" 0.00005, "12" 0.5, "1.50e2" 0.5. */
static bool read_number(const char *text, size_t n, double *value, double *half_unit)
{
    char number[NUMBER_TEXT], unit[32];
    int64_t exponent = 0, decimals = 0;
    *value = 0;
    if (n >= sizeof number) return false;
    for (size_t i = 0; i < n; i++) number[i] = (char)tolower((unsigned char)text[i]);
    number[n] = '\0';
    if (!cli_read_real(number, value)) return false;
    char *e = strchr(number, 'e');
    if (e && !cli_read_signed(e + 1 + (e[1] == '+'), &exponent)) return false;
    const size_t mantissa = e ? (size_t)(e - number) : n;
    const char *point = memchr(number, '.', mantissa);
    if (point) decimals = (int64_t)mantissa - (point - number) - 1;
    snprintf(unit, sizeof unit, "5e%" PRId64, exponent - decimals - 1);
    return exponent > -100000 && exponent < 100000 && cli_read_real(unit, half_unit);
}

static cli_fields numbers_of(const char *text, const char *what)
{
    /* quotes stand around "NaN" in JSON */
    return (cli_fields){ .at = text, .blanks = " \t\n\r\"", .brackets = true, .what = what };
}

static int read_typed(const cli *c, const char *option, const char *text, cli_observed *out)
{
    cli_hint hint;
    snprintf(out->option, sizeof out->option, "--%s", option);
    out->typed = true;
    out->from = out->option;
    cli_fields f = numbers_of(text, out->from);
    while (cli_fields_next(&f)) continue;
    if (f.missing) return cli_fields_refuse(c, &f);
    const size_t n = (size_t)f.count;
    double *values = malloc((n + 1) * sizeof *values);
    out->data = values;
    out->half_unit = malloc((n + 1) * sizeof *out->half_unit);
    if (!values || !out->half_unit) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    f = numbers_of(text, out->from);
    for (size_t i = 0; cli_fields_next(&f); i++)
        if (!read_number(f.text, f.n, &values[i], &out->half_unit[i]))
            return cli_usage(c, "--%s: '%.*s' is %s%s", option, (int)f.n, f.text,
                             isinf(values[i]) ? "beyond what f64 holds" : "no number",
                             cli_dash_hint(&hint, f.text, f.n));
    if (n == 0) return cli_usage(c, "--%s: there are no numbers in it", option);
    out->got = (wte_observed){ values, WTE_F64, 0, 1, n, out->half_unit };
    return CLI_DONE;
}

static bool is_empty(const wte_tensor *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->shape[i] == 0) return true;
    return false;
}

/* [0, 576]: no vector is wider than another. */
static int refuse_nothing(const cli *c, const char *path, const wte_tensor *t)
{
    char shape[256] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < t->rank && n < sizeof shape; i++)
        n +=
            (size_t)snprintf(shape + n, sizeof shape - n, "%s%" PRIu64, i ? ", " : "", t->shape[i]);
    return cli_say_fail(c, CLI_INPUT, "%s: shape [%s]: there are no numbers in it", path, shape);
}

static wte_status read_tensor(const wte_file *f, const wte_tensor *t, cli_observed *out,
                              wte_error *err)
{
    wte_row_source rows;
    const wte_status status = wte_file_row_source(f, 0, &rows, err);
    if (status != WTE_OK) return status;
    /* the file holds that many bytes, so the product fits */
    const uint64_t numbers = rows.rows * rows.cols;
    const bool matrix = t->rank > 1;
    const uint64_t cols = matrix ? t->shape[t->rank - 1] : numbers;
    out->data = malloc((size_t)numbers * wte_dtype_bytes(rows.dtype) + 1);
    if (!out->data) return WTE_E_MEMORY;
    out->got = (wte_observed){ out->data, rows.dtype, 0, matrix ? numbers / cols : 1, cols, NULL };
    return wte_row_source_read_block(&rows, 0, (size_t)rows.rows, out->data, err);
}

static int read_file(const cli *c, const char *option, const char *path, cli_observed *out)
{
    wte_file_options opt;
    cli_file_options(c, &opt);
    wte_file *f;
    wte_tensor t;
    wte_error err = { WTE_E_MEMORY, 0, WTE_NO_INDEX, "out of memory for the vectors" };
    wte_status status;
    char *piped = NULL;
    uint64_t bytes;
    int code = CLI_DONE;
    /* vectors: columns of numbers are all theirs */
    const wte_text_options text = { sizeof text, WTE_TEXT_KEYS_WORDS, 0, 0, 0, 0 };
    opt.text = &text;
    if (strcmp(path, "-") == 0) {
        path = "standard input";
        code = cli_read_text(c, "-", UINT64_MAX, &piped, &bytes);
        if (code) {
            free(piped);
            return code;
        }
        status = wte_file_open_memory(piped, bytes, path, &opt, &f, &err);
    } else {
        status = wte_file_open(path, &opt, &f, &err);
    }
    if (status != WTE_OK) {
        free(piped);
        return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    }
    const uint64_t n = wte_file_n_tensors(f);
    out->from = path;
    if (n != 1)
        code = cli_say_fail(c, CLI_INPUT, "%s: has %" PRIu64 " tensors; --%s wants a file with one",
                            path, n, option);
    else if ((status = wte_file_tensor(f, 0, &t, &err)) == WTE_OK && is_empty(&t))
        code = refuse_nothing(c, path, &t);
    else if (status != WTE_OK || (status = read_tensor(f, &t, out, &err)) != WTE_OK)
        code = cli_fail(c, status, CLI_SIDE_INPUT, &err);
    wte_file_free(f);
    free(piped);
    return code;
}

int cli_observed_read(const cli *c, const char *option, cli_observed *out)
{
    const char *text = cli_text(c, option), *list;
    size_t n;
    *out = (cli_observed){ .typed = false };
    if (!looks_typed(text, &list, &n)) {
        if (strpbrk(text, ", \t\n[") && access(text, F_OK) != 0)
            return cli_usage(c, "--%s '%s': neither numbers nor a file", option, text);
        return read_file(c, option, text, out);
    }
    char *numbers = strndup(list, n);
    if (!numbers) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    const int code = read_typed(c, option, numbers, out);
    free(numbers);
    return code;
}

int cli_observed_width(const cli *c, const cli_observed *got, const char *table, uint64_t dim)
{
    if (got->got.cols == dim) return CLI_DONE;
    return cli_say_fail(c, got->typed ? CLI_USAGE : CLI_INPUT,
                        "%s: %" PRIu64 " numbers in a vector, but a row of %s has %" PRIu64,
                        got->from, got->got.cols, table, dim);
}

int cli_observed_f32(const cli *c, const cli_observed *got, float **out)
{
    const size_t n = (size_t)(got->got.n * got->got.cols);
    const size_t each = wte_dtype_bytes(got->got.dtype);
    wte_error err;
    *out = calloc(n + 1, sizeof **out);
    if (!*out) return cli_say_fail(c, CLI_OUTPUT, "out of memory for %zu numbers", n);
    const wte_status status =
        wte_convert(got->got.dtype, got->got.data, WTE_F32, *out, n, NULL, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    for (size_t i = 0; i < n && got->got.dtype != WTE_F32; i++) {
        double value = 0;
        if (!isinf((*out)[i]) ||
            wte_convert(got->got.dtype, (const char *)got->got.data + i * each, WTE_F64, &value, 1,
                        NULL, NULL) != WTE_OK ||
            isinf(value))
            continue;
        return cli_say_fail(c, got->typed ? CLI_IS_TYPED_SHAPE : CLI_IS_FILE_SHAPE,
                            "%s: number %zu is %.9g, but f32 ends at 3.4028235e38", got->from, i,
                            value);
    }
    return CLI_DONE;
}

void cli_observed_clear(cli_observed *got)
{
    free(got->data);
    free(got->half_unit);
}
