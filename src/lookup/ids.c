/* Ids of four types and any alignment, read in place and never narrowed. */
#include "lookup/ids.h"

#include <string.h>

/* A negative id sign-extended to 64 bits is larger than any row count read as unsigned: one
 * comparison finds both kinds of bad id. */
#define READ_IDS(type, wide)                                                                       \
    for (uint32_t i = 0; i < n; i++) {                                                             \
        type id;                                                                                   \
        memcpy(&id, at + (size_t)i * sizeof id, sizeof id);                                        \
        row[i] = (uint64_t)(wide)id;                                                               \
    }

static void read_ids(wte_ids ids, uint64_t first, uint32_t n, uint64_t *row)
{
    const uint8_t *at = (const uint8_t *)ids.data + first * wte_dtype_bytes(ids.type);
    switch (ids.type) {
    case WTE_U16: READ_IDS(uint16_t, uint64_t) break;
    case WTE_I32: READ_IDS(int32_t, int64_t) break;
    case WTE_U32: READ_IDS(uint32_t, uint64_t) break;
    default: READ_IDS(int64_t, int64_t) break;
    }
}

void wte__id_rules_init(wte__id_rules *rules, uint64_t rows, const int64_t *ignore, size_t n_ignore)
{
    rules->rows = rows;
    rules->ignore = ignore;
    rules->n_ignore = n_ignore;
    rules->least_ignore = INT64_MAX;
    rules->most_ignore = INT64_MIN;
    for (size_t i = 0; i < n_ignore; i++) {
        if (ignore[i] < rules->least_ignore) rules->least_ignore = ignore[i];
        if (ignore[i] > rules->most_ignore) rules->most_ignore = ignore[i];
    }
}

static bool is_ignored(const wte__id_rules *rules, int64_t id)
{
    if (id < rules->least_ignore || id > rules->most_ignore) return false;
    for (size_t i = 0; i < rules->n_ignore; i++)
        if (rules->ignore[i] == id) return true;
    return false;
}

/* True when no id of the block needs a second look. */
static bool all_good(const uint64_t *row, uint32_t n, const wte__id_rules *rules)
{
    uint64_t bad = 0;
    for (uint32_t i = 0; i < n; i++) bad |= row[i] >= rules->rows;
    return !bad && rules->n_ignore == 0;
}

static void judge_one(uint64_t position, int64_t id, const wte__id_rules *rules,
                      wte_bad_ids *report)
{
    if (is_ignored(rules, id)) {
        report->ignored++;
        return;
    }
    if ((uint64_t)id < rules->rows) return;
    if (report->n_first < WTE_BAD_IDS_SHOWN) {
        report->first[report->n_first].position = position;
        report->first[report->n_first].value = id;
        report->n_first++;
    }
    report->count++;
}

void wte__ids_judge(wte_ids ids, const wte__id_rules *rules, wte_bad_ids *report)
{
    uint64_t row[WTE__IDS_BLOCK];
    memset(report, 0, sizeof *report);
    for (uint64_t first = 0; first < ids.count; first += WTE__IDS_BLOCK) {
        const uint64_t left = ids.count - first;
        const uint32_t n = left < WTE__IDS_BLOCK ? (uint32_t)left : WTE__IDS_BLOCK;
        read_ids(ids, first, n, row);
        if (all_good(row, n, rules)) continue;
        for (uint32_t i = 0; i < n; i++) judge_one(first + i, (int64_t)row[i], rules, report);
    }
}

void wte__ids_rows(wte_ids ids, uint64_t first, uint32_t n, const wte__id_rules *rules, bool zeros,
                   uint64_t row[WTE__IDS_BLOCK])
{
    read_ids(ids, first, n, row);
    if (!zeros) return;
    for (uint32_t i = 0; i < n; i++)
        if (row[i] >= rules->rows || is_ignored(rules, (int64_t)row[i])) row[i] = WTE__ZERO_ROW;
}
