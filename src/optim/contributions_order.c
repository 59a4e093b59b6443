/* Groups ids by row. A key holds row and position of an id; keys are sorted by row with a stable
 * radix sort, so that the contributions of a row keep the order of their ids for any number of
 * threads. Where rows may come in any order, the rows with a single contribution, which are most,
 * are not sorted: they come first, in the order of their ids. Threads take slices of the ids, then
 * of the keys; each step is a pass over all slices, after which offsets of the slices are computed.
 */
#include "optim/contributions_order.h"

#include <string.h>

#include "base/thread.h"

/* Ids of a slice at least: fewer are sorted faster than a second thread wakes up. */
#define SLICE_IDS ((uint64_t)8192)

uint32_t wte__order_slices(const wte__order *o)
{
    const uint64_t most = o->b.ids.count / SLICE_IDS;
    uint32_t n = wte_pool_n_threads(o->pool);
    if (n > WTE__ORDER_SLICES) n = WTE__ORDER_SLICES;
    return most == 0 ? 1 : most < n ? (uint32_t)most : n;
}

static uint32_t bits_of_count(uint64_t values)
{
    return values > 1 ? 64 - (uint32_t)__builtin_clzll(values - 1) : 1;
}

/* Whole bags, so that each bag's members are counted by one thread. */
static void slice_ids(wte__order *o)
{
    const uint64_t n = o->n_slices, count = o->b.ids.count, bags = o->b.vectors;
    for (uint64_t i = 0; i < n; i++) {
        wte__order_slice *s = &o->slice[i];
        s->begin = o->b.bags ? wte__bag_begin(&o->b.bag, bags * i / n) : count * i / n;
        s->end = o->b.bags ? wte__bag_begin(&o->b.bag, bags * (i + 1) / n) : count * (i + 1) / n;
    }
}

static void slice_keys(wte__order *o)
{
    for (uint64_t i = 0; i < o->n_slices; i++) {
        wte__order_slice *s = &o->slice[i];
        s->begin = o->count * i / o->n_slices;
        s->end = o->count * (i + 1) / o->n_slices;
        s->keys = s->end - s->begin;
    }
}

/* Rows that are named once --------------------------------------------------------------------- */

/* A slot has two bits: it was seen, and seen again. Every row has its own slot where there are not
 * too many; else rows share slots, and one that is named once may seem to be named again: it is
 * sorted then, which changes no bit. Each slice has slots of its own, which are joined. */
#define SLOTS_PER_WORD 32u
#define SLOTS_PER_ID   UINT64_C(8)
#define SEEN           UINT64_C(0x5555555555555555)

static uint32_t slot_bits_of(const wte__order *o)
{
    const uint64_t most = o->b.ids.count * SLOTS_PER_ID;
    const uint32_t bits = bits_of_count(o->b.rows < most ? o->b.rows : most);
    return bits < 5 ? 5 : bits; /* a word at least */
}

uint64_t wte__order_words(const wte__order *o)
{
    return (UINT64_C(1) << slot_bits_of(o)) / SLOTS_PER_WORD;
}

/* The slots of a slice; a copy of what finding one takes, which no store can change. */
typedef struct slots {
    uint64_t *word;
    uint32_t bits, position_bits;
    bool shared; /* by several rows each */
} slots;

static slots slots_of(const wte__order *o, uint64_t slice)
{
    return (slots){ .word = o->seen + slice * wte__order_words(o),
                    .bits = o->slot_bits,
                    .position_bits = o->position_bits,
                    .shared = o->b.rows > UINT64_C(1) << o->slot_bits };
}

/* Rows that share slots are spread by the golden ratio. */
static uint64_t slot_of(const slots *t, uint64_t key)
{
    const uint64_t row = key >> t->position_bits;
    return t->shared ? row * UINT64_C(0x9e3779b97f4a7c15) >> (64 - t->bits) : row;
}

