/* The experiment: change one element of the input table, read the head, see whether it moved. It
 * runs on a private copy-on-write map of the file (on a copy of the element's bytes, where nothing
 * is to be mapped), never on the file. Both roles read through one map where they lie in one file,
 * so that a shared tensor is shown by its bytes, not asserted. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/file.h"
#include "format/format.h"
#include "model/model.h"

/* Where one role's element lies in its file. */
struct place {
    uint64_t offset;
    uint32_t part, bytes;
    wte_dtype dtype;
    bool reversed;        /* stored big-endian */
    bool unpacked;        /* in memory, from what is packed in the file */
    wte_block_type block; /* then bytes are those of a whole block, ... */
    uint32_t in_block;    /* ... and this is the element's number in it */
};

/* An element of a block: the whole of it is decoded. */
static bool read_of_block(const uint8_t *map, const struct place *p, double *out)
{
    uint8_t raw[WTE_BLOCK_MAX_BYTES];
    float values[WTE_BLOCK_MAX_ELEMENTS];
    memcpy(raw, map + p->offset, p->bytes);
    if (p->reversed) { /* q8_0: its scale of two bytes */
        raw[0] = map[p->offset + 1];
        raw[1] = map[p->offset];
    }
    if (wte_block_decode(p->block, raw, values, 1, NULL) != WTE_OK) return false;
    *out = (double)values[p->in_block];
    return true;
}

/* Change one byte of a block, the first that gives the element another finite value. */
static bool write_to_block(uint8_t *map, const struct place *p, double before)
{
    double after;
    for (uint32_t i = 0; i < p->bytes; i++) {
        map[p->offset + i] ^= 0x11;
        if (read_of_block(map, p, &after) && isfinite(after) && after != before) return true;
        map[p->offset + i] ^= 0x11;
    }
    return false;
}

/* An element of a private map, as a number. */
static bool read_element(const uint8_t *map, const struct place *p, double *out)
{
    uint8_t raw[8];
    if (p->block) return read_of_block(map, p, out);
    for (uint32_t i = 0; i < p->bytes; i++)
        raw[i] = map[p->offset + (p->reversed ? p->bytes - 1 - i : i)];
    return wte_convert(p->dtype, raw, WTE_F64, out, 1, NULL, NULL) == WTE_OK;
}

/* A number that the type stores as another one than `before`. */
static double another(double before)
{
    return isfinite(before) && fabs(before) < 64 && before != 0 ? -before : 1;
}

static bool write_element(uint8_t *map, const struct place *p, double before)
{
    uint8_t raw[8];
    if (p->block) return write_to_block(map, p, before);
    const double value = another(before);
    if (wte_convert(WTE_F64, &value, p->dtype, raw, 1, NULL, NULL) != WTE_OK) return false;
    for (uint32_t i = 0; i < p->bytes; i++)
        map[p->offset + (p->reversed ? p->bytes - 1 - i : i)] = raw[i];
    return true;
}

static bool locate(const wte_model *m, const wte_model_table *table, uint64_t row, uint64_t col,
                   struct place *out)
{
    wte_tensor t;
    uint64_t stored = row;
    if (wte_file_tensor(m->file, table->tensor, &t, NULL) != WTE_OK) return false;
    if (table->scheme || t.derived || (!t.block && !wte_dtype_converts(t.dtype))) return false;
    if (table->mapped) stored = m->mapping.row[row];
    const wte__steps steps = wte__steps_of(&t, table->transposed);
    const uint64_t index = stored * steps.row + col * steps.col;
    const uint32_t per = t.block ? wte_block_elements(t.block) : 1;
    out->bytes = t.block ? wte_block_bytes(t.block) : wte_dtype_bytes(t.dtype);
    out->dtype = t.dtype;
    out->block = t.block;
    out->in_block = (uint32_t)(index % per);
    out->part = t.shard;
    out->reversed = t.big_endian;
    out->unpacked = t.decompressed;
    out->offset = t.offset + index / per * out->bytes;
    return true;
}

static bool within(const struct place *p, uint64_t bytes)
{
    uint64_t end;
    return wte__add_u64(p->offset, p->bytes, &end) && end <= bytes;
}

/* The bytes that a role's element is looked for in: a private map of its file or, where nothing is
 * to be mapped, a copy of these bytes alone. */
struct window {
    uint8_t *data;
    uint64_t bytes;
    bool mapped;
};

static bool map_part(const wte_model *m, uint32_t part, struct window *w, wte_error *err)
{
    const char *path = wte_file_shard_path(m->file, part);
    if (wte__file_map_private(path, &w->data, &w->bytes, err) != WTE_OK) return false;
    w->mapped = true;
    if (w->bytes == wte_file_shard_bytes(m->file, part)) return true;
    (void)wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX, "the file has changed since it was opened");
    return false;
}

static bool copy_part(const wte_model *m, uint32_t part, uint64_t first, struct window *w,
                      wte_error *err)
{
    const wte__part *p = &m->file->parts[part];
    w->data = wte__alloc(m->allocator, (size_t)w->bytes);
    if (w->data)
        return wte__file_read_at(&p->file, first, w->data, w->bytes, p->path, err) == WTE_OK;
    (void)wte__no_memory(err, w->bytes, "an element");
    return false;
}

