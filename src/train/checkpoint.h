/* A checkpoint of a training run: named tensors and a line of settings in one safetensors file,
 * which takes the place of the one before only when it is complete. */
#ifndef WTE_SRC_LEARN_CHECKPOINT_H
#define WTE_SRC_LEARN_CHECKPOINT_H
#include <wte/format.h>

typedef struct wte__checkpoint_part {
    char name[64];
    wte_row_source rows;
} wte__checkpoint_part;

/* settings  what the run was started with and how far it is, as text (JSON); kept in the metadata.
 * On failure (a full disk) the old file at `path` stands as it was. What a process that was killed
 * while it wrote has left beside it is removed. */
wte_status wte__checkpoint_write(const char *path, const wte__checkpoint_part *parts, size_t n,
                                 const char *settings, wte_error *err);

typedef struct wte__checkpoint wte__checkpoint;
/* E_NOT_FOUND when there is no file; E_FORMAT when it is no checkpoint. */
wte_status wte__checkpoint_open(const char *path, wte__checkpoint **out, wte_error *err);
void wte__checkpoint_free(wte__checkpoint *c);
const char *wte__checkpoint_settings(const wte__checkpoint *c);
/* Whether the settings of a checkpoint, one "key": value a line, are those of this run: else
 * E_SHAPE with the first lines that differ. */
wte_status wte__checkpoint_belongs(const char *path, const char *have, const char *want,
                                   wte_error *err);
/* The part of that name as rows that are read when they are asked for; they live as long as c, also
 * when another file has taken the place of this one. */
wte_status wte__checkpoint_rows(const wte__checkpoint *c, const char *name, wte_row_source *out,
                                wte_error *err);
/* The part of that name, which must have this shape and type: else E_SHAPE with both shapes; and of
 * F32 be finite: else E_FORMAT (where = its row). */
wte_status wte__checkpoint_read(const wte__checkpoint *c, const char *name, wte_dtype dtype,
                                uint64_t rows, uint64_t cols, void *out, wte_error *err);
#endif