static void see(const slots *t, const uint64_t *key, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t slot = slot_of(t, key[i]);
        const uint64_t seen = UINT64_C(1) << slot % SLOTS_PER_WORD * 2;
        uint64_t *word = &t->word[slot / SLOTS_PER_WORD];
        *word |= seen | (*word & seen) << 1;
    }
}

static bool is_alone(const slots *t, uint64_t key)
{
    const uint64_t slot = slot_of(t, key);
    return !(t->word[slot / SLOTS_PER_WORD] >> slot % SLOTS_PER_WORD * 2 & 2);
}

/* A piece of the slots of all slices becomes that of the first one. */
static void join_slots(void *ctx, uint64_t piece)
{
    const wte__order *o = ctx;
    const uint64_t words = wte__order_words(o), end = words * (piece + 1) / o->n_slices;
    for (uint32_t s = 1; s < o->n_slices; s++) {
        const uint64_t *more = o->seen + s * words;
        for (uint64_t w = words * piece / o->n_slices; w < end; w++)
            o->seen[w] |= more[w] | (o->seen[w] & more[w] & SEEN) << 1;
    }
}

static void count_alone(void *ctx, uint64_t number)
{
    wte__order *o = ctx;
    wte__order_slice *s = &o->slice[number];
    const slots all = slots_of(o, 0);
    uint64_t n = 0;
    for (uint64_t i = s->begin; i < s->begin + s->keys; i++) n += is_alone(&all, o->key[i]);
    s->alone = n;
}

/* Keys ----------------------------------------------------------------------------------------- */

/* Rows of ids first to end - 1; WTE__ZERO_ROW for those that get nothing. In bags these were
 * members all the same, but for those that the bag leaves out; `bag` is that of the first id, or
 * one before.
 */
static void read_rows(const wte__order *o, uint64_t first, uint64_t end, uint64_t bag,
                      uint64_t *row)
{
    const uint32_t some = (uint32_t)(end - first);
    uint64_t kept[WTE__IDS_BLOCK];
    wte__ids_rows(o->b.ids, first, some, &o->b.cut, o->b.some_cut, row);
    if (!o->some_out && !o->members) return;
    wte__ids_rows(o->b.ids, first, some, &o->b.bag.rules, o->some_out, kept);
    uint64_t bag_end = wte__bag_begin(&o->b.bag, bag + 1);
    for (uint32_t i = 0; i < some; i++) {
        while (first + i >= bag_end) bag_end = wte__bag_begin(&o->b.bag, ++bag + 1);
        if (kept[i] == WTE__ZERO_ROW)
            row[i] = WTE__ZERO_ROW;
        else if (o->members)
            o->members[bag]++;
    }
}

/* Keys of ids first to end - 1, all of one bag. Returns how many. */
static uint64_t list_keys(const wte__order *o, const uint64_t *row, uint64_t first, uint64_t end,
                          uint64_t bag, uint64_t *key)
{
    const uint64_t some = end - first, base = o->by_bag ? bag : first, step = !o->by_bag;
    const uint32_t bits = o->position_bits;
    uint64_t n = 0;
    for (uint64_t i = 0; i < some; i++) {
        key[n] = row[i] << bits | (base + i * step);
        n += row[i] != WTE__ZERO_ROW;
    }
    for (uint64_t i = first; o->bag_of && i < end; i++) o->bag_of[i] = (uint32_t)bag;
    return n;
}

