/* Schemes that keep each row together: compressed-tensors (pack-quantized, int-, float- and
 * naive-quantized, nvfp4-pack, mxfp4-pack), MLX (affine, mxfp4, mxfp8, nvfp4) and the int8 of
 * bitsandbytes. Layouts as those projects document them; of a table V x D:
 *
 *   pack-quantized  weight_packed (V, words), weight_scale (1), (V, 1) or (V, D/g), weight_shape,
 *                   perhaps weight_zero_point packed down the rows, weight_g_idx; a field is
 *                   q + 2^(bits-1)
 *   *-quantized     weight (V, D) of i8 or f8_e4m3, weight_scale, perhaps weight_zero_point
 *   nvfp4-pack      weight_packed (V, D/2), weight_scale (V, D/16) f8_e4m3, weight_global_scale
 *   mxfp4-pack      weight_packed (V, D/2), weight_scale (V, D/32) e8m0
 *   mlx affine      weight u32 (V, D*bits/32), scales and biases (V, D/g); q * scale + bias
 *   mlx mxfp4, ...  the same without biases, scales u8: e8m0, or e4m3 for nvfp4
 *   int8            weight i8 (V, D), SCB (V): q * SCB / 127 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/quant.h"

/* Scales (and zeros of their shape): one, one a row, or one for each of equal groups of a row. */
static wte_status take_scales(wte__quant_find *f)
{
    wte__quant *q = f->q;
    const wte__plane *s = &q->scale;
    WTE_TRY(wte__quant_floats(f, s));
    WTE_TRY(wte__quant_filled(f, s));
    if (s->rows != 1 || q->rows == 1)
        WTE_TRY(wte__quant_same(f, s, s->rows, "rows", &q->packed, q->rows));
    q->groups = s->cols;
    if (q->dim % q->groups != 0) {
        char shown[WTE__NAME_SHOWN];
        return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: '%s' has %" PRIu64 " columns, which do not divide the %" PRIu64
                         " of the table",
                         q->path, wte__show(shown, s->name, s->name_bytes), s->cols, q->dim);
    }
    q->group = q->dim / q->groups;
    return WTE_OK;
}

/* Whether so many scales stand for blocks of several rows and columns, as far as one can tell. */
static bool in_blocks(uint64_t n, uint64_t scales)
{
    for (uint64_t block = 16; block <= 4096; block *= 2)
        if (wte__ceil_div(n, block) == scales) return true;
    return false;
}

/* compressed-tensors -----------------------------------------------------------------------------
 */

/* weight_shape: two whole numbers. */
static wte_status take_shape(wte__quant_find *f)
{
    wte__quant *q = f->q;
    wte__plane shape;
    double rows, dim;
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(wte__quant_need(f, ".weight_shape", &shape));
    WTE_TRY(wte__quant_floats(f, &shape));
    if ((shape.rows != 2 || shape.cols != 1) && (shape.rows != 1 || shape.cols != 2))
        return wte__quant_same(f, &shape, shape.rows == 2 ? 2 * shape.cols : shape.rows, "entries",
                               &q->packed, 2);
    WTE_TRY(wte__quant_number(q, &shape, 0, &rows, f->err));
    WTE_TRY(wte__quant_number(q, &shape, 1, &dim, f->err));
    const bool sane = rows >= 1 && dim >= 1 && rows < 0x1p53 && dim < 0x1p53;
    if (!sane)
        return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX, "%s: '%s' is [%.17g, %.17g]", q->path,
                         wte__show(shown, shape.name, shape.name_bytes), rows, dim);
    q->rows = (uint64_t)rows;
    q->dim = (uint64_t)dim;
    return wte__quant_same(f, &q->packed, q->packed.rows, "rows", &shape, q->rows);
}

/* How many words n fields (below 2^53) take: in a dense stream, or per_word in each. */
static uint64_t words_of(uint64_t n, uint32_t bits, uint32_t per_word)
{
    return per_word ? wte__ceil_div(n, per_word) : wte__ceil_div(n * bits, 32);
}

