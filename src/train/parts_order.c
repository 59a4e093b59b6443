/* Ids to rows and parts in order. Row and position of an id are one number, a key; keys are sorted
 * by the row (radix, stable), so that the parts of a row stay in the order of ids whoever sorts
 * them. Threads take slices of the ids, then of the keys: each step is a pass over all slices,
 * after which the slices are told where they go on. */
#include "train/parts_order.h"

#include <string.h>

#include "base/thread.h"

/* Ids of a slice at least: fewer are sorted faster than a second thread wakes up. */
#define SLICE_IDS ((uint64_t)8192)

uint32_t wte__order_slices(const wte__order *o)
{
    const uint64_t most = o->b.ids.count / SLICE_IDS;
    uint32_t n = wte_pool_threads(o->pool);
    if (n > WTE__ORDER_SLICES) n = WTE__ORDER_SLICES;
    return most == 0 ? 1 : most < n ? (uint32_t)most : n;
}

/* Whole bags, so that each bag's members are counted by one thread. */
static void slice_ids(wte__order *o)
{
    const uint64_t n = o->n_slices, count = o->b.ids.count, bags = o->b.vectors;
    for (uint64_t i = 0; i < n; i++) {
        wte__order_slice *s = &o->slice[i];
        s->begin = o->bag_of ? wte__bag_begin(&o->b.bag, bags * i / n) : count * i / n;
        s->end = o->bag_of ? wte__bag_begin(&o->b.bag, bags * (i + 1) / n) : count * (i + 1) / n;
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

/* Keys ----------------------------------------------------------------------------------------- */

/* The keys of ids that get something. Where there are bags, also whose each id is and how many
 * members each bag has: those that get nothing here were members all the same. */
static void list_slice(void *ctx, uint64_t number)
{
    wte__order *o = ctx;
    wte__order_slice *s = &o->slice[number];
    uint64_t row[WTE__IDS_BLOCK], kept[WTE__IDS_BLOCK], n = s->begin;
    uint64_t bag = o->b.vectors * number / o->n_slices;
    uint64_t bag_end = o->bag_of ? wte__bag_begin(&o->b.bag, bag + 1) : 0;
    for (uint64_t at = s->begin; at < s->end; at += WTE__IDS_BLOCK) {
        const uint64_t left = s->end - at;
        const uint32_t some = left < WTE__IDS_BLOCK ? (uint32_t)left : WTE__IDS_BLOCK;
        wte__ids_rows(o->b.ids, at, some, &o->b.cut, o->b.some_cut, row);
        if (o->bag_of) wte__ids_rows(o->b.ids, at, some, &o->b.bag.rules, true, kept);
        for (uint32_t i = 0; i < some; i++) {
            if (o->bag_of) {
                while (at + i >= bag_end) bag_end = wte__bag_begin(&o->b.bag, ++bag + 1);
                o->bag_of[at + i] = (uint32_t)bag;
                if (kept[i] == WTE__ZERO_ROW) continue;
                if (o->members) o->members[bag]++;
            }
            o->key[n] = row[i] << o->position_bits | (at + i);
            n += row[i] != WTE__ZERO_ROW;
        }
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

static void name_slice(void *ctx, uint64_t number)
{
    const wte__order *o = ctx;
    const wte__order_slice *s = &o->slice[number];
    const uint64_t mask = (UINT64_C(1) << o->position_bits) - 1;
    const float *weights = o->b.bag.o.weights;
    uint64_t n = s->row;
    for (uint64_t i = s->begin; i < s->end; i++) {
        const uint64_t position = o->key[i] & mask;
        if (begins_row(o, i)) {
            o->row[n] = o->key[i] >> o->position_bits;
            o->first[n++] = i;
        }
        o->from[i] = o->bag_of ? o->bag_of[position] : (uint32_t)position;
        if (o->member) o->member[i] = position;
        if (o->factor) o->factor[i] = weights ? weights[position] : 1.0f;
    }
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

static uint32_t bits_of_count(uint64_t values)
{
    return values > 1 ? 64 - (uint32_t)__builtin_clzll(values - 1) : 1;
}

void wte__order_parts(wte__order *o)
{
    const uint32_t bits = bits_of_count(o->b.rows);
    const uint32_t passes = (bits + WTE__ORDER_BITS - 1) / WTE__ORDER_BITS;
    o->n_slices = wte__order_slices(o);
    o->bits = (bits + passes - 1) / passes;
    o->rows = 0;
    if (passes % 2) { /* so that the keys end where no row is written */
        uint64_t *key = o->key;
        o->key = o->other;
        o->other = key;
    }
    slice_ids(o);
    wte__parallel(o->pool, o->n_slices, list_slice, o);
    for (uint32_t pass = 0; pass < passes; pass++) {
        o->shift = o->position_bits + pass * o->bits;
        sort_pass(o);
    }
    wte__parallel(o->pool, o->n_slices, count_rows, o);
    for (uint32_t i = 0; i < o->n_slices; i++) {
        o->slice[i].row = o->rows;
        o->rows += o->slice[i].row_end;
        o->slice[i].row_end = o->rows;
    }
    o->first[o->rows] = o->count;
    wte__parallel(o->pool, o->n_slices, name_slice, o);
    if (o->factor) wte__parallel(o->pool, o->n_slices, multiply_slice, o);
}
