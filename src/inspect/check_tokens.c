/* Whose rows are untrained: the tokens that are going to be used, special ones, reserved ones, and
 * all others. The states of rows were found before; here they meet the tokens. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"

/* A row that is going to be used should not be so far from the others. */
#define OUTLIER      10.0
#define STATES       (WTE__STATES + 1) /* and outliers */
#define REASON_BYTES 400

static const char *const reasons[STATES] = {
    [WTE__NONFINITE] = "not finite",
    [WTE__ZERO] = "zero",
    [WTE__SMALL] = "almost zero",
    [WTE__CONSTANT] = "of one number throughout",
    [WTE__MEAN] = "the mean",
    [WTE__DUPLICATE] = "equal to another row",
    [WTE__COLLAPSED] = "in the direction of many others",
    [WTE__STATES] = "of a norm ten times off the median",
};

typedef struct audience {
    uint64_t all, by_reason[STATES];
    wte__seen seen;
} audience;

typedef enum who { USED, SPECIAL, RESERVED, ORDINARY, NOBODY, WHOS } who;

static who who_has(const wte__checking *k, uint64_t row)
{
    if (k->used[row]) return USED;
    if (row == k->pad || !wte__check_has_token(k, row)) return NOBODY;
    if (wte__check_is_reserved(k, row)) return RESERVED;
    const wte_token_kind kind = k->names ? wte_vocab_kind(k->names, row) : WTE_TOKEN_NORMAL;
    return kind == WTE_TOKEN_SPECIAL || kind == WTE_TOKEN_ADDED ? SPECIAL : ORDINARY;
}

static void note(wte__checking *k, audience *a, uint64_t row, bool used)
{
    uint32_t reason = k->state[row];
    const double norm = (double)k->table.norm[row], median = k->facts->norm_median;
    if (used && reason == WTE__TRAINED && (norm * OUTLIER < median || norm > OUTLIER * median))
        reason = WTE__STATES;
    a->all++;
    /* the mean is what untrained rows are repaired with; it is told apart */
    if (reason == WTE__TRAINED || reason == WTE__MEAN) return;
    a->by_reason[reason]++;
    wte__seen_add(&a->seen, row);
}

static const char *list_reasons(const audience *a, char buf[REASON_BYTES])
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t r = 0; r < STATES && used < REASON_BYTES; r++) {
        if (!a->by_reason[r]) continue;
        const int n = snprintf(buf + used, REASON_BYTES - used, "%s%" PRIu64 " %s",
                               used ? ", " : "", a->by_reason[r], reasons[r]);
        used += n > 0 ? (size_t)n : 0;
    }
    return buf;
}

static bool is_untrained(const wte__checking *k, uint64_t row)
{
    return k->state[row] != WTE__TRAINED && k->state[row] != WTE__MEAN;
}

/* The untrained rows of an audience, as Python: "*range(3, 9), 12". False when that is too long. */
#define LIST_BYTES 1200u
static bool list_rows(const wte__checking *k, who wanted, char list[LIST_BYTES])
{
    size_t used = 0;
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const uint64_t from = row;
        while (row < k->stored.rows && is_untrained(k, row) && who_has(k, row) == wanted) row++;
        if (row == from) continue;
        const char *comma = used ? ", " : "";
        const int n = row - from < 3
                          ? snprintf(list + used, LIST_BYTES - used, "%s%" PRIu64, comma, from)
                          : snprintf(list + used, LIST_BYTES - used,
                                     "%s*range(%" PRIu64 ", %" PRIu64 ")", comma, from, row);
        if (n < 0 || (size_t)n >= LIST_BYTES - used) return false;
        used += (size_t)n;
        if (row - from < 3) row = from; /* short runs one by one */
    }
    return used > 0;
}

static const char *repair_rows(wte__checking *k, who wanted, const wte__seen *seen)
{
    char list[LIST_BYTES];
    if (!list_rows(k, wanted, list)) /* outliers alone, or rows too many to be named */
        return seen->count == 1
                   ? wte__repair_table(k, "n = w.norm(dim=1); w[%" PRIu64 "] = w[n > 0].mean(0)",
                                       seen->id[0])
                   : wte__repair_table(k, "n = w.norm(dim=1); z = n < 0.1 * n.median(); "
                                          "w[z] = w[~z].mean(0)");
    return wte__repair_table(k, "n = w.norm(dim=1); w[[%s]] = w[n > 0].mean(0)", list);
}