/* The width of a field: of those that the config names, or of all, the one that fits. */
static wte_status find_bits(wte__quant_find *f)
{
    wte__quant *q = f->q;
    const uint64_t own = f->own ? f->own->bits : 0;
    const uint32_t named = own >= 1 && own <= 8 ? UINT32_C(1) << own : f->said->group_bits & 0x1FE;
    uint32_t fits = 0, widths = 0;
    for (uint32_t b = 1; b <= 8; b++) {
        if (named && !(named >> b & 1)) continue;
        const uint32_t per = 32 / b;
        const bool one_way = 32 % b == 0 || per >= q->dim;
        const bool dense = words_of(q->dim, b, 0) == q->packed.cols;
        const bool apart = !one_way && words_of(q->dim, b, per) == q->packed.cols;
        if (dense || apart) widths++;
        fits += dense + apart;
        if (!dense && !apart) continue;
        q->bits = b;
        q->per_word = apart ? per : 0;
    }
    if (widths > 1) return wte__quant_ambiguous(f, "num_bits");
    if (fits > 1)
        return wte__quant_refuse(f, "compressed-tensors %u bits whose two packings both fit",
                                 q->bits);
    char shown[WTE__NAME_SHOWN];
    if (fits == 0)
        return wte__fail(
            f->err, WTE_E_FORMAT, WTE_NO_INDEX,
            "%s: '%s' has %" PRIu64 " words a row, in which no width %s puts %" PRIu64 " fields",
            q->path, wte__show(shown, q->packed.name, q->packed.name_bytes), q->packed.cols,
            named ? "that the config names" : "of 1 to 8 bits", q->dim);
    return WTE_OK;
}

static wte_status take_packed_zeros(wte__quant_find *f, int offset)
{
    wte__quant *q = f->q;
    WTE_TRY(wte__quant_part(f, ".weight_zero_point", &q->zero));
    if (!q->zero.there) return WTE_OK;
    const wte__plane *z = &q->zero;
    WTE_TRY(wte__quant_words(f, z));
    WTE_TRY(wte__quant_same(f, z, z->rows, "rows", &q->packed,
                            words_of(q->rows, q->bits, q->per_word)));
    WTE_TRY(wte__quant_same(f, z, z->cols, "columns", &q->scale, q->groups));
    q->zeros = ZEROS_DOWN;
    q->zero_offset = (float)offset;
    return WTE_OK;
}

static wte_status open_packed(wte__quant_find *f)
{
    wte__quant *q = f->q;
    wte__plane index;
    WTE_TRY(wte__quant_words(f, &q->packed));
    WTE_TRY(take_shape(f));
    WTE_TRY(find_bits(f));
    const int offset = 1 << (q->bits - 1);
    wte__quant_integers(q, offset);
    WTE_TRY(take_scales(f));
    WTE_TRY(take_packed_zeros(f, offset));
    WTE_TRY(wte__quant_part(f, ".weight_g_idx", &index));
    if (index.there) WTE_TRY(wte__quant_order(f, &index));
    snprintf(q->scheme, sizeof q->scheme, "compressed-tensors %u bit%s", q->bits,
             q->bits == 1 ? "" : "s");
    wte__quant_tell_groups(q);
    return WTE_OK;
}

/* nvfp4-pack and mxfp4-pack: two codes a byte, the first in the low half. */
static wte_status open_fp4(wte__quant_find *f, const wte__plane *global)
{
    wte__quant *q = f->q;
    const bool nv = global->there;
    double divide = 1;
    char shown[WTE__NAME_SHOWN];
    q->rows = q->packed.rows;
    q->dim = q->packed.cols * 2;
    q->bits = 4;
    WTE_TRY(wte__quant_small_floats(q, WTE_F4, f->err));
    if (!nv && q->scale.type == WTE_U8) q->scale.type = WTE_F8_E8M0;
    WTE_TRY(take_scales(f));
    WTE_TRY(wte__quant_same(f, &q->scale, q->groups, "columns", &q->packed,
                            wte__ceil_div(q->dim, nv ? 16 : 32)));
    if (nv) {
        WTE_TRY(wte__quant_floats(f, global));
        WTE_TRY(wte__quant_filled(f, global));
        WTE_TRY(wte__quant_number(q, global, 0, &divide, f->err));
        if (!isfinite(divide) || divide == 0)
            return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: '%s' is %g: no scale can be divided by it", q->path,
                             wte__show(shown, global->name, global->name_bytes), divide);
        q->divide = (float)divide;
    }
    snprintf(q->scheme, sizeof q->scheme, "compressed-tensors %s", nv ? "nvfp4" : "mxfp4");
    wte__quant_tell_groups(q);
    return WTE_OK;
}

