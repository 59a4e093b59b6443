/* Ids of four types and any alignment, read in place and never narrowed; validation, and reports of
 * invalid ids. */
#include "lookup/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

wte_status wte__ids_check(wte_ids ids, const char *what, wte_error *err)
{
    if (ids.type != WTE_U16 && ids.type != WTE_I32 && ids.type != WTE_U32 && ids.type != WTE_I64)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: ids of type %s, but ids are u16, i32, u32 or i64", what,
                         wte_dtype_name(ids.type));
    if (!ids.data && ids.count)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: %" PRIu64 " ids, but no address of them", what, ids.count);
    return wte__holds(ids.count, wte_dtype_bytes(ids.type), what, err);
}

/* A negative id sign-extended to 64 bits is larger than any row count read as unsigned: one
 * comparison finds both kinds of bad id. Eight at a time, which compilers make vectors of. */
#define READ_IDS(type, wide)                                                                       \
    for (; n - i >= 8; i += 8) {                                                                   \
        type id[8];                                                                                \
        memcpy(id, at + i * sizeof *id, sizeof id);                                                \
        for (size_t k = 0; k < 8; k++) row[i + k] = (uint64_t)(wide)id[k];                         \
    }                                                                                              \
    for (; i < n; i++) {                                                                           \
        type id;                                                                                   \
        memcpy(&id, at + i * sizeof id, sizeof id);                                                \
        row[i] = (uint64_t)(wide)id;                                                               \
    }

static void read_ids(wte_ids ids, uint64_t first, uint32_t n, uint64_t *row)
{
    const uint8_t *at = (const uint8_t *)ids.data + first * wte_dtype_bytes(ids.type);
    size_t i = 0;
    if (n == 0) return; /* data may be NULL */
    switch (ids.type) {
    case WTE_U16: READ_IDS(uint16_t, uint64_t) break;
    case WTE_I32: READ_IDS(int32_t, int64_t) break;
    case WTE_U32: READ_IDS(uint32_t, uint64_t) break;
    default: memcpy(row, at, n * sizeof *row); break;
    }
}

void wte__id_rules_init(wte__id_rules *rules, uint64_t rows, const int64_t *ignore, size_t n_ignore)
{
    *rules = (wte__id_rules){ .rows = rows };
    rules->ignore = ignore;
    rules->n_ignore = n_ignore;
    rules->ascending = true;
    rules->least_ignore = INT64_MAX;
    rules->most_ignore = INT64_MIN;
    for (size_t i = 0; i < n_ignore; i++) {
        rules->ascending &= i == 0 || ignore[i - 1] <= ignore[i];
        if (ignore[i] < rules->least_ignore) rules->least_ignore = ignore[i];
        if (ignore[i] > rules->most_ignore) rules->most_ignore = ignore[i];
    }
}

static bool is_ignored(const wte__id_rules *rules, int64_t id)
{
    if (id < rules->least_ignore || id > rules->most_ignore) return false;
    size_t low = 0, high = rules->n_ignore;
    if (!rules->ascending) {
        while (low < high && rules->ignore[low] != id) low++;
        return low < high;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rules->ignore[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rules->n_ignore && rules->ignore[low] == id;
}

/* Whether id number i takes part. */
static bool is_masked(const wte__id_rules *rules, uint64_t i)
{
    const uint8_t *mask = rules->mask;
    const size_t size = wte_dtype_bytes(rules->mask_type);
    uint64_t bits = 0;
    float number;
    memcpy(&bits, mask + i * size, size);
    if (rules->mask_type != WTE_F32) return bits == 0;
    memcpy(&number, mask + i * size, sizeof number);
    return number == 0;
}

/* True when no id of the block needs a second look. A row is in range when neither it nor its
 * distance to the last row has the highest bit: no table has 2^63 rows. */
static bool all_good(const uint64_t *row, uint32_t n, const wte__id_rules *rules)
{
    const uint64_t last = rules->rows - 1;
    uint64_t any[4] = { 0 };
    if (rules->n_ignore || rules->mask || rules->rows == 0 || rules->rows > INT64_MAX)
        return n == 0;
    for (; n >= 4; n -= 4, row += 4)
        for (size_t k = 0; k < 4; k++) any[k] |= row[k] | (last - row[k]);
    for (; n; n--, row++) any[0] |= *row | (last - *row);
    return !((any[0] | any[1] | any[2] | any[3]) >> 63);
}

static void judge_one(uint64_t position, int64_t id, const wte__id_rules *rules,
                      wte_bad_ids *report)
{
    if (rules->mask && is_masked(rules, position)) return;
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

/* The processor's own prefetchers stop at the end of each page. */
static void prefetch_block(wte_ids ids, uint64_t first)
{
    const size_t size = wte_dtype_bytes(ids.type), bytes = size * WTE__IDS_BLOCK;
    const uint8_t *at = (const uint8_t *)ids.data + first * size;
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i);
}

void wte__ids_judge(wte_ids ids, const wte__id_rules *rules, wte_bad_ids *report)
{
    uint64_t row[WTE__IDS_BLOCK];
    memset(report, 0, sizeof *report);
    for (uint64_t first = 0; first < ids.count; first += WTE__IDS_BLOCK) {
        const uint64_t left = ids.count - first;
        const uint32_t n = left < WTE__IDS_BLOCK ? (uint32_t)left : WTE__IDS_BLOCK;
        if (left - n >= n + n) prefetch_block(ids, first + n + n);
        read_ids(ids, first, n, row);
        if (all_good(row, n, rules)) continue;
        for (uint32_t i = 0; i < n; i++) judge_one(first + i, (int64_t)row[i], rules, report);
    }
}

void wte__ids_rows(wte_ids ids, uint64_t first, uint32_t n, const wte__id_rules *rules, bool zeros,
                   uint64_t *row)
{
    read_ids(ids, first, n, row);
    if (!zeros) return;
    for (uint32_t i = 0; i < n; i++)
        if (row[i] >= rules->rows || is_ignored(rules, (int64_t)row[i]) ||
            (rules->mask && is_masked(rules, first + i)))
            row[i] = WTE__ZERO_ROW;
}

/* What the first bad id suggests. */
static const char *hint(int64_t id, uint64_t rows)
{
    if (id < 0) return "; ids never count from the end: name padding such as -100 as ignored";
    if ((uint64_t)id == rows) return "; equal to the number of rows: ids count from zero";
    return "";
}

wte_status wte__bad_ids_error(const wte_bad_ids *bad, uint64_t n_ids, uint64_t rows, wte_error *err)
{
    const uint64_t position = bad->first[0].position;
    const int64_t id = bad->first[0].value;
    char range[48] = "none, the table is empty";
    if (rows > 0) snprintf(range, sizeof range, "ids 0..%" PRIu64, rows - 1);
    return wte__fail(err, WTE_E_RANGE, position,
                     "id %" PRId64 " at position %" PRIu64 " is out of range: valid %s; %" PRIu64
                     " of %" PRIu64 " ids bad%s",
                     id, position, range, bad->count, n_ids, hint(id, rows));
}
