/* Whether two pieces of memory overlap: see apart.h. */
#include "base/overlap.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/checked.h"
#include "base/error.h"

/* A piece larger than memory is a mistake in a count, which would be read and written through. */
static wte_status check_size(const char *what, wte__piece *p, wte_error *err)
{
    uint64_t end;
    if (p->stride == 0) p->stride = p->row_bytes;
    if (!p->at || p->rows == 0 || p->row_bytes == 0 ||
        (wte__mul_u64(p->rows - 1, p->stride, &end) && wte__add_u64(end, p->row_bytes, &end) &&
         end <= PTRDIFF_MAX))
        return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "%s: %s: %" PRIu64 " times %" PRIu64 " bytes are more than memory can hold",
                     what, p->name, p->rows, p->stride);
}

/* Address of the first byte and of the one after the last; false for an empty piece. */
static bool extent(const wte__piece *p, uintptr_t *first, uintptr_t *end)
{
    if (!p->at || p->rows == 0 || p->row_bytes == 0) return false;
    *first = (uintptr_t)p->at;
    *end = *first + (uintptr_t)((p->rows - 1) * p->stride + p->row_bytes);
    return true;
}

/* Rows of b in the gaps between rows of a: columns of one larger matrix. */
static bool lie_between(const wte__piece *a, uintptr_t at_a, const wte__piece *b, uintptr_t at_b)
{
    const uint64_t stride = a->stride;
    if (b->stride != stride) return false;
    const uint64_t ahead =
        at_b >= at_a ? (at_b - at_a) % stride : (stride - (at_a - at_b) % stride) % stride;
    return ahead >= a->row_bytes && b->row_bytes <= stride - ahead;
}

wte_status wte__no_overlap(const char *what, wte__piece written, wte__piece read, wte_error *err)
{
    uintptr_t a, a_end, b, b_end;
    WTE_TRY(check_size(what, &written, err));
    WTE_TRY(check_size(what, &read, err));
    if (!extent(&written, &a, &a_end) || !extent(&read, &b, &b_end)) return WTE_OK;
    if (a_end <= b || b_end <= a || lie_between(&written, a, &read, b)) return WTE_OK;
    const uintptr_t from = a > b ? a : b, to = a_end < b_end ? a_end : b_end;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "%s: %s and %s overlap by %" PRIu64 " bytes", what, written.name, read.name,
                     (uint64_t)(to - from));
}
