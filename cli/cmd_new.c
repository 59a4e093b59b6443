/* wte new - make a table with initial values and write it to a file. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <wte/format.h>
#include <wte/table.h>

#include "json.h"
#include "opt.h"
#include "out.h"
#include "outputs.h"

static const cli_option options[] = {
    { "rows", '\0', false, CLI_UNSIGNED, "R", "number of token ids", NULL },
    { "dim", '\0', false, CLI_UNSIGNED, "D", "numbers per vector", NULL },
    { "seed", '\0', false, CLI_SEED, "S", "seed of the generator; a negative one counts from 2^64",
      "0" },
    { "init", '\0', false, CLI_CHOICE, "torch-avx2|torch-scalar|uniform|zeros",
      "how the values are drawn", "torch-avx2" },
    { "mean", '\0', false, CLI_REAL, "X", "mean of the normal values", "0" },
    { "std", '\0', false, CLI_REAL, "X", "standard deviation of the normal values", "1" },
    { "low", '\0', false, CLI_REAL, "X", "lower bound of the uniform values", "-0.05" },
    { "high", '\0', false, CLI_REAL, "X", "upper bound of the uniform values", "0.05" },
    { "padding-id", '\0', false, CLI_UNSIGNED, "N", "set this row to zero after the draw", NULL },
    { "dtype", '\0', false, CLI_TEXT, "T", "element type", "f32" },
    { "name", '\0', false, CLI_TEXT, "TENSOR", "the tensor's name in the file",
      "embedding.weight" },
    { "max-bytes", '\0', false, CLI_UNSIGNED, "BYTES", "make a table of up to so many bytes",
      "1099511627776" },
    { "output", 'o', false, CLI_WRITE_BINARY, "FILE",
      "write FILE.safetensors or FILE.npy; '-' = .npy on stdout", NULL },
    CLI_OPTIONS_END,
};

/* What is to be made. */
typedef struct plan {
    uint64_t rows, dim;
    wte_dtype dtype;
    wte_init_options init;
    const char *kind, *name, *path;
    bool npy, to_stdout;
} plan;

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static int plan_target(const cli *c, plan *p)
{
    p->path = cli_text(c, "output");
    p->name = cli_text(c, "name");
    if (!p->path) return cli_usage(c, "-o FILE is missing");
    if (!*p->name) return cli_usage(c, "--name is empty: the table could not be asked for");
    p->to_stdout = cli_is_stdout(p->path);
    const bool safetensors = ends_with(p->path, ".safetensors");
    p->npy = ends_with(p->path, ".npy") || (!safetensors && !cli_is_file(p->path));
    if (!p->npy && !safetensors)
        return cli_usage(c, "-o '%s': the name must end in .safetensors or .npy", p->path);
    if (p->npy) { /* a type that the format cannot hold is better told before the draw */
        char header[512];
        size_t n;
        const uint64_t shape[2] = { p->rows, p->dim };
        wte_error err;
        wte_status status = wte_npy_header(p->dtype, shape, 2, header, sizeof header, &n, &err);
        if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_TYPED, &err);
    }
    return cli_binary_ok(c, p->path);
}

static int plan_size(const cli *c, plan *p)
{
    bool rows = cli_unsigned(c, "rows", 0, &p->rows), dim = cli_unsigned(c, "dim", 0, &p->dim);
    if (!rows || !dim) return cli_usage(c, "%s is missing", rows ? "--dim D" : "--rows R");
    p->dtype = wte_dtype_from_name(cli_text(c, "dtype"));
    if (p->dtype == WTE_DTYPE_NONE) return cli_refuse_value(c, "dtype", "no such element type");
    return CLI_DONE;
}

/* The options of one kind of values are refused beside another: they would say nothing. */
static int check_kind(const cli *c, const plan *p)
{
    static const struct {
        const char *name;
        bool normal, uniform;
    } belongs[] = {
        { "mean", true, false }, { "std", true, false }, { "low", false, true },
        { "high", false, true }, { "seed", true, true },
    };
    bool zeros = p->init.kind == WTE_INIT_ZEROS, uniform = p->init.kind == WTE_INIT_UNIFORM;
    for (size_t i = 0; i < sizeof belongs / sizeof *belongs; i++) {
        bool fits = !zeros && (uniform ? belongs[i].uniform : belongs[i].normal);
        if (!fits && cli_given(c, belongs[i].name))
            return cli_usage(c, "--%s says nothing about --init '%s'", belongs[i].name, p->kind);
    }
    return CLI_DONE;
}