wte_status wte__quant_compressed(wte__quant_find *f)
{
    wte__quant *q = f->q;
    wte__plane global;
    const char *method = f->said->method;
    if (method[0] && !wte__quant_is(method, "compressed-tensors"))
        return wte__quant_refuse(f, "%.60s", method);
    WTE_TRY(wte__quant_need(f, ".weight_packed", &q->packed));
    WTE_TRY(wte__quant_filled(f, &q->packed));
    WTE_TRY(wte__quant_need(f, ".weight_scale", &q->scale));
    WTE_TRY(wte__quant_part(f, ".weight_global_scale", &global));
    return q->packed.type == WTE_U8 ? open_fp4(f, &global) : open_packed(f);
}

wte_status wte__quant_plain(wte__quant_find *f)
{
    wte__quant *q = f->q;
    WTE_TRY(wte__quant_need(f, ".weight", &q->packed));
    WTE_TRY(wte__quant_filled(f, &q->packed));
    WTE_TRY(wte__quant_need(f, ".weight_scale", &q->scale));
    WTE_TRY(wte__quant_part(f, ".weight_zero_point", &q->zero));
    q->rows = q->packed.rows;
    q->dim = q->packed.cols;
    q->bits = 8;
    WTE_TRY(wte__quant_small_floats(q, q->packed.type, f->err));
    if (q->scale.rows < q->rows && q->scale.cols > 1 && in_blocks(q->rows, q->scale.rows) &&
        in_blocks(q->dim, q->scale.cols))
        return wte__quant_refuse(f, "compressed-tensors %s-quantized, one scale per block",
                                 q->packed.type == WTE_I8 ? "int" : "float");
    WTE_TRY(take_scales(f));
    if (q->zero.there) {
        const wte__plane *z = &q->zero, *s = &q->scale;
        WTE_TRY(wte__quant_floats(f, z));
        WTE_TRY(wte__quant_same(f, z, z->rows, "rows", s, s->rows));
        WTE_TRY(wte__quant_same(f, z, z->cols, "columns", s, s->cols));
        q->zeros = ZEROS_PLAIN;
    }
    snprintf(q->scheme, sizeof q->scheme, "compressed-tensors %s",
             q->packed.type == WTE_I8 ? "8 bits" : "f8_e4m3");
    wte__quant_tell_groups(q);
    return WTE_OK;
}

/* MLX --------------------------------------------------------------------------------------------
 */

/* bits * group of an affine table, from its shapes alone: which pairs of them are in use. */
static wte_status fit_affine(wte__quant_find *f)
{
    static const uint32_t bits[] = { 2, 3, 4, 5, 6, 8 }, groups[] = { 32, 64, 128 };
    wte__quant *q = f->q;
    const uint64_t words = q->packed.cols, scales = q->scale.cols;
    unsigned fits = 0;
    uint32_t b = 0;
    uint64_t g = 0;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 3; k++) {
            if (words % bits[i] != 0 || words / bits[i] * 32 != scales * groups[k]) continue;
            if (!wte__quant_fits_config(f, scales * groups[k])) continue;
            fits++;
            b = bits[i];
            g = groups[k];
        }
    if (fits > 1) return wte__quant_ambiguous(f, "bits");
    if (fits == 0) {
        WTE_TRY(wte__quant_same(f, &q->scale, scales, "columns", &q->packed,
                                wte__ceil_div(words * 8, 64)));
        return wte__quant_unfit(f, &q->packed, words, "columns", &q->scale, scales);
    }
    q->bits = b;
    q->group = g;
    return WTE_OK;
}

