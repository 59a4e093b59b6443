/* The grids of the iq block types: tables of 8 or 4 small integers an entry, element k in byte k of
 * the number. Data of the format; see block_grids.c. */
#ifndef WTE_SRC_NUM_BLOCK_GRIDS_H
#define WTE_SRC_NUM_BLOCK_GRIDS_H
#include <stdint.h>

extern const uint64_t wte__grid_iq2_xxs[256];
extern const uint64_t wte__grid_iq2_xs[512];
extern const uint64_t wte__grid_iq2_s[1024];
extern const uint32_t wte__grid_iq3_xxs[256];
extern const uint32_t wte__grid_iq3_s[512];
extern const uint64_t wte__grid_iq1_s[2048]; /* bytes are -1, 0 and 1; for iq1_m too */
#endif
