/* What bag_avx2.h and bag_neon.h share: eight elements of stored rows. A set defines, besides what
 * bag_vectors.h wants of vectors,
 *
 *     scale_and_bias(stored, codes)      of a row of a rowwise type
 *     read_codes(from, n, p, bits)       n elements of so many bits, by these
 *
 * and then includes this. */
#ifndef WTE_SRC_NUM_BAG_EIGHTS_H
#define WTE_SRC_NUM_BAG_EIGHTS_H
#include "num/kernels.h"
#include "num/vec8.h"

ALWAYS_INLINE vec vec_load(const char *from, size_t n)
{
    return some_of_eight(from, n, sizeof(float), eight_f32);
}
ALWAYS_INLINE void vec_store(char *to, vec x, size_t n)
{
    put_some_of_8(to, x, n);
}

#define X(name)                                                                                    \
    ALWAYS_INLINE row_params params_##name(const wte__stored *s, const char *codes)                \
    {                                                                                              \
        return scale_and_bias(s, codes);                                                           \
    }
X(row8)
X(row4)
X(row2)
#undef X

#define X(name, size, read)                                                                        \
    ALWAYS_INLINE vec read_##name(const char *from, size_t n, const row_params *p)                 \
    {                                                                                              \
        (void)p;                                                                                   \
        return some_of_eight(from, n, size, read);                                                 \
    }
X(f32, 4, eight_f32)
X(f16, 2, eight_f16)
X(bf16, 2, eight_bf16_as_is) /* what follows makes a NaN quiet */
X(i8, 1, eight_i8)
X(u8, 1, eight_u8)
#undef X
ALWAYS_INLINE vec read_row8(const char *from, size_t n, const row_params *p)
{
    return vec_fma(read_u8(from, n, p), p->scale, p->bias);
}
ALWAYS_INLINE vec read_row4(const char *from, size_t n, const row_params *p)
{
    return read_codes(from, n, p, 4);
}
ALWAYS_INLINE vec read_row2(const char *from, size_t n, const row_params *p)
{
    return read_codes(from, n, p, 2);
}
#endif
