/* What `wte bench` prints, and what it makes of two runs. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "baseline.h"
#include "bench.h"
#include "number.h"

#define RESULTS_BYTES (4u << 20) /* a run prints some 40 KiB */
#define TIE           0.05

bool bench_results_add(bench_results *r, const bench_result *one)
{
    if (r->n == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 64;
        bench_result *more = realloc(r->list, cap * sizeof *more);
        if (!more) return false;
        r->list = more;
        r->cap = cap;
    }
    r->list[r->n++] = *one;
    return true;
}

/* Text ------------------------------------------------------------------------------------------
 */

/* "model name" of /proc/cpuinfo, or "unknown". */
static void cpu_name(char name[128])
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, 128, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon || colon[1] != ' ') continue;
        snprintf(name, 128, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (f) fclose(f);
}

/* How many others want the processors: of the last minute; 0 where that is not known. */
static double load_here(void)
{
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

/* The best set that any kernel is served by. */
static const char *kernels_isa(void)
{
    const char *kernel, *isa, *best = "scalar";
    for (size_t i = 0; (isa = wte_kernel_isa(i, &kernel)); i++)
        if (strcmp(isa, "scalar") != 0 && strcmp(best, "avx512") != 0) best = isa;
    return best;
}

void bench_print_head(const bench *b)
{
    char cpu[128], size[32];
    cpu_name(cpu);
    printf("wte %s, %s kernels, on ", wte_version(), kernels_isa());
    cli_put_safe(stdout, cpu, strlen(cpu));
    printf(", load %.1f, up to %" PRIu32 " thread%s, %s of tables and outputs\n\n", load_here(),
           b->threads, b->threads == 1 ? "" : "s", cli_size(size, b->table_bytes + b->out_bytes));
}

static void put_time(double seconds)
{
    if (seconds < 1e-3)
        printf("%8.1f us", seconds * 1e6);
    else if (seconds < 1)
        printf("%8.3f ms", seconds * 1e3);
    else
        printf("%8.3f s ", seconds);
}

void bench_print_result(const cli *c, const bench_result *r, bool first)
{
    const int kind = (int)strcspn(r->limit, c->verbose ? "" : ",");
    if (first)
        printf("%-44s %7s  %11s  %12s  %5s  %-13s  %6s  %s\n", "", "threads", "time", "rate",
               "share", "quarters", "rounds", "limit");
    printf("%-44s %7" PRIu32 "  ", r->name, r->threads);
    put_time(r->seconds);
    printf("  %6.1f %-5s", r->rate, r->unit);
    if (r->share > 0)
        printf("  %5.2f  %.2f .. %.2f ", r->share, r->share_low, r->share_high);
    else
        printf("  %5s  %-13s", "", "");
    printf("  %6" PRIu32 "  %.*s\n", r->rounds, kind, r->limit);
}

/* JSON ------------------------------------------------------------------------------------------
 */

void bench_json(const cli *c, const bench_results *r, cli_json *json)
{
    char cpu[128];
    cpu_name(cpu);
    cli_json_text(json, "version", wte_version());
    cli_json_bytes(json, "cpu", cpu, strlen(cpu));
    cli_json_text(json, "isa", kernels_isa());
    cli_json_f64(json, "load", load_here());
    cli_json_bool(json, "quick", cli_given(c, "quick"));
    cli_json_list(json, "results");
    for (size_t i = 0; i < r->n; i++) {
        const bench_result *one = &r->list[i];
        cli_json_short(json, NULL);
        cli_json_text(json, "name", one->name);
        cli_json_unsigned(json, "threads", one->threads);
        cli_json_f64(json, "seconds", one->seconds);
        cli_json_f64(json, "seconds_low", one->seconds_low);
        cli_json_f64(json, "seconds_high", one->seconds_high);
        cli_json_unsigned(json, "rounds", one->rounds);
        cli_json_f64(json, "rate", one->rate);
        cli_json_text(json, "unit", one->unit);
        cli_json_text(json, "limit", one->limit);
        if (one->share > 0) { /* else it is a limit itself */
            cli_json_f64(json, "share", one->share);
            cli_json_f64(json, "share_low", one->share_low);
            cli_json_f64(json, "share_high", one->share_high);
        }
        cli_json_close(json);
    }
    cli_json_close(json);
}

/* Reading it back -------------------------------------------------------------------------------
 */

/* Texts of this file's making have no escapes that matter: names are plain. */
typedef struct reader {
    const char *at;
    bool bad;
} reader;

static void skip_space(reader *r)
{
    while (*r->at && isspace((unsigned char)*r->at)) r->at++;
}

/* A text in quotes, cut to fit. */
static void read_quoted(reader *r, char *out, size_t cap)
{
    size_t n = 0;
    out[0] = '\0';
    if (*r->at != '"') {
        r->bad = true;
        return;
    }
    for (r->at++; *r->at && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at[1]) r->at++;
        if (n + 1 < cap) out[n++] = *r->at;
    }
    out[n] = '\0';
    if (*r->at == '"')
        r->at++;
    else
        r->bad = true;
}

