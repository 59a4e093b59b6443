/* A model that was saved by several processes at once: consolidated.00.pth, consolidated.01.pth and
 * so on. Each part has all tensors, but of each matrix only its own rows, or its own columns; lists
 * are the same in all. The parts say nothing of how they are to be joined: it follows from the
 * width that the model is known to have. */
#ifndef WTE_SRC_FORMAT_PARTS_H
#define WTE_SRC_FORMAT_PARTS_H
#include "format/format.h"

typedef enum wte__join {
    WTE__JOIN_ALIKE,   /* a list, or a single number: every part has the whole of it */
    WTE__JOIN_ROWS,    /* the rows of the second part follow those of the first */
    WTE__JOIN_COLUMNS, /* each row goes on in the next part */
    WTE__JOIN_UNKNOWN  /* nothing tells: shown as all pieces, one after the other; has no rows */
} wte__join;

/* What is behind the tensors of such a file (wte_file's `made`). */
typedef struct wte__parts {
    uint32_t n;         /* how many parts */
    size_t n_tensors;   /* of each */
    wte__entry *pieces; /* n_tensors of the first part, then of the second, ... */
    size_t n_pieces, pieces_cap;
    uint8_t *join;        /* wte__join of each tensor */
    uint64_t dim;         /* the model's width; WTE_NOWHERE: not known */
    const char *dim_from; /* what says so */
} wte__parts;

/* "consolidated.07.pth" is number 7; false for every other name (of a file, without its folder). */
bool wte__parts_name(const char *name, uint64_t *number);
/* When the path's name is that of a part and others lie beside it: all of them as one file, and
 * *taken. */
wte_status wte__parts_read(wte_file *f, bool *taken, wte_error *err);

/* parts_join.c: what the tensors are, once all parts have been read and agree; *f gets them. dim is
 * what params.json says, or WTE_NOWHERE. */
wte_status wte__parts_join(wte_file *f, wte__parts *p, uint64_t dim, wte_error *err);
/* "[4, 8]", cut when it is long. */
#define WTE__SHAPE_TEXT 96
const char *wte__shape_text(const wte_file *f, const wte__entry *e, char out[WTE__SHAPE_TEXT]);
/* Why a matrix (a piece of which is given) cannot be joined: both readings and their shapes. */
wte_status wte__parts_refuse(const wte_file *f, const wte__parts *p, const wte__entry *piece,
                             wte_error *err);

/* parts_rows.c: rows of what was joined. */
extern const wte__maker wte__parts_maker;
#endif
