/* Rows with equal bytes. The marks of the first pass say which may be; these are read again, hashed
 * with 128 bits, sorted, and compared byte by byte with their neighbour. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "inspect/check.h"

typedef struct item {
    uint64_t low, high, row; /* the hash; the row */
} item;

static int by_hash(const void *va, const void *vb)
{
    const item *a = va, *b = vb;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* A table of marks: where each was seen first. Only its speed depends on the seed, which keeps a
 * file from choosing what falls together. */
typedef struct marks {
    uint64_t *row; /* and one; 0 = free */
    uint64_t cap, seed;
} marks;

static uint64_t place_of(const marks *m, uint64_t mark)
{
    const uint64_t key[2] = { mark, m->seed };
    return XXH3_64bits(key, sizeof key) & (m->cap - 1);
}

static uint64_t *slot_of(const wte__checking *k, const marks *m, uint64_t mark)
{
    uint64_t at = place_of(m, mark);
    while (m->row[at] && k->table.mark[m->row[at] - 1] != mark) at = (at + 1) & (m->cap - 1);
    return &m->row[at];
}

/* Rows that share their mark with another; returns how many. Their flag is set for a while. */
#define AHEAD 16u /* rows: the table is larger than a cache, and its places are known before */
static uint64_t find_shared(wte__checking *k, const marks *m)
{
    const uint64_t rows = k->stored.rows;
    uint64_t n = 0;
    for (uint64_t row = 0; row < rows; row++) {
        if (rows - row > AHEAD)
            __builtin_prefetch(m->row + place_of(m, k->table.mark[row + AHEAD]));
        if (k->table.flags[row] & WTE__ROW_NONFINITE) continue; /* told by itself */
        uint64_t *slot = slot_of(k, m, k->table.mark[row]);
        if (!*slot) {
            *slot = row + 1;
            continue;
        }
        n += k->table.flags[*slot - 1] & WTE__ROW_SHARED ? 1 : 2;
        k->table.flags[*slot - 1] |= WTE__ROW_SHARED;
        k->table.flags[row] |= WTE__ROW_SHARED;
    }
    return n;
}

static wte_status hash_rows(wte__checking *k, item *items, size_t n, char *row, size_t bytes)
{
    for (size_t i = 0; i < n; i++) {
        WTE_TRY(wte_row_source_read(&k->stored, items[i].row, row, k->err));
        const XXH128_hash_t hash = XXH3_128bits(row, bytes);
        items[i].low = hash.low64;
        items[i].high = hash.high64;
    }
    return WTE_OK;
}

/* Neighbours in the order of hashes; a and b are buffers for one row each. */
static wte_status join(wte__checking *k, const item *items, size_t n, char *a, size_t bytes)
{
    char *b = a + bytes;
    for (size_t i = 1; i < n; i++) {
        const item *before = &items[i - 1], *it = &items[i];
        if (it->low != before->low || it->high != before->high) continue;
        WTE_TRY(wte_row_source_read(&k->stored, before->row, a, k->err));
        WTE_TRY(wte_row_source_read(&k->stored, it->row, b, k->err));
        if (memcmp(a, b, bytes) == 0) k->same[it->row] = k->same[before->row];
    }
    return WTE_OK;
}

/* Rows of a group of two or more, unless something worse is known of them. */
static void fill_states(wte__checking *k)
{
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        const uint64_t first = k->same[row];
        if (first == row) continue;
        k->facts->n_duplicates++;
        k->table.flags[row] |= WTE__ROW_SHARED;
        k->table.flags[first] |= WTE__ROW_SHARED;
        if (k->state[row] == WTE__TRAINED) k->state[row] = WTE__DUPLICATE;
        if (k->state[first] == WTE__TRAINED) k->state[first] = WTE__DUPLICATE;
    }
}

/* The rows that may be equal, as items; *n of them. */
static wte_status collect(wte__checking *k, item **items, uint64_t *n)
{
    const wte_allocator *a = k->opt.allocator;
    marks m = { NULL, 16, wte__random_seed() };
    uint64_t used = 0;
    while (m.cap < 2 * k->stored.rows) m.cap *= 2;
    m.row = wte__alloc_zeroed(a, (size_t)m.cap * sizeof *m.row);
    if (!m.row) return wte__no_memory(k->err, m.cap * sizeof *m.row, "equal rows");
    *n = find_shared(k, &m);
    wte__free(a, m.row, (size_t)m.cap * sizeof *m.row);
    if (*n == 0) return WTE_OK;
    *items = wte__alloc_array(a, *n, sizeof **items);
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        if (!(k->table.flags[row] & WTE__ROW_SHARED)) continue;
        if (*items) (*items)[used++].row = row;
        k->table.flags[row] &= (uint8_t)~WTE__ROW_SHARED;
    }
    return *items ? WTE_OK : wte__no_memory(k->err, *n * sizeof **items, "equal rows");
}

wte_status wte__check_same(wte__checking *k)
{
    const wte_allocator *a = k->opt.allocator;
    const size_t bytes = (size_t)k->stored.cols * wte_dtype_bytes(k->stored.dtype);
    item *items = NULL;
    uint64_t n = 0;
    WTE_TRY(collect(k, &items, &n));
    if (n == 0) return WTE_OK;
    char *buffer = wte__alloc_array(a, 2, bytes);
    k->same = wte__alloc_array(a, k->stored.rows, sizeof *k->same);
    for (uint64_t row = 0; k->same && row < k->stored.rows; row++) k->same[row] = row;
    wte_status status = buffer && k->same
                            ? hash_rows(k, items, (size_t)n, buffer, bytes)
                            : wte__no_memory(k->err, 8 * k->stored.rows, "equal rows");
    if (status == WTE_OK) {
        qsort(items, (size_t)n, sizeof *items, by_hash);
        status = join(k, items, (size_t)n, buffer, bytes);
    }
    if (status == WTE_OK) fill_states(k);
    wte__free(a, items, (size_t)n * sizeof *items);
    wte__free(a, buffer, 2 * bytes);
    return status;
}
