/* AWQ and GPTQ: qweight, qzeros and scales. Layouts as AutoAWQ (gemm, gemv) and GPTQ (checkpoint
 * formats gptq and gptq_v2) document them; of a linear layer with V outputs and D inputs:
 *
 *   gptq  qweight (D*bits/32, V), qzeros (D/g, V*bits/32), scales (D/g, V), g_idx (D)
 *   gemm  qweight (D, V/8), qzeros (D/g, V/8), scales (D/g, V); four bits
 *   gemv  qweight (V, D/8), qzeros (V, w), scales (V, 8*w), w = D/g fields rounded up; four bits
 *
 *     W[v][d] = (q - z) * s
 *
 * where gptq (not gptq_v2) stores z - 1. */
#include <stdio.h>

#include "base/error.h"
#include "model/quant.h"

typedef enum reading { NO_READING, GPTQ, GEMM, GEMV } reading;

/* The one reading that the shapes fit; where none does, one of the kind that will say why. */
static wte_status by_shape(wte__quant_find *f, bool awq, reading *out)
{
    const wte__plane *p = &f->q->packed, *z = &f->q->zero, *s = &f->q->scale;
    const bool gptq = !awq && p->cols == s->cols && z->rows == s->rows;
    const bool gemm = p->cols == s->cols / 8 && s->cols % 8 == 0 && z->cols == p->cols &&
                      z->rows == s->rows && s->rows <= p->rows;
    const bool gemv = p->rows == s->rows && z->rows == p->rows && z->cols == s->cols / 8 &&
                      s->cols % 8 == 0 && z->cols <= p->cols * 8;
    if (gptq + gemm + gemv > 1) return wte__quant_ambiguous(f, "quant_method");
    *out = gemm ? GEMM : gemv ? GEMV : awq ? GEMM : GPTQ;
    return WTE_OK;
}

static wte_status choose(wte__quant_find *f, bool indexed, reading *out)
{
    const wte__quant_said *said = f->said;
    const char *version = said->version[0] ? said->version : said->format;
    *out = NO_READING;
    if (wte__quant_is(said->method, "gptq") || (indexed && !said->method[0])) {
        *out = GPTQ;
        return WTE_OK;
    }
    if (!said->method[0]) {
        WTE_TRY(by_shape(f, false, out));
        if (*out == GPTQ || !version[0]) return WTE_OK;
    }
    if (!said->method[0] || wte__quant_is(said->method, "awq")) {
        if (wte__quant_is(version, "gemm"))
            *out = GEMM;
        else if (wte__quant_is(version, "gemv"))
            *out = GEMV;
        else if (!version[0])
            return by_shape(f, true, out);
        else
            return wte__quant_refuse(f, "awq %.40s", version);
        return WTE_OK;
    }
    return wte__quant_refuse(f, "%.60s", said->method);
}

static wte_status open_gptq(wte__quant_find *f, const wte__plane *index)
{
    wte__quant *q = f->q;
    const wte__plane *p = &q->packed, *z = &q->zero, *s = &q->scale;
    const char *format = f->said->format;
    const bool first = !format[0] || wte__quant_is(format, "gptq");
    if (!first && !wte__quant_is(format, "gptq_v2"))
        return wte__quant_refuse(
            f, wte__quant_is(format, "gptq_p") ? "%.40s" : "gptq in the form %.40s", format);
    if (!f->said->at) return wte__quant_ambiguous(f, "checkpoint_format");
    q->rows = p->cols;
    WTE_TRY(wte__quant_same(f, s, s->cols, "columns", p, q->rows));
    WTE_TRY(wte__quant_same(f, z, z->rows, "rows", s, s->rows));
    uint64_t bits = wte__quant_bits(f);
    if (z->cols <= UINT64_MAX / 32 && z->cols * 32 % q->rows == 0) bits = z->cols * 32 / q->rows;
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
        return wte__quant_refuse(f, "gptq with %llu bits", (unsigned long long)bits);
    WTE_TRY(wte__quant_same(f, z, z->cols, "columns", s, wte__ceil_div(q->rows * bits, 32)));
    if (p->rows > UINT64_MAX / 32 || p->rows * 32 % bits != 0)
        return wte__quant_unfit(f, p, p->rows, "rows", z, z->rows);
    const uint64_t dim = p->rows * 32 / bits;
    q->bits = (uint32_t)bits;
    q->groups = s->rows;
    q->dim = dim;
    q->codes = CODES_ALONG_COLUMN;
    q->zeros = ZEROS_STREAM;
    q->scales_by_group = true;
    q->zero_add = first ? 1 : 0;
    if (index->there)
        q->group = wte__ceil_div(dim, q->groups);
    else
        WTE_TRY(wte__quant_fit_group(f));
    if (index->there) WTE_TRY(wte__quant_order(f, index));
    snprintf(q->scheme, sizeof q->scheme, "gptq%s %u bits", first ? "" : " v2", q->bits);
    wte__quant_tell_groups(q);
    return WTE_OK;
}