static void close_window(const wte_model *m, struct window *w)
{
    if (w->mapped)
        wte__file_unmap_private(w->data, w->bytes);
    else
        wte__free(m->allocator, w->data, (size_t)w->bytes);
}

/* One window, w[0], for both where they can share bytes; else w[1] is the head's. Offsets become
 * those in the windows. */
static bool open_windows(const wte_model *m, struct place *a, struct place *b, struct window w[2],
                         wte_error *err)
{
    const uint64_t end_a = a->offset + a->bytes, end_b = b->offset + b->bytes;
    if (!m->file->copy)
        return map_part(m, a->part, &w[0], err) &&
               (a->part == b->part || map_part(m, b->part, &w[1], err));
    const bool shared = a->part == b->part && a->offset < end_b && b->offset < end_a;
    const uint64_t first_a = shared && b->offset < a->offset ? b->offset : a->offset;
    const uint64_t first_b = shared ? first_a : b->offset;
    w[0].bytes = (shared && end_b > end_a ? end_b : end_a) - first_a;
    w[1].bytes = shared ? 0 : b->bytes;
    const bool ok = copy_part(m, a->part, first_a, &w[0], err) &&
                    (shared || copy_part(m, b->part, first_b, &w[1], err));
    a->offset -= first_a;
    b->offset -= first_b;
    return ok;
}

/* Both windows are open (the same one when both roles can share bytes). */
static void change_and_look(uint8_t *input_map, const struct place *input, const uint8_t *head_map,
                            const struct place *head, wte_tie *out)
{
    uint8_t stored[WTE_BLOCK_MAX_BYTES], shown[WTE_BLOCK_MAX_BYTES];
    memcpy(stored, input_map + input->offset, input->bytes);
    memcpy(shown, head_map + head->offset, head->bytes);
    bool ok = read_element(input_map, input, &out->before) &&
              read_element(head_map, head, &out->head_before) &&
              write_element(input_map, input, out->before) &&
              read_element(input_map, input, &out->after) &&
              read_element(head_map, head, &out->head_after);
    out->head_changed = ok && memcmp(shown, head_map + head->offset, head->bytes) != 0;
    out->experiment_ran = ok && memcmp(stored, input_map + input->offset, input->bytes) != 0;
    if (!out->experiment_ran)
        snprintf(out->skip_reason, sizeof out->skip_reason, "the element cannot be changed");
}

static void try_at(const wte_model *m, const wte_model_table *head, wte_tie *out)
{
    struct place a, b;
    struct window w[2] = { { NULL, 0, false }, { NULL, 0, false } };
    wte_error err;
    err.message[0] = '\0';
    if (!locate(m, &m->input, out->experiment_row, out->experiment_col, &a) ||
        !locate(m, head, out->experiment_row, out->experiment_col, &b)) {
        const char *scheme = m->input.scheme ? m->input.scheme : head->scheme;
        if (wte_file_format(m->file) == WTE_FORMAT_TORCH_PARALLEL ||
            wte_file_format(m->file) == WTE_FORMAT_SAFETENSORS_PARALLEL)
            snprintf(out->skip_reason, sizeof out->skip_reason,
                     "the table is put together of several files");
        else
            snprintf(out->skip_reason, sizeof out->skip_reason,
                     "elements of type %s are not changed here",
                     scheme ? scheme : wte_dtype_name(m->input.dtype));
        return;
    }
    if (a.unpacked || b.unpacked) {
        snprintf(out->skip_reason, sizeof out->skip_reason,
                 "the table is packed in its archive, where no byte stands for one element");
        return;
    }
    const bool ok = open_windows(m, &a, &b, w, &err);
    const struct window *const head_window = w[1].data ? &w[1] : &w[0];
    if (ok && within(&a, w[0].bytes) && within(&b, head_window->bytes))
        change_and_look(w[0].data, &a, head_window->data, &b, out);
    else
        snprintf(out->skip_reason, sizeof out->skip_reason, "%.110s", err.message);
    close_window(m, &w[0]);
    close_window(m, &w[1]);
}

void wte__tie_experiment(const wte_model *m, wte_tie *out)
{
    const wte_model_table *head = m->has_head ? &m->head : NULL;
    if (out->verdict == WTE_TIE_SAME_STORAGE && !head) head = &m->input;
    if (!head) {
        snprintf(out->skip_reason, sizeof out->skip_reason, "there is no head to look at");
        return;
    }
    uint64_t rows = m->input.rows < head->rows ? m->input.rows : head->rows;
    uint64_t dim = m->input.dim < head->dim ? m->input.dim : head->dim;
    if (rows == 0 || dim == 0) {
        snprintf(out->skip_reason, sizeof out->skip_reason, "the tables share no element");
        return;
    }
    out->experiment_row = rows > 3 ? 3 : rows - 1; /* the fourth row, as in the worked example */
    out->experiment_col = 0;
    try_at(m, head, out);
}