static wte_status tell(wte__checking *k, wte__code code, const char *name, const audience *all,
                       who wanted, const char *kind)
{
    char buf[REASON_BYTES];
    const audience *a = &all[wanted];
    if (!a->seen.count) return WTE_OK;
    const char *repair = wanted == RESERVED ? "" : repair_rows(k, wanted, &a->seen);
    return wte__check_add(k, code, name, &a->seen, repair,
                          "%" PRIu64 " of %" PRIu64 " %s tokens have untrained rows: %s",
                          a->seen.count, a->all, kind, list_reasons(a, buf));
}

/* What is told of a state, and the rows that a repair takes. */
static const struct {
    wte__state state;
    wte__code code;
    bool everybody; /* special tokens too */
    const char *what, *rows;
} told[] = {
    { WTE__ZERO, WTE__CODE_ROWS_ZERO, false, "zero", "n == 0" },
    { WTE__SMALL, WTE__CODE_ROWS_NEAR_ZERO, false, "almost zero beside the median",
      "n < 1e-3 * n.median()" },
    { WTE__CONSTANT, WTE__CODE_ROWS_CONSTANT, false, "of one number throughout", "w.std(1) == 0" },
    { WTE__MEAN, WTE__CODE_ROWS_MEAN, true,
      "the mean of all rows, give or take a tenth of its length", NULL },
};

static wte_status tell_state(wte__checking *k, size_t i, const char *name)
{
    wte__seen seen = { .lie = k->lie };
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        if (k->state[row] != (uint8_t)told[i].state) continue;
        const who w = who_has(k, row);
        if (w == ORDINARY || (told[i].everybody && w != NOBODY)) wte__seen_add(&seen, row);
    }
    if (!seen.count) return WTE_OK;
    const char *repair = "";
    if (told[i].rows)
        repair =
            wte__repair_table(k, "n = w.norm(dim=1); z = %s; w[z] = w[~z].mean(0)", told[i].rows);
    return wte__check_add(k, told[i].code, name, &seen, repair,
                          "%" PRIu64 " of %" PRIu64 " rows %s %s", seen.count, k->stored.rows,
                          seen.count == 1 ? "is" : "are", told[i].what);
}

static wte_status tell_duplicates(wte__checking *k, const char *name)
{
    wte__seen seen = { .lie = k->lie };
    uint64_t groups = 0, before = WTE_NO_INDEX;
    uint32_t *told_of = k->table.spare; /* 1 = the group of this first row is counted */
    memset(told_of, 0, (size_t)k->stored.rows * sizeof *told_of);
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const uint64_t first = wte__first_same(k, row);
        if (!(k->table.flags[row] & WTE__ROW_SHARED) || who_has(k, row) != ORDINARY) continue;
        groups += !told_of[first];
        told_of[first] = 1;
        if (before == WTE_NO_INDEX) before = first;
        wte__seen_add(&seen, row);
    }
    if (!seen.count) return WTE_OK;
    return wte__check_add(k, WTE__CODE_ROWS_DUPLICATE, name, &seen,
                          wte__repair_table(k, "u, i, n = w.unique(dim=0, return_inverse=True, "
                                               "return_counts=True); z = n[i] > 1; "
                                               "w[z] += 0.1 * w.std(0) * w[z].clone().normal_()"),
                          "%" PRIu64 " of %" PRIu64 " rows equal another one byte for byte, in "
                          "%" PRIu64 " group%s; the first: row %" PRIu64,
                          seen.count, k->stored.rows, groups, groups == 1 ? "" : "s", before);
}

wte_status wte__check_states(wte__checking *k, const char *name)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) WTE_TRY(tell_state(k, i, name));
    return tell_duplicates(k, name);
}

wte_status wte__check_tokens(wte__checking *k)
{
    const char *name = wte__check_table_name(k);
    audience a[WHOS];
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    memset(a, 0, sizeof a);
    for (size_t w = 0; w < WHOS; w++) a[w].seen.lie = k->lie;
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const who w = who_has(k, row);
        note(k, &a[w], row, w == USED);
    }
    WTE_TRY(tell(k, WTE__CODE_TOKENS_UNTRAINED, name, a, USED, "wanted"));
    WTE_TRY(tell(k, WTE__CODE_SPECIALS_UNTRAINED, name, a, SPECIAL, "special"));
    WTE_TRY(tell(k, WTE__CODE_RESERVED_UNTRAINED, name, a, RESERVED, "reserved"));
    return wte__check_states(k, name);
}
