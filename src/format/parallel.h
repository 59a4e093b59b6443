/* A model that was saved by several processes at once: consolidated.00.pth, consolidated.01.pth and
 * so on, mp_rank_00/, rank0.safetensors. Each part has all tensors, but of each matrix only its own
 * rows, or its own columns; lists are the same in all. How they are to be joined follows from the
 * width that the model is known to have, or from what the program that wrote them always does. */
#ifndef WTE_SRC_FORMAT_PARTS_H
#define WTE_SRC_FORMAT_PARTS_H
#include "base/limits.h"
#include "format/format.h"

typedef enum wte__join {
    WTE__JOIN_ALIKE,   /* a list, or a single number: every part has the whole of it */
    WTE__JOIN_ROWS,    /* the rows of the second part follow those of the first */
    WTE__JOIN_COLUMNS, /* each row goes on in the next part */
    WTE__JOIN_UNKNOWN  /* nothing tells: shown as all pieces, one after the other; has no rows */
} wte__join;

/* How a program names the parts that it writes. */
typedef struct wte__parallel_scheme {
    const char *pattern; /* '@': the part's number; '#': another one; '*' at the start: anything */
    const char *writer;
    uint32_t digits;  /* that the number has at least */
    bool in_folder;   /* it is the name of the folder that the part's file is in */
    bool safetensors; /* else PyTorch's */
    bool files;       /* a part is several files, which the '#' counts */
    bool refused;     /* named, but not read: pieces of any shape, which a list beside them tells */
    bool by_name;     /* tables of the vocabulary are always cut by rows */
} wte__parallel_scheme;

/* What the name of a part tells; places are those of the text that was given. */
typedef struct wte__parallel_name {
    const wte__parallel_scheme *scheme; /* NULL: it is not the name of a part */
    uint64_t number;
    size_t base;                   /* where the name begins in the path */
    size_t at, digits;             /* the number */
    size_t other_at, other_digits; /* what the last '#' stands for */
} wte__parallel_name;

/* What is said of a model in parts, by its config or by the parts; 0 = nothing. */
typedef struct wte__parallel_said {
    uint64_t parts, stages, dim, vocab;
    const char *by; /* what says so */
} wte__parallel_said;

/* What is behind the tensors of such a file (wte_file's `made`). */
typedef struct wte__parallel {
    uint32_t n;                /* how many parts */
    size_t n_tensors;          /* of each */
    wte__tensor_entry *pieces; /* n_tensors of the first part, then of the second, ... */
    size_t n_pieces, pieces_cap;
    uint8_t *join;        /* wte__join of each tensor */
    uint64_t dim;         /* the model's width; WTE_NO_INDEX: not known */
    const char *dim_from; /* what says so */
    const wte__parallel_scheme *scheme;
    wte__parallel_said said;
} wte__parallel;

/* Whether a name of n bytes is of a scheme; places are within the name. */
bool wte__parallel_match(const wte__parallel_scheme *s, const char *name, size_t n,
                         wte__parallel_name *out);
/* The same for all schemes whose names are of files, or of folders. */
bool wte__parallel_base(const char *name, bool folder, wte__parallel_name *out);
/* "x/consolidated.07.pth", "x/mp_rank_07/y.pt": number 7, whose digits are at a place in the path.
 */
bool wte__parallel_name_of(const char *path, wte__parallel_name *out);
/* The path of another part of the same model; false when it is too long. */
bool wte__parallel_path(const char *path, const wte__parallel_name *name, uint64_t number,
                        uint64_t file, char out[WTE_LIMIT_PATH]);
/* When the path's name is that of a part and others lie beside it: all of them as one file, and
 * *taken. */
wte_status wte__parallel_read(wte_file *f, bool *taken, wte_error *err);
/* E_FORMAT when a file that was read alone says that it is one part of several. */
/* The writer of parts under the file's name, when it is part 0 alone and nothing says how many
 * there are; else NULL. */
const char *wte__parallel_lone_part(const wte_file *f);
wte_status wte__parallel_alone(const wte_file *f, wte_error *err);
/* What params.json or config.json in a folder says; *said is not touched where there is none. */
wte_status wte__parallel_config(const wte_file *f, const char *dir, const char *name,
                                wte__parallel_said *said, wte_error *err);

/* parts_join.c: what the tensors are, once all parts have been read and agree; *f gets them. */
wte_status wte__parallel_join(wte_file *f, wte__parallel *p, wte_error *err);
/* parts_vocab.c: whether a name is that of a table of one row for each token; and how a piece is
 * joined where not the width alone tells it. */
bool wte__parallel_is_vocab(const wte__tensor_entry *e);
wte_status wte__parallel_join_named(const wte_file *f, const wte__parallel *p, size_t i,
                                    wte__join *join, wte_error *err);
/* "[4, 8]", cut when it is long. */
#define WTE__SHAPE_TEXT 96
const char *wte__shape_text(const wte_file *f, const wte__tensor_entry *e,
                            char out[WTE__SHAPE_TEXT]);
/* Why a matrix (a piece of which is given) cannot be joined: both readings and their shapes. */
wte_status wte__parallel_refuse(const wte_file *f, const wte__parallel *p,
                                const wte__tensor_entry *piece, wte_error *err);

/* parts_rows.c: rows of what was joined. */
extern const wte__maker wte__parallel_maker;
#endif