/* The keys of ids that get something. */
static void list_slice(void *ctx, uint64_t number)
{
    const wte__order *o = ctx;
    wte__order_slice *s = &((wte__order *)ctx)->slice[number];
    const slots own = slots_of(o, number);
    uint64_t row[WTE__IDS_BLOCK], n = s->begin, bag = o->b.vectors * number / o->n_slices;
    uint64_t bag_end = o->b.bags ? wte__bag_begin(&o->b.bag, bag + 1) : s->end;
    if (o->any_order) memset(own.word, 0, (size_t)wte__order_words(o) * sizeof *own.word);
    for (uint64_t first = s->begin, end; first < s->end; first = end) {
        const uint64_t before = n;
        end = s->end - first < WTE__IDS_BLOCK ? s->end : first + WTE__IDS_BLOCK;
        read_rows(o, first, end, bag, row);
        for (uint64_t at = first, stop; at < end; at = stop) {
            while (at >= bag_end) bag_end = wte__bag_begin(&o->b.bag, ++bag + 1);
            stop = bag_end < end ? bag_end : end;
            n += list_keys(o, row + (at - first), at, stop, bag, o->key + n);
        }
        if (o->any_order) see(&own, o->key + before, n - before);
    }
    s->keys = n - s->begin;
}

/* Sorting -------------------------------------------------------------------------------------- */

static uint32_t *places_of(const wte__order *o, uint64_t slice)
{
    return o->place + (slice << WTE__ORDER_BITS);
}

static void count_slice(void *ctx, uint64_t number)
{
    const wte__order *o = ctx;
    const wte__order_slice *s = &o->slice[number];
    const uint64_t mask = (UINT64_C(1) << o->bits) - 1;
    uint32_t *place = places_of(o, number);
    memset(place, 0, (size_t)(mask + 1) * sizeof *place);
    for (uint64_t i = s->begin; i < s->begin + s->keys; i++) place[o->key[i] >> o->shift & mask]++;
}

static void move_slice(void *ctx, uint64_t number)
{
    const wte__order *o = ctx;
    const wte__order_slice *s = &o->slice[number];
    const uint64_t mask = (UINT64_C(1) << o->bits) - 1;
    uint32_t *place = places_of(o, number);
    for (uint64_t i = s->begin; i < s->begin + s->keys; i++)
        o->other[place[o->key[i] >> o->shift & mask]++] = o->key[i];
}

/* One stable pass; the sorted keys are then in `key`, side by side. */
static void sort_pass(wte__order *o)
{
    uint32_t before = 0;
    wte__parallel(o->pool, o->n_slices, count_slice, o);
    for (uint64_t digit = 0; digit < UINT64_C(1) << o->bits; digit++)
        for (uint64_t i = 0; i < o->n_slices; i++) {
            uint32_t *place = places_of(o, i) + digit;
            const uint32_t some = *place;
            *place = before;
            before += some;
        }
    wte__parallel(o->pool, o->n_slices, move_slice, o);
    uint64_t *sorted = o->other;
    o->other = o->key;
    o->key = sorted;
    o->count = before;
    slice_keys(o);
}

/* Rows and their parts ------------------------------------------------------------------------- */

static bool begins_row(const wte__order *o, uint64_t i)
{
    return i == 0 || (o->key[i] ^ o->key[i - 1]) >> o->position_bits != 0;
}

static void count_rows(void *ctx, uint64_t number)
{
    wte__order *o = ctx;
    wte__order_slice *s = &o->slice[number];
    uint64_t n = 0;
    for (uint64_t i = s->begin; i < s->end; i++) n += begins_row(o, i);
    s->row_end = n;
}

static void name_part(const wte__order *o, uint64_t part, uint64_t key)
{
    const uint64_t position = key & ((UINT64_C(1) << o->position_bits) - 1);
    const float *weights = o->b.bag.o.weights;
    o->from[part] = o->bag_of ? o->bag_of[position] : (uint32_t)position;
    if (o->member) o->member[part] = position;
    if (o->factor) o->factor[part] = weights ? weights[position] : 1.0f;
}

static void name_slice(void *ctx, uint64_t number)
{
    const wte__order *o = ctx;
    const wte__order_slice *s = &o->slice[number];
    uint64_t n = s->row;
    for (uint64_t i = s->begin; i < s->end; i++) {
        const uint64_t part = o->alone + i;
        if (begins_row(o, i)) {
            o->row[n] = o->key[i] >> o->position_bits;
            o->first[n++] = part;
        }
        name_part(o, part, o->key[i]);
    }
}

