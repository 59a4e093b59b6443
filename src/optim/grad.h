/* What a gradient is made of. */
#ifndef WTE_SRC_TRAIN_GRAD_H
#define WTE_SRC_TRAIN_GRAD_H
#include <wte/grad.h>

#include "optim/contributions.h"

struct wte_grad {
    uint64_t rows, cols;      /* of the table */
    wte_grad_options o;       /* defaults filled in */
    uint64_t n, cap;          /* rows with values, and capacity */
    uint64_t *ids;            /* of sparse ones: which rows these are, ascending */
    float *values;            /* n x cols */
    wte__contributions parts; /* of the last call, whose memory serves the next */
};
#endif