static wte_status open_gemm(wte__quant_find *f)
{
    wte__quant *q = f->q;
    const wte__plane *p = &q->packed, *z = &q->zero, *s = &q->scale;
    q->rows = p->cols * 8;
    q->dim = p->rows;
    q->groups = s->rows;
    WTE_TRY(wte__quant_same(f, s, s->cols, "columns", p, q->rows));
    WTE_TRY(wte__quant_same(f, z, z->cols, "columns", p, p->cols));
    WTE_TRY(wte__quant_same(f, z, z->rows, "rows", s, s->rows));
    WTE_TRY(wte__quant_fit_group(f));
    q->codes = CODES_ACROSS;
    q->zeros = ZEROS_ACROSS;
    q->scales_by_group = true;
    snprintf(q->scheme, sizeof q->scheme, "awq gemm 4 bits");
    wte__quant_tell_groups(q);
    return WTE_OK;
}

/* Words of zeros in a row: as many as its groups need, in multiples of two for groups of 64 and of
 * four for groups of 32. */
static uint64_t zero_words(uint64_t dim, uint64_t group)
{
    const uint64_t step = group >= 128 ? 1 : group == 64 ? 2 : 4;
    return wte__ceil_div(wte__ceil_div(wte__ceil_div(dim, group), 8), step) * step;
}

static wte_status open_gemv(wte__quant_find *f)
{
    static const uint64_t sizes[] = { 32, 64, 128 };
    wte__quant *q = f->q;
    const wte__plane *p = &q->packed, *z = &q->zero, *s = &q->scale;
    const int64_t said = wte__quant_group(f);
    q->rows = p->rows;
    q->dim = p->cols * 8;
    WTE_TRY(wte__quant_same(f, z, z->rows, "rows", p, p->rows));
    WTE_TRY(wte__quant_same(f, s, s->rows, "rows", p, p->rows));
    WTE_TRY(wte__quant_same(f, s, s->cols, "columns", z, z->cols * 8));
    unsigned fits = 0;
    q->group = said > 0 ? (uint64_t)said : said < 0 ? q->dim : 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && said == 0; i++) {
        if (zero_words(q->dim, sizes[i]) != z->cols) continue;
        q->group = sizes[i];
        fits++;
    }
    if (said == 0 && fits != 1) return wte__quant_ambiguous(f, "group_size");
    if (q->group != 32 && q->group != 64 && q->group < 128)
        return wte__quant_refuse(f, "awq gemv with groups of %llu", (unsigned long long)q->group);
    WTE_TRY(wte__quant_same(f, z, z->cols, "columns", p, zero_words(q->dim, q->group)));
    q->groups = wte__ceil_div(q->dim, q->group);
    q->codes = CODES_ALONG_ROW;
    q->zeros = ZEROS_ALONG_ROW;
    snprintf(q->scheme, sizeof q->scheme, "awq gemv 4 bits");
    wte__quant_tell_groups(q);
    return WTE_OK;
}

wte_status wte__quant_qweight(wte__quant_find *f)
{
    wte__quant *q = f->q;
    wte__plane index;
    reading how;
    WTE_TRY(wte__quant_need(f, ".qweight", &q->packed));
    WTE_TRY(wte__quant_part(f, ".scales", &q->scale));
    WTE_TRY(wte__quant_part(f, ".qzeros", &q->zero));
    WTE_TRY(wte__quant_part(f, ".g_idx", &index));
    const char *method = f->said->method;
    if (q->packed.type == WTE_I16)
        return wte__quant_refuse(f, "%.40s with words of 16 bits (gemv_fast)", method);
    if (!q->scale.there || !q->zero.there)
        return wte__quant_refuse(f, "%.40s qweight without %s", method,
                                 q->scale.there ? "qzeros" : "scales");
    WTE_TRY(wte__quant_words(f, &q->packed));
    WTE_TRY(wte__quant_words(f, &q->zero));
    WTE_TRY(wte__quant_floats(f, &q->scale));
    WTE_TRY(wte__quant_filled(f, &q->packed));
    WTE_TRY(wte__quant_filled(f, &q->scale));
    WTE_TRY(choose(f, index.there, &how));
    wte__quant_integers(q, 0);
    if (how == GPTQ) return open_gptq(f, &index);
    const uint64_t bits = wte__quant_bits(f);
    if (bits && bits != 4)
        return wte__quant_refuse(f, "awq with %llu bits", (unsigned long long)bits);
    q->bits = 4;
    return how == GEMM ? open_gemm(f) : open_gemv(f);
}