static int plan_values(const cli *c, plan *p)
{
    static const struct {
        const char *name;
        wte_init_kind kind;
    } kinds[] = {
        { "torch-avx2", WTE_INIT_TORCH_AVX2 },
        { "torch-scalar", WTE_INIT_TORCH_SCALAR },
        { "uniform", WTE_INIT_UNIFORM },
        { "zeros", WTE_INIT_ZEROS },
    };
    const wte_init_options none = WTE_INIT_OPTIONS_INIT;
    p->init = none;
    p->kind = cli_text(c, "init");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(p->kind, kinds[i].name) == 0) p->init.kind = kinds[i].kind;
    cli_unsigned(c, "seed", 0, &p->init.seed);
    cli_real(c, "mean", 0, &p->init.mean);
    p->init.has_padding_id = cli_unsigned(c, "padding-id", 0, &p->init.padding_id);
    /* zero stands for a default in the library's options; here it was meant */
    if (cli_real(c, "std", 1, &p->init.std) && p->init.std == 0)
        return cli_usage(c, "--std 0 draws nothing; use --init zeros");
    bool low = cli_real(c, "low", -0.05, &p->init.low);
    bool high = cli_real(c, "high", 0.05, &p->init.high);
    if (low != high) return cli_usage(c, "--low and --high are given together");
    if (p->init.low == 0 && p->init.high == 0)
        return cli_usage(c, "--low 0 --high 0 draws nothing; use --init zeros");
    return check_kind(c, p);
}

/* The origin of the values, as it is noted in the file. */
static const char *origin(char buf[160], const plan *p)
{
    int used = snprintf(buf, 160, "%s", p->kind);
    size_t at = used > 0 ? (size_t)used : 0;
    if (p->init.kind == WTE_INIT_UNIFORM)
        snprintf(buf + at, 160 - at, ", seed %" PRIu64 ", low %.17g, high %.17g", p->init.seed,
                 p->init.low, p->init.high);
    else if (p->init.kind != WTE_INIT_ZEROS)
        snprintf(buf + at, 160 - at, ", seed %" PRIu64 ", mean %.17g, std %.17g", p->init.seed,
                 p->init.mean, p->init.std);
    return buf;
}

static int write_npy(const cli *c, const plan *p, const wte_tensor_out *tensor, uint64_t bytes)
{
    char header[512];
    size_t n;
    cli_sink sink;
    wte_error err;
    wte_status status =
        wte_npy_header(tensor->dtype, tensor->shape, tensor->rank, header, sizeof header, &n, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_OUTPUT, &err);
    int code = cli_sink_open(c, p->path, &sink);
    if (code) return code;
    code = cli_sink_put(c, &sink, header, n);
    if (!code) code = cli_sink_put(c, &sink, tensor->data, (size_t)bytes);
    return cli_sink_close(c, &sink, code);
}

/* Drawn numbers that the type cannot hold have become infinite, or NaN where it has no infinity. */
static int check_range(const cli *c, const plan *p, wte_table *table)
{
    double wide[256];
    const uint64_t n = p->rows * p->dim; /* it was allocated: no overflow */
    const uint32_t each = wte_dtype_bytes(p->dtype);
    uint64_t beyond = 0;
    if (wte_dtype_fits(WTE_F32, p->dtype)) return CLI_DONE;
    for (uint64_t at = 0; at < n; at += 256) {
        const size_t now = n - at < 256 ? (size_t)(n - at) : 256;
        wte_error err;
        const char *data = (const char *)wte_table_data(table) + at * each;
        const wte_status status = wte_convert(p->dtype, data, WTE_F64, wide, now, NULL, &err);
        if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_TYPED, &err);
        for (size_t i = 0; i < now; i++)
            if (!isfinite(wide[i])) beyond++;
    }
    if (!beyond) return CLI_DONE;
    return cli_usage(c,
                     "--dtype %s: %" PRIu64 " of %" PRIu64
                     " numbers that were drawn are beyond its range; draw smaller ones",
                     wte_dtype_name(p->dtype), beyond, n);
}