/* Codes of another width make a table of other numbers and another width, which the config shows.
 */
static wte_status check_width(wte__quant_find *f)
{
    const wte__quant *q = f->q;
    const wte__quant_said *said = f->said;
    char shown[WTE__NAME_SHOWN];
    if (wte__quant_fits_config(f, q->dim)) return WTE_OK;
    return wte__quant_told(f, wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                                        "%s: '%s' would have rows of %" PRIu64
                                        " numbers, but hidden_size is %" PRIu64,
                                        q->path, wte__show(shown, f->t->name, f->t->name_bytes),
                                        q->dim, said->hidden ? said->hidden : said->embedding));
}

/* Without a width in the config: an entry that names nothing here, and would fit as well. */
static wte_status check_unused(wte__quant_find *f)
{
    const wte__quant *q = f->q;
    char shown[WTE__NAME_SHOWN];
    if (!f->err || !f->table || f->own || f->said->hidden || f->said->embedding) return WTE_OK;
    const wte__quant_path *p = wte__quant_unused(f);
    if (!p || p->bits == q->bits || p->bits == 0 || p->bits > 8 || p->group <= 0 ||
        p->group > INT32_MAX || p->bits * (uint64_t)p->group != q->bits * q->group)
        return WTE_OK;
    return wte__quant_refuse(f,
                             "%u bits in groups of %" PRIu64 ", or those of '%.40s', which is the "
                             "name of no tensor, %" PRIu64 " bits in groups of %" PRId64,
                             q->bits, q->group, wte__show(shown, p->name, strlen(p->name)), p->bits,
                             p->group);
}

static wte_status open_affine(wte__quant_find *f)
{
    wte__quant *q = f->q;
    const uint64_t said = wte__quant_bits(f);
    const int64_t group = wte__quant_group(f);
    const wte__plane *s = &q->scale, *b = &q->zero;
    if (said) {
        if (said > 8 || said < 2 || said == 7)
            return wte__quant_refuse(f, "mlx affine with %llu bits", (unsigned long long)said);
        q->bits = (uint32_t)said;
        q->group = group > 0 ? (uint64_t)group : 64;
        const uint64_t dim = q->packed.cols * 32 / q->bits;
        WTE_TRY(wte__quant_told(f, wte__quant_same(f, s, s->cols, "columns", &q->packed,
                                                   wte__ceil_div(dim, q->group))));
    } else {
        WTE_TRY(fit_affine(f));
    }
    q->dim = q->packed.cols * 32 / q->bits;
    if (q->packed.cols * 32 % q->bits != 0 || q->dim % q->group != 0) {
        WTE_TRY(wte__quant_same(f, &q->packed, q->packed.cols, "columns", s,
                                s->cols * q->group * q->bits / 32));
        return wte__quant_unfit(f, &q->packed, q->packed.cols, "columns", s, s->cols);
    }
    WTE_TRY(check_width(f));
    WTE_TRY(check_unused(f));
    q->groups = s->cols;
    WTE_TRY(wte__quant_floats(f, b));
    WTE_TRY(wte__quant_same(f, b, b->rows, "rows", s, s->rows));
    WTE_TRY(wte__quant_same(f, b, b->cols, "columns", s, s->cols));
    q->zeros = ZEROS_BIAS;
    wte__quant_integers(q, 0);
    snprintf(q->scheme, sizeof q->scheme, "mlx affine %u bits", q->bits);
    wte__quant_tell_groups(q);
    return WTE_OK;
}

/* The modes of small floats: how many columns share a scale and how wide a code is tell them
 * apart. */
