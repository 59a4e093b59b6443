/* The two tables of sixteen values that four-bit types choose from. Each instruction set's file has
 * its own copy. */
#ifndef WTE_SRC_NUM_BLOCK_TABLES_H
#define WTE_SRC_NUM_BLOCK_TABLES_H
#include <stdint.h>

/* iq4_nl and iq4_xs */
static const int8_t iq4_values[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
};
/* mxfp4 and nvfp4: the values of e2m1, doubled, so that they are whole */
static const int8_t fp4_values[16] = {
    0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12,
};
#endif
