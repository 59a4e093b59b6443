/* The factors by which the words of a row's mark are mixed: odd, and otherwise arbitrary. Shared by
 * the kernels, so that all give the same marks. */
#ifndef WTE_SRC_NUM_ROW_MARK_H
#define WTE_SRC_NUM_ROW_MARK_H
#include <stdint.h>

static const uint64_t row_mark_factor[8] = {
    0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u, 0xd6e8feb86659fd93u,
    0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u, 0x589965cc75374cc3u,
};
#endif