static int write_table(const cli *c, const plan *p, wte_table *table, uint64_t bytes)
{
    char buf[160];
    const uint64_t shape[2] = { p->rows, p->dim };
    const wte_tensor_out tensor = { p->name, p->dtype, 2, shape, wte_table_data(table), NULL };
    if (p->npy) return write_npy(c, p, &tensor, bytes);
    /* readers of the models' own library ask for "format" */
    const char *const metadata[2][2] = { { "format", "pt" }, { "wte.init", origin(buf, p) } };
    wte_error err;
    wte_writer *to;
    const int code = cli_outputs_writer(c, p->path, &to);
    if (code) return code;
    wte_status status = wte_safetensors_write_to(to, &tensor, 1, metadata, 2, &err);
    if (status == WTE_OK) status = wte_writer_commit(to, &err);
    /* a name that a tensor cannot have was typed */
    const cli_side side = status == WTE_E_ARGUMENT ? CLI_SIDE_TYPED : CLI_SIDE_OUTPUT;
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, side, &err);
}

static void tell_json(const plan *p, uint64_t bytes)
{
    cli_json j;
    cli_json_begin(&j, stdout, "wte.new/1");
    cli_json_bytes(&j, "file", p->path, strlen(p->path));
    if (p->npy)
        cli_json_null(&j, "tensor");
    else
        cli_json_bytes(&j, "tensor", p->name, strlen(p->name));
    cli_json_text(&j, "dtype", wte_dtype_name(p->dtype));
    cli_json_line(&j, "shape");
    cli_json_unsigned(&j, NULL, p->rows);
    cli_json_unsigned(&j, NULL, p->dim);
    cli_json_close(&j);
    cli_json_unsigned(&j, "bytes", bytes);
    cli_json_text(&j, "init", p->kind);
    if (p->init.kind == WTE_INIT_ZEROS)
        cli_json_null(&j, "seed");
    else
        cli_json_unsigned(&j, "seed", p->init.seed);
    if (p->init.has_padding_id)
        cli_json_unsigned(&j, "padding_id", p->init.padding_id);
    else
        cli_json_null(&j, "padding_id");
    cli_json_end(&j);
}

static void tell_text(const plan *p, uint64_t bytes)
{
    char size[32], text[160];
    cli_put_safe(stdout, p->path, strlen(p->path));
    fputs(": ", stdout);
    if (!p->npy) {
        cli_put_safe(stdout, p->name, strlen(p->name));
        fputs(", ", stdout);
    }
    printf("%" PRIu64 " x %" PRIu64 " %s (%s), %s", p->rows, p->dim, wte_dtype_name(p->dtype),
           cli_size(size, bytes), origin(text, p));
    if (p->init.has_padding_id) printf(", row %" PRIu64 " zero", p->init.padding_id);
    fputc('\n', stdout);
}

static int run(cli *c)
{
    plan p;
    memset(&p, 0, sizeof p);
    int code = plan_size(c, &p);
    if (!code) code = plan_values(c, &p);
    if (!code) code = plan_target(c, &p);
    if (code) return code;
    wte_table *table;
    wte_error err;
    wte_table_options opt = WTE_TABLE_OPTIONS_INIT;
    cli_unsigned(c, "max-bytes", 0, &opt.max_bytes);
    wte_status status = wte_table_create(p.rows, p.dim, p.dtype, &opt, &table, &err);
    if (status == WTE_OK) status = wte_table_init(table, &p.init, &err);
    if (status != WTE_OK) {
        wte_table_free(table);
        return cli_fail(c, status, CLI_SIDE_TYPED, &err);
    }
    /* create has checked that this fits */
    uint64_t bytes = p.rows * p.dim * wte_dtype_bytes(p.dtype);
    code = check_range(c, &p, table);
    if (!code) code = write_table(c, &p, table, bytes);
    if (!code) code = cli_outputs_commit(c);
    wte_table_free(table);
    if (code || p.to_stdout) return code;
    if (c->json)
        tell_json(&p, bytes);
    else
        tell_text(&p, bytes);
    return CLI_DONE;
}

const cli_command cmd_new = {
    .name = "new",
    .group = CLI_CHANGE,
    .synopsis = "",
    .summary = "make a table, with PyTorch's own numbers for a seed",
    .options = options,
    .common = CLI_WITH_JSON,
    .notes = "torch-avx2 and torch-scalar draw what torch.manual_seed(S) and then\n"
             "torch.nn.Embedding(R, D) draw, bit for bit: on x86 with AVX2, and without.\n"
             "An existing FILE is replaced when the new one is complete.",
    .run = run,
};
