/* Ids to rows and parts in order, shared by the threads of a pool. */
#ifndef WTE_SRC_TRAIN_PARTS_ORDER_H
#define WTE_SRC_TRAIN_PARTS_ORDER_H
#include "optim/backward_args.h"

/* Bits of a row's number that one pass sorts by: the counters of 2^11 values stay in the cache. */
#define WTE__ORDER_BITS 11u
/* Slices of the ids, each one thread's. */
#define WTE__ORDER_SLICES 8u

typedef struct wte__order_slice {
    uint64_t begin, end; /* ids, then keys */
    uint64_t keys;       /* listed from begin on */
    uint64_t alone;      /* how many of them are of rows that are named once, and where these go */
    uint64_t row;        /* the first row that begins in it, and where the next slice's begin */
    uint64_t row_end;
} wte__order_slice;

/* What is given, and arrays with room for every id and one more. */
typedef struct wte__order {
    wte__backward b;
    wte_pool *pool;
    uint32_t position_bits; /* low bits of a key; the row index is above them */
    bool by_bag;            /* keys have the bag's number in place of the id's position */
    bool some_out;          /* bags may leave ids out */
    bool any_order; /* rows with a single contribution come first, in the order of their ids */
    uint64_t *key, *other; /* a key is a row's number and an id's position; `other` may be `row` */
    uint64_t *seen;        /* with any_order: wte__order_words for each slice */
    uint32_t *place;       /* 2^WTE__ORDER_BITS for each slice */
    uint32_t *bag_of;      /* of each id; NULL without bags, or by_bag */
    uint32_t *members;     /* of each bag, or NULL */
    /* what is made */
    uint64_t *row, *first, *member; /* member may be NULL */
    uint32_t *from;
    float *factor;        /* or NULL */
    uint64_t count, rows; /* of parts, and of rows */
    uint64_t alone;       /* of the rows that came first */
    /* on the way */
    uint32_t n_slices, shift, bits, slot_bits;
    wte__order_slice slice[WTE__ORDER_SLICES];
} wte__order;

/* Number of slices, for which place and seen have room. */
uint32_t wte__order_slices(const wte__order *o);
/* Words of `seen` that a slice has. */
uint64_t wte__order_words(const wte__order *o);
void wte__order_parts(wte__order *o);
#endif
