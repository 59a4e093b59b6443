/* The order of logits: largest first, equal ones by row, then +infinity, then NaN. A logit and its
 * row are one number, their key, so that they are compared and moved at once. Private to this room.
 */
#ifndef WTE_SRC_HEAD_RANK_H
#define WTE_SRC_HEAD_RANK_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Rank of what is not finite; NaN has 0. */
#define WTE__RANK_INFINITY 1u

/* The larger key ranks first; its upper half is the rank of the logit: its bits in an order that
 * integers have, negative ones complemented. row < 2^32. */
static inline uint64_t wte__key(float logit, uint64_t row)
{
    uint32_t bits;
    logit += 0.0f; /* -0 becomes +0 */
    memcpy(&bits, &logit, sizeof bits);
    uint32_t rank = bits >> 31 ? ~bits : bits | 0x80000000u;
    if (!(logit < INFINITY)) rank = logit == INFINITY ? WTE__RANK_INFINITY : 0;
    return (uint64_t)rank << 32 | (UINT32_MAX - row);
}
uint64_t wte__key_row(uint64_t key);
float wte__key_logit(uint64_t key); /* zero is +0, NaN is the usual one */
/* Keys of finite logits are at least this. */
#define WTE__KEY_FINITE (UINT64_C(0x00800000) << 32)

/* Reorders n keys so that the k first by rank come first and the last of them is list[k - 1];
 * 0 < k <= n. */
void wte__rank_select(uint64_t *list, size_t n, size_t k);
void wte__rank_sort(uint64_t *list, size_t n);
#endif
