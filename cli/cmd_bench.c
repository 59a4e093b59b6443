/* wte bench - the benchmark suite: this machine's limits, then each operation as a share of the
 * limit that holds for it. An operation and its limit run in turn, and their ratio is taken within
 * a round, so that a slow moment of the machine hits both. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const cli_option options[] = {
    { "only", '\0', true, CLI_TEXT, "NAME", "measure what has NAME in its name alone", NULL },
    { "list", '\0', false, CLI_FLAG, NULL, "print the names, and measure nothing", NULL },
    { "quick", '\0', false, CLI_FLAG, NULL, "smaller tables, in under ten seconds", NULL },
    { "seconds", '\0', false, CLI_REAL, "S", "take about so long in all", "45; --quick: 7" },
    { "memory", '\0', false, CLI_UNSIGNED, "MIB",
      "take at most so much memory for tables and outputs", "half of what is free, at most 3072" },
    { "compare", '\0', false, CLI_READ_FILE, "OLD",
      "compare with OLD, which --json has printed ('-' = stdin)", NULL },
    { "results", '\0', false, CLI_READ_FILE, "NEW", "measure nothing: compare NEW with OLD", NULL },
    { "tolerance", '\0', false, CLI_REAL, "PART",
      "exit 1 when a share has become less by this part", "0.1" },
    CLI_OPTIONS_END,
};

#define ROUNDS_MOST  101u
#define ROUNDS_LEAST 5u
#define ROUNDS_QUICK 3u
#define TRIES        2u /* of each way of a limit, before the best is chosen */
#define MEMORY_LEAST 16u
#define MEMORY_MOST  (sizeof(void *) > 4 ? 3072u : 512u)

/* One operation, measured --------------------------------------------------------------------- */

typedef struct measurement {
    bench *b;
    const bench_op *op;
    bench_team *team;
    uint32_t way[BENCH_LIMITS];
    uint32_t input;
    uint32_t rounds;
    uint32_t binding[BENCH_LIMITS]; /* rounds in which this limit was the larger one */
    double seconds[ROUNDS_MOST], share[ROUNDS_MOST];
} measurement;

/* The larger of the limits' times. */
static double run_limits(measurement *m)
{
    bench_limit limits[BENCH_LIMITS];
    double most = 0;
    uint32_t which = 0;
    bench_aim(m->b, m->op, m->input++, limits);
    for (uint32_t i = 0; i < m->op->n_limits; i++) {
        const double seconds = bench_limit_run(m->team, &limits[i], m->way[i]);
        if (seconds > most) which = i;
        if (seconds > most) most = seconds;
    }
    m->binding[which]++;
    return most;
}

static void choose_ways(measurement *m)
{
    bench_limit limits[BENCH_LIMITS];
    for (uint32_t i = 0; i < m->op->n_limits; i++) {
        double best = 0;
        const uint32_t ways = bench_limit_ways(m->op->limit[i].kind);
        for (uint32_t way = 0; way < ways && ways > 1; way++)
            for (uint32_t k = 0; k < TRIES; k++) {
                bench_aim(m->b, m->op, m->input++, limits);
                const double seconds = bench_limit_run(m->team, &limits[i], way);
                if (best != 0 && seconds >= best) continue;
                best = seconds;
                m->way[i] = way;
            }
    }
}

static uint32_t threads_of(const bench *b)
{
    return b->pool ? b->threads : 1;
}

/* Time that passes, for the budget. */
static double now(void)
{
    return bench_clock(0);
}