static double read_number(reader *r)
{
    char text[64];
    double value = 0;
    const size_t n = strspn(r->at, "0123456789+-.eE");
    if (n == 0 || n >= sizeof text) {
        r->bad = true;
        return 0;
    }
    memcpy(text, r->at, n);
    text[n] = '\0';
    r->at += n;
    if (!cli_read_real(text, &value)) r->bad = true;
    return value;
}

static void take_number(bench_result *one, const char *key, double value)
{
    const struct {
        const char *key;
        double *to;
    } fields[] = {
        { "seconds", &one->seconds },
        { "seconds_low", &one->seconds_low },
        { "seconds_high", &one->seconds_high },
        { "rate", &one->rate },
        { "share", &one->share },
        { "share_low", &one->share_low },
        { "share_high", &one->share_high },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(key, fields[i].key) == 0) *fields[i].to = value;
    if (strcmp(key, "threads") == 0 && value >= 1 && value <= 256) one->threads = (uint32_t)value;
    if (strcmp(key, "rounds") == 0 && value >= 0 && value <= 1e9) one->rounds = (uint32_t)value;
}

/* One object of the list, from its '{'. */
static void read_result(reader *r, bench_result *one)
{
    char key[32], text[BENCH_NAME];
    *one = (bench_result){ .threads = 0 };
    r->at++;
    for (skip_space(r); !r->bad && *r->at != '}'; skip_space(r)) {
        read_quoted(r, key, sizeof key);
        skip_space(r);
        if (*r->at != ':') r->bad = true;
        if (!r->bad) r->at++;
        skip_space(r);
        if (*r->at == '"') {
            read_quoted(r, text, sizeof text);
            if (strcmp(key, "name") == 0) snprintf(one->name, sizeof one->name, "%s", text);
            if (strcmp(key, "unit") == 0) snprintf(one->unit, sizeof one->unit, "%.15s", text);
            if (strcmp(key, "limit") == 0) snprintf(one->limit, sizeof one->limit, "%.63s", text);
        } else {
            take_number(one, key, read_number(r));
        }
        skip_space(r);
        if (*r->at == ',') r->at++;
    }
    if (!r->bad) r->at++;
    if (!one->name[0] || !one->threads || !(one->seconds > 0)) r->bad = true;
}

static bool read_all(const char *text, bench_results *out, bool *no_memory)
{
    const char *list = strstr(text, "\"results\"");
    reader r = { list ? list + strlen("\"results\"") : "", false };
    bench_result one;
    *no_memory = false;
    skip_space(&r);
    if (*r.at++ != ':') return false;
    skip_space(&r);
    if (*r.at++ != '[') return false;
    for (skip_space(&r); *r.at == '{'; skip_space(&r)) {
        read_result(&r, &one);
        if (r.bad) return false;
        if (!bench_results_add(out, &one)) *no_memory = true;
        if (*no_memory) return false;
        skip_space(&r);
        if (*r.at == ',') r.at++;
    }
    return *r.at == ']';
}