static wte_status open_small(wte__quant_find *f)
{
    static const struct {
        const char *name;
        uint32_t bits, group;
        wte_dtype code, scale;
    } modes[] = {
        { "mxfp4", 4, 32, WTE_F4, WTE_F8_E8M0 },
        { "mxfp8", 8, 32, WTE_F8_E4M3, WTE_F8_E8M0 },
        { "nvfp4", 4, 16, WTE_F4, WTE_F8_E4M3 },
    };
    wte__quant *q = f->q;
    const char *said = wte__quant_mode(f);
    size_t i = 0;
    while (i < 3 &&
           (said[0] ? !wte__quant_is(said, modes[i].name)
                    : q->packed.cols * 32 != q->scale.cols * modes[i].group * modes[i].bits))
        i++;
    if (i == 3) return wte__quant_refuse(f, "mlx %.40s", said[0] ? said : "without biases");
    q->bits = modes[i].bits;
    q->group = modes[i].group;
    q->dim = q->packed.cols * 32 / q->bits;
    WTE_TRY(wte__quant_same(f, &q->scale, q->scale.cols, "columns", &q->packed,
                            wte__ceil_div(q->dim, q->group)));
    WTE_TRY(check_width(f));
    q->groups = q->scale.cols;
    if (q->scale.type != WTE_U8) return wte__quant_refuse(f, "mlx %s with other scales", said);
    q->scale.type = modes[i].scale;
    WTE_TRY(wte__quant_small_floats(q, modes[i].code, f->err));
    snprintf(q->scheme, sizeof q->scheme, "mlx %s", modes[i].name);
    wte__quant_tell_groups(q);
    return WTE_OK;
}

wte_status wte__quant_mlx(wte__quant_find *f)
{
    wte__quant *q = f->q;
    WTE_TRY(wte__quant_need(f, ".weight", &q->packed));
    WTE_TRY(wte__quant_filled(f, &q->packed));
    WTE_TRY(wte__quant_need(f, ".scales", &q->scale));
    WTE_TRY(wte__quant_filled(f, &q->scale));
    WTE_TRY(wte__quant_floats(f, &q->scale));
    WTE_TRY(wte__quant_part(f, ".biases", &q->zero));
    q->rows = q->packed.rows;
    WTE_TRY(wte__quant_same(f, &q->scale, q->scale.rows, "rows", &q->packed, q->rows));
    const char *mode = wte__quant_mode(f);
    const bool affine = !mode[0] || wte__quant_is(mode, "affine");
    if (q->zero.there && !affine) return wte__quant_refuse(f, "mlx %.40s with biases", mode);
    return q->zero.there ? open_affine(f) : open_small(f);
}

/* bitsandbytes -----------------------------------------------------------------------------------
 */

wte_status wte__quant_int8(wte__quant_find *f)
{
    wte__quant *q = f->q;
    wte__plane format;
    double layout = 0;
    WTE_TRY(wte__quant_need(f, ".weight", &q->packed));
    WTE_TRY(wte__quant_filled(f, &q->packed));
    WTE_TRY(wte__quant_need(f, ".SCB", &q->scale));
    WTE_TRY(wte__quant_part(f, ".weight_format", &format));
    if (q->packed.type != WTE_I8)
        return wte__quant_refuse(f, "bitsandbytes int8 stored as %s",
                                 wte_dtype_name(q->packed.type));
    if (format.there) {
        WTE_TRY(wte__quant_floats(f, &format));
        WTE_TRY(wte__quant_filled(f, &format));
        WTE_TRY(wte__quant_number(q, &format, 0, &layout, f->err));
    }
    if (layout != 0)
        return wte__quant_refuse(f, "bitsandbytes int8 in the order of columns %g", layout);
    q->rows = q->packed.rows;
    q->dim = q->packed.cols;
    q->bits = 8;
    if (q->scale.rows == 1) { /* a list is as good lying as standing */
        q->scale.rows = q->scale.cols;
        q->scale.cols = 1;
    }
    WTE_TRY(wte__quant_same(f, &q->scale, q->scale.rows, "entries", &q->packed, q->rows));
    WTE_TRY(take_scales(f));
    q->times = 1.0F / 127;
    WTE_TRY(wte__quant_small_floats(q, WTE_I8, f->err));
    snprintf(q->scheme, sizeof q->scheme, "bitsandbytes int8");
    wte__quant_tell_groups(q);
    return WTE_OK;
}
