/* What a model does to its logits after the product: bias, times, over, cap. */
#include "base/error.h"
#include "head/tile.h"

bool wte__logit_transform_any(const wte_head_options *o)
{
    return o->bias || o->chain.scale != 0 || o->chain.divisor != 0 || o->chain.softcap > 0;
}

/* The bias of n rows from `row` on, in f32: in place, or in `space`. */
static wte_status take_bias(const wte__tile_pass *p, uint64_t row, uint32_t n, float *space,
                            const float **bias, wte_error *err)
{
    const wte_head_options *o = &p->s->o;
    const size_t size = wte_dtype_bytes(o->bias_dtype);
    const char *all = o->bias;
    *bias = o->bias ? space : NULL;
    if (!o->bias) return WTE_OK;
    if (!p->s->chosen)
        return wte_convert(o->bias_dtype, all + row * size, WTE_F32, space, n, NULL, err);
    for (uint32_t r = 0; r < n; r++)
        WTE_TRY(wte_convert(o->bias_dtype, all + wte__logit_tiles_row(p->s, row + r) * size,
                            WTE_F32, space + r, 1, NULL, err));
    return WTE_OK;
}

wte_status wte__logit_transform_run(const wte__tile_pass *p, uint64_t row, uint32_t n,
                                    uint8_t *slot, float *out, size_t stride, wte_error *err)
{
    const wte_logit_transform *c = &p->s->o.chain;
    const wte__logit_epilogue after = { c->scale, c->divisor, c->softcap };
    const wte__kernels *k = wte__kernels_get();
    const float *bias;
    WTE_TRY(take_bias(p, row, n, (float *)(void *)(slot + p->bias_at), &bias, err));
    for (uint64_t i = 0; i < p->n; i++) k->logit_epilogue(out + i * stride, n, bias, &after);
    return WTE_OK;
}