int bench_read_results(const cli *c, const char *path, bench_results *out)
{
    char *text = NULL;
    uint64_t bytes;
    bool no_memory = false;
    int code = cli_read_text(c, path, RESULTS_BYTES, &text, &bytes);
    if (!code && (!strstr(text, "\"wte.bench/1\"") || !read_all(text, out, &no_memory)))
        code = no_memory
                   ? cli_say_fail(c, CLI_OUTPUT, "out of memory for %s", path)
                   : cli_say_fail(c, CLI_INPUT, "%s: not what `wte bench --json` prints", path);
    free(text);
    return code;
}

/* Comparing -------------------------------------------------------------------------------------
 */

static const bench_result *find(const bench_results *r, const bench_result *like)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->list[i].threads == like->threads && strcmp(r->list[i].name, like->name) == 0)
            return &r->list[i];
    return NULL;
}

/* Above 1: `now` is faster. Limits are the machine's; they are shown and not judged. */
static double ratio(const bench_result *old, const bench_result *now)
{
    if (old->share > 0 && now->share > 0) return now->share / old->share;
    return old->seconds / now->seconds;
}

/* Whether the quarters of the two runs overlap: then neither is known to be the faster one. */
static bool overlap(const bench_result *old, const bench_result *now)
{
    if (!(old->share_low > 0 && now->share_low > 0)) return false; /* not told */
    return old->share_low <= now->share_high && now->share_low <= old->share_high;
}

static const char *verdict(const bench_result *old, const bench_result *now, double x)
{
    if (x < 1 + TIE && x > 1 / (1 + TIE)) return "tie";
    if (now->share <= 0) return "machine";
    if (overlap(old, now)) return "unsure";
    return x > 1 ? "faster" : "slower";
}

static void compare_one(const bench_result *old, const bench_result *now, double tolerance,
                        bench_compared *done, cli_json *json)
{
    const double x = ratio(old, now);
    const char *what = verdict(old, now, x);
    done->both++;
    if (*what == 's') done->slower++;
    if (*what == 'f') done->faster++;
    if (*what == 't') done->ties++;
    if (*what == 'u') done->unsure++;
    if (*what == 's' && x < 1 - tolerance) done->failed = true;
    if (json) {
        cli_json_short(json, NULL);
        cli_json_text(json, "name", now->name);
        cli_json_unsigned(json, "threads", now->threads);
        cli_json_f64(json, "ratio", x);
        cli_json_text(json, "verdict", what);
        cli_json_close(json);
        return;
    }
    printf("%-44s %7" PRIu32 "  %6.3f  %-7s", now->name, now->threads, x, what);
    if (now->share > 0) printf("  share %.2f -> %.2f", old->share, now->share);
    putchar('\n');
}

bench_compared bench_compare(const bench_results *old, const bench_results *now, double tolerance,
                             cli_json *json)
{
    bench_compared done = { .failed = false };
    if (json)
        cli_json_list(json, "compared");
    else
        printf("\n%-44s %7s  %6s\n", "now against before", "threads", "ratio");
    for (size_t i = 0; i < now->n; i++) {
        const bench_result *before = find(old, &now->list[i]);
        if (before)
            compare_one(before, &now->list[i], tolerance, &done, json);
        else
            done.only_new++;
    }
    for (size_t i = 0; i < old->n; i++) done.only_old += !find(now, &old->list[i]);
    if (json) {
        cli_json_close(json);
        cli_json_bool(json, "failed", done.failed);
        return done;
    }
    printf("\n%zu in both: %zu slower, %zu faster, %zu tied, %zu unsure", done.both, done.slower,
           done.faster, done.ties, done.unsure);
    printf("; %zu only before, %zu only now\n", done.only_old, done.only_new);
    if (done.failed) printf("something is slower by more than %g%%\n", tolerance * 100);
    return done;
}