/* Rows that are named once: each has its part's number. The keys of the others stay. Which is which
 * cannot be guessed, so both lists are written and only their ends depend on it. */
static void name_alone(void *ctx, uint64_t number)
{
    wte__order *o = ctx;
    wte__order_slice *s = &o->slice[number];
    const uint64_t end = s->begin + s->keys;
    const slots all = slots_of(o, 0);
    uint64_t alone[WTE__IDS_BLOCK], n = s->alone, kept = s->begin;
    for (uint64_t i = s->begin; i < end;) {
        const uint64_t block = end - i < WTE__IDS_BLOCK ? end : i + WTE__IDS_BLOCK;
        uint32_t some = 0;
        for (; i < block; i++) {
            const uint64_t key = o->key[i];
            const bool once = is_alone(&all, key);
            alone[some] = key;
            some += once;
            o->key[kept] = key;
            kept += !once;
        }
        for (uint32_t k = 0; k < some; k++, n++) {
            o->row[n] = alone[k] >> o->position_bits;
            o->first[n] = n;
            name_part(o, n, alone[k]);
        }
    }
    s->row = s->alone;
    s->row_end = n;
    s->keys = kept - s->begin;
}

/* Factors hold the weights so far. All that a part is multiplied by is one number. */
static void multiply_slice(void *ctx, uint64_t number)
{
    const wte__order *o = ctx;
    for (uint64_t u = o->slice[number].row; u < o->slice[number].row_end; u++) {
        const uint64_t begin = o->first[u], end = o->first[u + 1];
        const double times = o->b.o.scale_by_freq ? (double)(end - begin) : 1.0;
        for (uint64_t i = begin; i < end; i++) {
            const double members = o->members ? (double)o->members[o->from[i]] : 1.0;
            const double weight = (double)o->factor[i];
            o->factor[i] = (float)((double)o->b.o.scale * weight / (members * times));
        }
    }
}

/* Rows that are named once come first; the keys of the others are left. */
static void part_alone(wte__order *o)
{
    wte__parallel(o->pool, o->n_slices, join_slots, o);
    if (o->n_slices > 1) wte__parallel(o->pool, o->n_slices, count_alone, o);
    uint64_t before = 0;
    for (uint32_t i = 0; i < o->n_slices; i++) {
        const uint64_t some = o->slice[i].alone;
        o->slice[i].alone = before;
        before += some;
    }
    wte__parallel(o->pool, o->n_slices, name_alone, o);
    o->alone = o->slice[o->n_slices - 1].row_end;
    o->first[o->alone] = o->alone;
    if (o->factor) wte__parallel(o->pool, o->n_slices, multiply_slice, o);
    o->other += o->alone;
}

void wte__order_parts(wte__order *o)
{
    const uint32_t bits = bits_of_count(o->b.rows);
    /* an even number, so that the keys end where no row is written */
    const uint32_t passes = (bits + 2 * WTE__ORDER_BITS - 1) / (2 * WTE__ORDER_BITS) * 2;
    o->n_slices = wte__order_slices(o);
    o->bits = (bits + passes - 1) / passes;
    o->slot_bits = slot_bits_of(o);
    slice_ids(o);
    wte__parallel(o->pool, o->n_slices, list_slice, o);
    if (o->any_order) part_alone(o);
    for (uint32_t pass = 0; pass < passes; pass++) {
        o->shift = o->position_bits + pass * o->bits;
        sort_pass(o);
    }
    wte__parallel(o->pool, o->n_slices, count_rows, o);
    o->rows = o->alone;
    for (uint32_t i = 0; i < o->n_slices; i++) {
        o->slice[i].row = o->rows;
        o->rows += o->slice[i].row_end;
        o->slice[i].row_end = o->rows;
    }
    o->count += o->alone;
    o->first[o->rows] = o->count;
    wte__parallel(o->pool, o->n_slices, name_slice, o);
    if (o->factor) wte__parallel(o->pool, o->n_slices, multiply_slice, o);
}
