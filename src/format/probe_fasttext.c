/* fastText files from before July 2017, which begin with the arguments: they have no magic number,
 * no version and no marks of quantisation. Told by what their numbers say together. */
#include "format/kinds.h"

#define ARGS       12u
#define ARG_DIM    0u
#define ARG_LOSS   6u
#define ARG_MODEL  7u
#define ARG_MIN    9u
#define ARG_MAX    10u
#define HEAD_BYTES 76u

bool wte__probe_fasttext_early(const wte__head *head)
{
    wte__span s = wte__span_make(head->bytes, head->n);
    uint32_t arg[ARGS];
    for (size_t i = 0; i < ARGS; i++) arg[i] = wte__span_u32le(&s);
    const uint64_t threshold = wte__span_u64le(&s); /* of sampling, a double */
    const uint64_t entries = wte__span_u32le(&s), words = wte__span_u32le(&s);
    const uint64_t labels = wte__span_u32le(&s), tokens = wte__span_u64le(&s);
    if (!wte__span_ok(&s) || head->size < HEAD_BYTES) return false;
    for (size_t i = 0; i < ARGS; i++)
        if (arg[i] > INT32_MAX) return false;
    const bool options = arg[ARG_DIM] > 0 && arg[ARG_LOSS] >= 1 && arg[ARG_LOSS] <= 3 &&
                         arg[ARG_MODEL] >= 1 && arg[ARG_MODEL] <= 3 &&
                         arg[ARG_MIN] <= arg[ARG_MAX] && arg[ARG_MAX] < 256;
    const bool small = threshold >> 52 <= 0x3ff; /* positive, below 2 */
    const bool counts = entries > 0 && words + labels == entries && tokens >= entries &&
                        entries <= (head->size - HEAD_BYTES) / 10;
    return options && small && counts && arg[ARG_DIM] <= (head->size - HEAD_BYTES) / (4 * entries);
}
