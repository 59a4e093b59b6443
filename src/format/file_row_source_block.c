/* A tensor of blocks as rows of f32: a handful is decoded out of the map, more are read in pieces
 * and decoded from those. */
#include "format/format.h"

#include "base/error.h"

/* Rows that are decoded straight from the map: beyond, reading is cheaper than touching pages. */
#define MAPPED_ROWS 16u
/* A piece on the stack: many blocks of any type. */
#define PIECE_BYTES 16384u

typedef struct source {
    const wte__tensor_entry *entry;
    const wte__part *part;
    wte_block_type type;
    uint64_t rows, cols;
    uint32_t elements, bytes; /* of a block */
    uint64_t row_blocks;
    bool swap; /* the scale of each block has its two bytes the other way round */
} source;

static source source_of(const wte__tensor_entry *e)
{
    source s = { .entry = e, .part = &e->file->parts[e->part], .type = (wte_block_type)e->block };
    (void)wte__entry_matrix(e, &s.rows, &s.cols); /* was true when the row source was made */
    s.elements = wte_block_elements(s.type);
    s.bytes = wte_block_bytes(s.type);
    s.row_blocks = s.cols / s.elements;
    s.swap = ((e->flags & WTE__BIG_ENDIAN) != 0); /* q8_0 alone: two bytes of scale, 32 of one */
    return s;
}

/* n blocks from block `at` of the tensor, in pieces. */
static wte_status read_pieces(const source *s, uint64_t at, uint64_t n, float *out, wte_error *err)
{
    uint8_t piece[PIECE_BYTES];
    const uint64_t most = PIECE_BYTES / s->bytes;
    for (uint64_t done = 0; done < n;) {
        const uint64_t now = n - done < most ? n - done : most;
        WTE_TRY(wte__file_read_at(&s->part->file, s->entry->offset + (at + done) * s->bytes, piece,
                                  now * s->bytes, s->part->path, err));
        for (uint64_t i = 0; s->swap && i < now; i++) {
            uint8_t *scale = piece + i * s->bytes, first = scale[0];
            scale[0] = scale[1];
            scale[1] = first;
        }
        WTE_TRY(wte_block_decode(s->type, piece, out + done * s->elements, (size_t)now, err));
        done += now;
    }
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const source s = source_of(ctx);
    return read_pieces(&s, first * s.row_blocks, n * s.row_blocks, out, err);
}

/* Runs of neighbouring ids are read together. */
static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const source s = source_of(ctx);
    const uint8_t *map = s.swap || n > MAPPED_ROWS ? NULL : s.part->file.map;
    float *to = out;
    for (size_t i = 0; i < n;) {
        const uint64_t at = ids[i] * s.row_blocks;
        size_t run = 1;
        while (i + run < n && ids[i + run] == ids[i] + run) run++;
        if (map)
            WTE_TRY(wte_block_decode(s.type, map + s.entry->offset + at * s.bytes, to,
                                     run * (size_t)s.row_blocks, err));
        else
            WTE_TRY(read_pieces(&s, at, run * s.row_blocks, to, err));
        to += run * s.cols;
        i += run;
    }
    return WTE_OK;
}

static wte_status read_packed(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const source s = source_of(ctx);
    const uint64_t row = s.row_blocks * s.bytes;
    return wte__file_read_at(&s.part->file, s.entry->offset + first * row, out, n * row,
                             s.part->path, err);
}

void wte__entry_block_rows(const wte__tensor_entry *e, wte_row_source *out)
{
    const source s = source_of(e);
    out->rows = s.rows;
    out->cols = s.cols;
    out->dtype = WTE_F32;
    out->row_bytes = 0;
    out->read_rows = read_rows;
    out->read_block = read_block;
    out->ctx = (void *)(uintptr_t)e; /* never written through */
    if (s.swap) return;              /* no consumer takes blocks in the other byte order */
    out->packing = s.type;
    out->packed_row_bytes = s.row_blocks * s.bytes;
    out->packed = s.part->file.map ? s.part->file.map + s.entry->offset : NULL;
    out->read_packed = read_packed;
}
