/* Which kernels read rows as they are stored: by element type, or by packing. */
#include "num/stored.h"

#include <wte/block.h>

static bool kernels_of_type(wte_dtype type, wte__row_kernels *out)
{
    const wte__kernels *k = wte__kernels_get();
    switch (type) {
    case WTE_F32: *out = (wte__row_kernels){ k->lookup_f32, k->bags_f32 }; return true;
    case WTE_F16: *out = (wte__row_kernels){ k->lookup_f16, k->bags_f16 }; return true;
    case WTE_BF16: *out = (wte__row_kernels){ k->lookup_bf16, k->bags_bf16 }; return true;
    case WTE_I8: *out = (wte__row_kernels){ k->lookup_i8, k->bags_i8 }; return true;
    default: return false;
    }
}

bool wte__stored_plain(wte_dtype type, uint64_t cols, const void *data, uint64_t row_bytes,
                       wte__stored *out, wte__row_kernels *kernels)
{
    if (!kernels_of_type(type, kernels)) return false;
    *out = (wte__stored){ .table = data,
                          .codes = data,
                          .stride = (size_t)row_bytes,
                          .row_bytes = (size_t)cols * wte_dtype_bytes(type),
                          .cols = (size_t)cols };
    return true;
}

static bool kernels_of_bits(uint32_t bits, wte__row_kernels *out)
{
    const wte__kernels *k = wte__kernels_get();
    switch (bits) {
    case 8: *out = (wte__row_kernels){ k->lookup_row8, k->bags_row8 }; return true;
    case 4: *out = (wte__row_kernels){ k->lookup_row4, k->bags_row4 }; return true;
    default: *out = (wte__row_kernels){ k->lookup_row2, k->bags_row2 }; return true;
    }
}

bool wte__stored_packed(uint32_t packing, uint64_t cols, const void *data, uint64_t row_bytes,
                        wte__stored *out, wte__row_kernels *kernels)
{
    uint32_t bits;
    bool f32_scale, front;
    switch (packing) {
#define X(NAME, name, value, width, scale, before)                                                 \
    case WTE_##NAME:                                                                               \
        bits = (width);                                                                            \
        f32_scale = (scale) == WTE_F32;                                                            \
        front = (before);                                                                          \
        break;
        WTE_ROWWISE_LIST(X)
#undef X
    default: return false;
    }
    const size_t row = (size_t)wte_packed_bytes(packing, cols), extra = f32_scale ? 8 : 4;
    *out = (wte__stored){ .table = data,
                          .stride = (size_t)row_bytes,
                          .row_bytes = row,
                          .cols = (size_t)cols,
                          .codes = data && front ? (const char *)data + extra : data,
                          .scale_at = front ? -(ptrdiff_t)extra : (ptrdiff_t)(row - extra),
                          .f32_scale = f32_scale };
    return kernels_of_bits(bits, kernels);
}

bool wte__stored_blocks(uint32_t packing, uint64_t cols, const void *data, uint64_t row_bytes,
                        wte__stored *out, wte__row_kernels *kernels)
{
    switch (packing) {
#define X(NAME, name)                                                                              \
    case WTE_BLOCK_##NAME:                                                                         \
        *kernels = (wte__row_kernels){ NULL, wte__kernels_get()->bags_##name };                    \
        break;
        X(Q8_0, q8_0)
        X(Q4_0, q4_0)
#undef X
    default: return false;
    }
    *out = (wte__stored){ .table = data,
                          .codes = data,
                          .stride = (size_t)row_bytes,
                          .row_bytes = (size_t)wte_packed_bytes(packing, cols),
                          .cols = (size_t)cols };
    return true;
}
