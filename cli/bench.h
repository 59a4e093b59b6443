/* bench.h - one run of `wte bench`, shared by its files: what this machine can do at most
 * (bench_limits.c), what the library does (bench_ops.c), how the two are measured in turn
 * (cmd_bench.c), and what is told and compared (bench_report.c). */
#ifndef WTE_CLI_BENCH_H
#define WTE_CLI_BENCH_H
#include <wte/bag.h>
#include <wte/block.h>
#include <wte/head.h>
#include <wte/rowwise.h>

#include "json.h"
#include "opt.h"
#include "out.h"

/* Limits ----------------------------------------------------------------------------------------
 */

/* The threads of the limits' own loops. */
typedef struct bench_team bench_team;
/* NULL when there is no memory or no thread. */
bench_team *bench_team_make(uint32_t threads);
void bench_team_free(bench_team *t); /* NULL is fine */

typedef enum bench_kind {
    BENCH_READ,   /* `bytes` from `table`, in 1 to 8 streams */
    BENCH_COPY,   /* `bytes` from `table` to `out` */
    BENCH_GATHER, /* n rows of `row` bytes from `table`, each spread over `width` bytes of `out` */
    BENCH_SUM,    /* n rows of `row` bytes from `table`, read alone */
    BENCH_FMA,    /* `ops` operations of f32: a multiplication and an addition are two */
    BENCH_BF16,   /* the same, of bf16 pairs summed in f32 */
    BENCH_INT8    /* the same, of int8 summed in 32 bits */
} bench_kind;

typedef struct bench_limit {
    bench_kind kind;
    const char *table;
    char *out;
    size_t bytes, row, width;
    const int64_t *ids;
    size_t n;
    double ops;
} bench_limit;

/* How many ways of doing it are tried; 0 = this machine has no such instruction. */
uint32_t bench_limit_ways(bench_kind kind);
/* "read", "gather", "f32 fma", ... */
const char *bench_limit_name(bench_kind kind);
/* What that way is: "4 streams", "rows fetched 4 KiB ahead", ... */
const char *bench_limit_way(bench_kind kind, uint32_t way);
/* Seconds that it takes, done once. */
double bench_limit_run(bench_team *team, const bench_limit *l, uint32_t way);
/* The clock for this many threads: of one, the processor's time that it got, which others who want
 * the processor do not lengthen; of more, the time that passes. */
double bench_clock(uint32_t threads);

/* Operations ------------------------------------------------------------------------------------
 */

#define BENCH_LIMITS 2u /* of one operation: the larger of two times counts */
#define BENCH_NAME   80u

typedef struct bench bench;
typedef struct bench_op {
    char name[BENCH_NAME];
    uint32_t type; /* index of the table's type */
    uint64_t rows, cols, n;
    bool fast;
    double amount; /* bytes or operations of one call */
    const char *unit;
    bench_limit limit[BENCH_LIMITS];
    uint32_t n_limits;
    /* NULL: the limit itself is what is measured. input counts calls. */
    wte_status (*run)(bench *b, const struct bench_op *op, uint32_t input, wte_error *err);
} bench_op;

struct bench {
    cli *c;
    uint32_t threads; /* of the whole machine */
    bool quick;
    uint64_t memory; /* most that tables and outputs may take */
    bench_op *ops;
    size_t n_ops, cap_ops;
    /* the tables and outputs, shared by all operations */
    char *table, *out;
    size_t table_bytes, out_bytes;
    int64_t *ids;
    /* what lies in `table` now */
    uint32_t held_type;
    uint64_t held_rows, held_cols;
    wte_row_source source;
    wte_block_source blocks;
    wte_rowwise_source rowwise;
    wte_pool *pool; /* of the operation that runs; NULL = one thread */
};

/* Make the list of operations that `wanted` lets through, and unless list_only their memory. 0, or
 * the exit code after a message. */
int bench_plan(bench *b, bool (*wanted)(const cli *c, const char *name), bool list_only);
void bench_clear(bench *b);
/* Make the table that the operation works on, unless it is there. */
wte_status bench_fill(bench *b, const bench_op *op, wte_error *err);
/* The operation's limits for this input. */
void bench_aim(const bench *b, const bench_op *op, uint32_t input, bench_limit *limits);

/* Results ---------------------------------------------------------------------------------------
 */

typedef struct bench_result {
    char name[BENCH_NAME];
    uint32_t threads, rounds;
    double seconds, seconds_low, seconds_high; /* median and quarters of one call */
    double rate;                               /* amount / seconds */
    char unit[16];
    char limit[64];                      /* "read, 4 streams"; "" = it is a limit itself */
    double share, share_low, share_high; /* limit's time / time, in pairs; 0 without limit */
} bench_result;

typedef struct bench_results {
    bench_result *list;
    size_t n, cap;
} bench_results;

bool bench_results_add(bench_results *r, const bench_result *one); /* false: out of memory */
void bench_print_head(const bench *b);
void bench_print_result(const cli *c, const bench_result *r, bool first);
void bench_json(const cli *c, const bench_results *r, cli_json *json);
/* What `wte bench --json` has printed. 0, or the exit code after a message. */
int bench_read_results(const cli *c, const char *path, bench_results *out);

typedef struct bench_compared {
    size_t both, slower, faster, ties, unsure, only_old, only_new;
    bool failed; /* one is slower by more than the tolerance */
} bench_compared;
/* Prints a line for each result that both have (json NULL), or writes it. */
bench_compared bench_compare(const bench_results *old, const bench_results *now, double tolerance,
                             cli_json *json);
#endif
