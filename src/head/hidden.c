/* Hidden vectors in the form that kernels take: f32 after the transform's steps before the product;
 * in the fast precision rounded to bf16, or to integers with a scale for every 32. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "head/tile.h"

/* Integers of a vector with one scale. */
#define SCALED 32u
/* Their largest: symmetric, so that no sign has an advantage. */
#define MOST 127.0f

/* Whether vectors can be used in place. */
static bool stays(const wte__tile_pass *p)
{
    const wte_hidden *h = p->s->hidden;
    const wte_logit_transform *c = &p->s->o.chain;
    return wte__form_is_exact(p->form) && h->dtype == WTE_F32 && c->hidden_scale == 0 &&
           c->hidden_divisor == 0 && (uintptr_t)h->data % 4 == 0 && h->row_bytes % 4 == 0;
}

/* Of one vector as integers. */
static uint64_t bytes_of_integers(uint64_t dim)
{
    const uint64_t steps = dim / WTE__BYTES_STEP + (dim % WTE__BYTES_STEP != 0);
    return wte__times(steps, sizeof(wte__int8_dots_step));
}

/* Of a block of vectors in the kernel's form. */
static uint64_t bytes_of_block(const wte__tile_pass *p, uint64_t block)
{
    const uint64_t dim = p->s->hidden->dim, lanes = WTE__PAIRS_LANES;
    switch (p->form) {
    case WTE__FORM_EXACT:
    case WTE__FORM_BLOCKS: return stays(p) ? 0 : wte__times(block, wte__times(dim, sizeof(float)));
    case WTE__FORM_FEW: return wte__times(block, wte__times(dim, 2));
    case WTE__FORM_MANY: return wte__times((block + lanes - 1) / lanes * lanes, wte__times(dim, 2));
    default: return wte__times(block, bytes_of_integers(dim));
    }
}

/* After the block: one vector in f32, and one in bf16. */
uint64_t wte__hidden_plan(const wte__tile_pass *p, uint64_t block)
{
    const uint64_t one = wte__form_is_exact(p->form) ? 0 : wte__times(p->s->hidden->dim, 6);
    return wte__plus(wte__aligned(bytes_of_block(p, block)), one);
}

static float *spare(const wte__tile_pass *p)
{
    const size_t before = (size_t)wte__aligned(bytes_of_block(p, p->block));
    return (float *)(void *)(p->work + p->hidden_at + before);
}

wte_status wte__hidden_widen(const wte_hidden *h, const wte_logit_transform *c, uint64_t i,
                             float *out, wte_error *err)
{
    const size_t dim = (size_t)h->dim;
    const size_t stride = h->row_bytes ? h->row_bytes : dim * wte_dtype_bytes(h->dtype);
    const char *from = (const char *)h->data + i * stride;
    WTE_TRY(wte_convert(h->dtype, from, WTE_F32, out, dim, NULL, err));
    for (size_t k = 0; c->hidden_scale != 0 && k < dim; k++) out[k] *= c->hidden_scale;
    for (size_t k = 0; c->hidden_divisor != 0 && k < dim; k++) out[k] /= c->hidden_divisor;
    return WTE_OK;
}

/* Vector i of the block in f32. */
static wte_status widen(const wte__tile_pass *p, uint64_t i, float *out, wte_error *err)
{
    return wte__hidden_widen(p->s->hidden, &p->s->o.chain, p->first + i, out, err);
}

static wte_status load_exact(wte__tile_pass *p, uint8_t *memory, wte_error *err)
{
    const wte_hidden *h = p->s->hidden;
    const size_t dim = (size_t)h->dim;
    float *out = (float *)(void *)memory;
    p->h_stride = dim;
    p->h = out;
    if (stays(p)) {
        const size_t stride = h->row_bytes ? h->row_bytes : dim * sizeof(float);
        p->h_stride = stride / sizeof(float);
        p->h = (const float *)(const void *)((const char *)h->data + p->first * stride);
        return WTE_OK;
    }
    for (uint64_t i = 0; i < p->n; i++) WTE_TRY(widen(p, i, out + i * dim, err));
    return WTE_OK;
}

static wte_status load_pairs(wte__tile_pass *p, uint8_t *memory, wte_error *err)
{
    const wte__kernels *k = wte__kernels_get();
    const size_t dim = (size_t)p->s->hidden->dim;
    float *wide = spare(p);
    uint16_t *out = (uint16_t *)(void *)memory, *one = (uint16_t *)(void *)(wide + dim);
    for (uint64_t i = 0; i < p->n; i++) {
        WTE_TRY(widen(p, i, wide, err));
        k->fast_round(wide, p->form == WTE__FORM_FEW ? out + i * dim : one, dim);
        if (p->form == WTE__FORM_FEW) continue;
        uint16_t *to = out + wte__pairs_at(dim, (size_t)i, 0);
        for (size_t pair = 0; pair < dim; pair += 2, to += 2 * WTE__PAIRS_LANES)
            memcpy(to, one + pair, 2 * sizeof *one);
    }
    return WTE_OK;
}

/* 32 numbers, from element `at` of the step on, as integers times a scale. A number that is not
 * finite makes the scale so, and with it all logits. */
static void round_32(const float *x, wte__int8_dots_step *step, size_t at)
{
    float most = 0;
    for (size_t k = 0; k < SCALED; k++) {
        const float size = fabsf(x[k]);
        if (!(size <= most)) most = size; /* NaN too, which stays */
    }
    const float scale = most / MOST;
    const bool usable = isfinite(most) && isfinite(1 / scale);
    for (size_t k = 0; k < SCALED; k++) {
        const long q = usable ? lrintf(x[k] * (1 / scale)) : 0;
        step->q[wte__int8_dots_at(at + k)] = (int8_t)q;
        step->less[(at + k) / 16] -= (int32_t)q;
    }
    step->scale[at / 16] = step->scale[at / 16 + 1] = usable ? scale : most * 0; /* 0, or NaN */
}

/* dim is a multiple of 32, as blocks are. */
static wte_status load_integers(wte__tile_pass *p, uint8_t *memory, wte_error *err)
{
    const size_t dim = (size_t)p->s->hidden->dim, n = (size_t)p->n;
    float *wide = spare(p);
    wte__int8_dots_step *steps = (wte__int8_dots_step *)(void *)memory;
    memset(memory, 0, n * (size_t)bytes_of_integers(dim));
    for (size_t i = 0; i < n; i++) {
        WTE_TRY(widen(p, i, wide, err));
        for (size_t k = 0; k < dim; k += SCALED) {
            const size_t s = k / WTE__BYTES_STEP;
            round_32(wide + k, steps + s * n + i, k - wte__int8_dots_first(dim, s));
        }
    }
    return WTE_OK;
}

wte_status wte__hidden_load(wte__tile_pass *p, wte_error *err)
{
    uint8_t *memory = p->work + p->hidden_at;
    if (wte__form_is_exact(p->form)) return load_exact(p, memory, err);
    if (p->form == WTE__FORM_BYTES) return load_integers(p, memory, err);
    return load_pairs(p, memory, err);
}
