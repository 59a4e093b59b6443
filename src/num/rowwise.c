/* Rows with one scale and one bias each: names and sizes. */
#include <wte/block.h>
#include <wte/rowwise.h>

#include "base/checked.h"

typedef struct rowwise_type {
    const char *name;
    wte_rowwise value;
    uint32_t bits, extra; /* of one element; bytes of scale and bias */
    bool front;
} rowwise_type;

static const rowwise_type types[] = {
#define X(NAME, name, value, bits, scale, front)                                                   \
    { #name, WTE_##NAME, (bits), (scale) == WTE_F32 ? 8 : 4, (front) },
    WTE_ROWWISE_LIST(X)
#undef X
};

static const rowwise_type *find(uint32_t packing)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((uint32_t)types[i].value == packing) return &types[i];
    return NULL;
}

const char *wte_rowwise_name(wte_rowwise type)
{
    const rowwise_type *t = find((uint32_t)type);
    return t ? t->name : type == WTE_ROWWISE_NONE ? "none" : "unknown";
}

uint64_t wte_packed_bytes(uint32_t packing, uint64_t cols)
{
    const rowwise_type *t = find(packing);
    const uint32_t elements = wte_block_elements((wte_block_type)packing);
    uint64_t bytes;
    if (t) {
        if (!wte_mul_u64(cols, t->bits, &bytes) || !wte_add_u64(bytes, 7, &bytes) ||
            !wte_add_u64(bytes / 8, t->extra, &bytes))
            return 0;
        return bytes;
    }
    if (!elements || cols % elements ||
        !wte_mul_u64(cols / elements, wte_block_bytes((wte_block_type)packing), &bytes))
        return 0;
    return bytes;
}