static wte_status run_rounds(measurement *m, double until, wte_error *err)
{
    const uint32_t threads = threads_of(m->b);
    const uint32_t least = m->b->quick ? ROUNDS_QUICK : ROUNDS_LEAST;
    wte_status status = m->op->run ? m->op->run(m->b, m->op, m->input++, err) : WTE_OK;
    while (status == WTE_OK && m->rounds < ROUNDS_MOST && (m->rounds < least || now() < until)) {
        const double limit = run_limits(m);
        double seconds = limit;
        if (m->op->run) {
            const double start = bench_clock(threads);
            status = m->op->run(m->b, m->op, m->input++, err);
            seconds = bench_clock(threads) - start;
        }
        m->seconds[m->rounds] = seconds;
        m->share[m->rounds++] = limit / seconds;
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void describe(measurement *m, bench_result *out)
{
    const uint32_t n = m->rounds, binding = m->binding[1] > m->binding[0];
    const bench_op *op = m->op;
    qsort(m->seconds, n, sizeof *m->seconds, by_size);
    qsort(m->share, n, sizeof *m->share, by_size);
    const char *way = bench_limit_way(op->limit[binding].kind, m->way[binding]);
    *out = (bench_result){ .threads = threads_of(m->b),
                           .rounds = n,
                           .seconds = m->seconds[n / 2],
                           .seconds_low = m->seconds[n / 4],
                           .seconds_high = m->seconds[n - 1 - n / 4] };
    snprintf(out->name, sizeof out->name, "%s", op->name);
    snprintf(out->unit, sizeof out->unit, "%s", op->unit);
    snprintf(out->limit, sizeof out->limit, "%s%s%s", bench_limit_name(op->limit[binding].kind),
             *way ? ", " : "", way);
    out->rate = op->amount / out->seconds * 1e-9;
    if (!op->run) return;
    out->share = m->share[n / 2];
    out->share_low = m->share[n / 4];
    out->share_high = m->share[n - 1 - n / 4];
}

static wte_status measure(bench *b, const bench_op *op, bench_team *team, double until,
                          bench_result *out)
{
    measurement m = { .b = b, .op = op, .team = team };
    wte_error err = { WTE_OK, 0, WTE_NO_INDEX, "" };
    wte_status status = bench_fill(b, op, &err);
    if (status == WTE_OK) {
        choose_ways(&m);
        status = run_rounds(&m, until, &err);
    }
    if (status == WTE_OK)
        describe(&m, out);
    else
        cli_say_fail(b->c, CLI_OUTPUT, "%s: %s", op->name,
                     err.message[0] ? err.message : wte_status_text(status));
    return status;
}

/* All of them --------------------------------------------------------------------------------- */

static bool wanted(const cli *c, const char *name)
{
    for (const cli_value *v = cli_first(c, "only"); v; v = cli_next(c, v))
        if (strstr(name, v->text)) return true;
    return !cli_given(c, "only");
}

/* Each operation with one thread, then with all; the time that is left is shared out evenly. */
static int measure_all(bench *b, bench_team *teams[2], bench_results *results)
{
    cli *c = b->c;
    wte_pool *pool = c->pool;
    const uint32_t turns = b->threads > 1 ? 2 : 1;
    double seconds;
    cli_progress bar;
    cli_real(c, "seconds", b->quick ? 7 : 45, &seconds);
    const double end = now() + seconds;
    cli_progress_start(&bar, c, "measuring");
    int code = CLI_DONE;
    for (size_t i = 0; i < b->n_ops * turns && !code; i++) {
        const bench_op *op = &b->ops[i / turns];
        const uint32_t turn = (uint32_t)(i % turns);
        const double start = now(), left = end > start ? end - start : 0;
        bench_result one;
        bar.callback.report(bar.callback.ctx, i, b->n_ops * turns);
        b->pool = turn ? pool : NULL;
        const double until = start + left / (double)(b->n_ops * turns - i);
        if (measure(b, op, teams[turn], until, &one) != WTE_OK) code = CLI_OUTPUT;
        if (!code && !bench_results_add(results, &one))
            code = cli_say_fail(c, CLI_OUTPUT, "out of memory for the results");
        cli_progress_stop(&bar);
        if (code || c->json) continue;
        bench_print_result(c, &one, i == 0);
        fflush(stdout);
    }
    b->pool = NULL;
    return code;
}

/* Half of the memory that is free, within bounds. */
static uint64_t memory_here(void)
{
    uint64_t free_mib = 2 * (uint64_t)MEMORY_MOST;
    char line[256];
    unsigned long long kib;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) free_mib = kib >> 10;
    if (f) fclose(f);
    if (free_mib / 2 < MEMORY_LEAST) return MEMORY_LEAST;
    return free_mib / 2 < MEMORY_MOST ? free_mib / 2 : MEMORY_MOST;
}

static int run_suite(cli *c, bench_results *results)
{
    bench b = { .c = c, .quick = cli_given(c, "quick") };
    bench_team *teams[2] = { NULL, NULL };
    wte_pool *pool;
    int code = cli_pool(c, &pool);
    if (code) return code;
    b.threads = wte_pool_n_threads(pool);
    cli_unsigned(c, "memory", memory_here(), &b.memory);
    b.memory <<= 20;
    code = bench_plan(&b, wanted, cli_given(c, "list"));
    if (!code && b.n_ops == 0)
        code = cli_usage(c, "nothing has '%s' in its name; --list prints the names",
                         cli_first(c, "only")->text);
    if (!code && cli_given(c, "list")) {
        for (size_t i = 0; i < b.n_ops; i++) puts(b.ops[i].name);
    } else if (!code) {
        teams[0] = bench_team_make(1);
        teams[1] = bench_team_make(b.threads);
        if (!teams[0] || !teams[1])
            code = cli_say_fail(c, CLI_OUTPUT, "no room for %" PRIu32 " threads", b.threads);
        if (!code && !c->json) bench_print_head(&b);
        if (!code) code = measure_all(&b, teams, results);
    }
    bench_team_free(teams[0]);
    bench_team_free(teams[1]);
    bench_clear(&b);
    return code;
}

static int check_usage(cli *c)
{
    double seconds, tolerance;
    uint64_t memory;
    cli_real(c, "seconds", 1, &seconds);
    cli_real(c, "tolerance", 0.1, &tolerance);
    cli_unsigned(c, "memory", MEMORY_LEAST, &memory);
    if (!(seconds >= 0 && seconds <= 86400))
        return cli_refuse_value(c, "seconds", "wants 0 to 86400");
    if (!(tolerance >= 0 && tolerance < 1))
        return cli_refuse_value(c, "tolerance", "wants 0 or more, less than 1");
    if (memory < MEMORY_LEAST || memory > UINT32_MAX)
        return cli_refuse_value(c, "memory", "wants %u or more, in MiB", MEMORY_LEAST);
    if (cli_given(c, "results") && !cli_given(c, "compare"))
        return cli_usage(c, "--results NEW wants --compare OLD");
    if (cli_given(c, "results") && strcmp(cli_text(c, "compare"), "-") == 0 &&
        strcmp(cli_text(c, "results"), "-") == 0)
        return cli_usage(c, "--compare and --results both read standard input");
    if (cli_given(c, "tolerance") && !cli_given(c, "compare"))
        return cli_usage(c, "--tolerance belongs to --compare");
    if (cli_given(c, "list") && (cli_given(c, "compare") || c->json))
        return cli_usage(c, "--list prints names and nothing else");
    if (cli_given(c, "results") &&
        (cli_given(c, "only") || cli_given(c, "quick") || cli_given(c, "seconds")))
        return cli_usage(c,
                         "--results measures nothing: --only, --quick and --seconds have no use");
    return CLI_DONE;
}

static int tell(cli *c, const bench_results *old, const bench_results *results)
{
    cli_json json;
    double tolerance;
    bench_compared done = { .failed = false };
    const bool compare = cli_given(c, "compare");
    cli_real(c, "tolerance", 0.1, &tolerance);
    if (c->json) {
        cli_json_begin(&json, stdout, "wte.bench/1");
        bench_json(c, results, &json);
    }
    if (compare) done = bench_compare(old, results, tolerance, c->json ? &json : NULL);
    if (c->json) cli_json_end(&json);
    return done.failed ? CLI_NO : CLI_DONE;
}

static int run(cli *c)
{
    bench_results old = { .n = 0 }, results = { .n = 0 };
    int code = check_usage(c);
    if (!code && cli_given(c, "compare"))
        code = bench_read_results(c, cli_text(c, "compare"), &old);
    if (!code && cli_given(c, "results"))
        code = bench_read_results(c, cli_text(c, "results"), &results);
    else if (!code)
        code = run_suite(c, &results);
    if (!code && !cli_given(c, "list")) code = tell(c, &old, &results);
    free(old.list);
    free(results.list);
    return code;
}

const cli_command cmd_bench = {
    .name = "bench",
    .group = CLI_ABOUT,
    .synopsis = "",
    .summary = "measure lookups, bags and heads against what this machine can do at most",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_THREADS,
    .min_words = 0,
    .max_words = 0,
    .notes = "Each operation runs in turn with its limit: the fastest plain loop that reads,\n"
             "gathers or multiplies as much and does nothing else. share = the limit's time /\n"
             "the operation's, the median of the rounds, with its quarters: 1 cannot be beaten,\n"
             "as far as the loops are the best there are. Heads have two limits, reading the\n"
             "table and multiplying; the longer one counts. Times drift with the machine, shares\n"
             "do not: --compare looks at shares. Differences under 5% are ties. Tables that do\n"
             "not fit into the memory get fewer rows, and are named so.",
    .run = run,
};
