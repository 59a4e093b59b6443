/* Tables that are stored as packed codes with scales beside them, under the names that quantising
 * tools give them: which tensors belong together, what a code stands for, and rows of f32 made of
 * them. Private to this room. docs/formats.md lists the schemes. */
#ifndef WTE_SRC_MODEL_QUANT_H
#define WTE_SRC_MODEL_QUANT_H
#include <wte/format.h>

#include "base/alloc.h"

/* What a config says of one module by its path, of several by a pattern ("re:...", "+:..."), or of
 * a class of them ("Linear", "Embedding"). */
typedef struct wte__quant_path {
    const char *name;
    uint64_t bits;
    int64_t group;
    const char *mode;
    struct wte__quant_path *next;
} wte__quant_path;

/* What config.json (quantization_config, quantization), quantize_config.json or quant_config.json
 * says. Texts are "" and numbers 0 when absent. */
typedef struct wte__quant_said {
    const char *at; /* path of the file; NULL = nothing is said */
    const char *method, *version, *format, *mode;
    uint64_t bits;
    int64_t group;          /* -1: one group for a whole row */
    uint32_t group_bits;    /* bit b: some of compressed-tensors' config_groups has weights of b */
    uint32_t rank;          /* of the key that it stood under: lower wins */
    wte__quant_path *paths; /* the last first */
    uint64_t hidden, embedding; /* widths by the config, filled by the caller; 0 = not said */
} wte__quant_said;

/* quant_config.c. whole: the object is not inside a config.json, but the file itself. */
wte_status wte__quant_said_parse(wte__quant_said *out, const void *data, uint64_t bytes,
                                 const char *path, bool whole, wte__arena *arena, wte_error *err);

/* One of the tensors that a table is made of, as a matrix. */
typedef struct wte__plane {
    uint64_t tensor, rows, cols, bytes;
    wte_dtype type; /* as it is to be read: e8m0 scales are stored as u8 */
    uint32_t element;
    const uint8_t *map; /* its first byte, or NULL */
    const char *name;
    uint64_t name_bytes;
    bool there;
} wte__plane;

/* How codes lie. A field is `bits` wide, the first in the lowest bits of its word. */
typedef enum wte__codes {
    CODES_ALONG_ROW,    /* rows of fields: one dense stream a row, or per_word fields a word */
    CODES_ALONG_COLUMN, /* gptq: the stream runs down a column of words, one column a row */
    CODES_ACROSS,       /* awq: a word holds one column of eight rows, in an order of its own */
    CODES_NIBBLES,      /* bitsandbytes: the flattened table, the high nibble first */
    CODES_SPLIT         /* hqq: a byte holds fields from parts of the table that are far apart */
} wte__codes;

typedef enum wte__zeros {
    ZEROS_NONE,
    ZEROS_PLAIN,     /* numbers of the shape of the scales, subtracted from the code */
    ZEROS_BIAS,      /* the same, but added to the product */
    ZEROS_STREAM,    /* gptq: group by group, one dense stream along the rows */
    ZEROS_ACROSS,    /* awq gemm: group by group, in the order of its codes */
    ZEROS_ALONG_ROW, /* awq gemv: row by row, one stream along the groups */
    ZEROS_DOWN       /* compressed-tensors: the stream runs down the rows, one column a group */
} wte__zeros;

#define WTE__QUANT_PARTS 8u

/* A table. value = (code[field] - zero) * scale * times, or code[field] * scale + zero. */
typedef struct wte__quant {
    const wte_file *file;
    const wte_allocator *allocator;
    const char *path;        /* of the model, for messages */
    uint64_t rows, dim;      /* dim 0: nothing is quantised here */
    uint64_t group, groups;  /* columns that share a scale; how many such groups a row has */
    uint32_t bits, per_word; /* per_word 0: a dense stream */
    wte__codes codes;
    wte__zeros zeros;
    bool scales_by_group; /* groups x rows, else rows (or 1) x groups */
    uint32_t zero_add;    /* what is added to a stored zero, modulo its field */
    float zero_offset;    /* what is then subtracted from it */
    float times, divide;  /* of the product; of each scale */
    float code[256];      /* what each field stands for */
    wte__plane packed, scale, zero;
    /* columns that are grouped in another order than they lie in: those of group g are
     * order[first[g]] .. order[first[g + 1] - 1]; NULL when in order */
    uint32_t *order, *first;
    /* flattened tables: scales of runs of `group`; or (nested) codes of scales */
    bool nested;
    uint64_t nested_group;
    float nested_offset, nested_code[256];
    wte__plane nested_scale;
    /* hqq: the table as split_rows x split_cols; part k of it in the bits from shift[k] on */
    uint64_t split_rows, split_cols, part_rows;
    uint32_t shift[10];
    bool scale_by_col;
    uint64_t part[WTE__QUANT_PARTS], stored_bytes; /* every tensor it is made of */
    uint32_t n_parts;
    char scheme[96];
} wte__quant;

/* quant.c. Look whether tensor i is the codes of a table; q->dim is 0 when it is not. E_UNSUPPORTED
 * "unsupported: NAME" for a scheme that is known and not read, and where the tensors fit two
 * readings and no config decides. After success release with wte__quant_clear. */
wte_status wte__quant_open(const wte_file *f, uint64_t tensor, const wte__quant_said *said,
                           const char *path, const wte_allocator *a, wte__quant *q, wte_error *err);
void wte__quant_clear(wte__quant *q);
/* Rows as f32; q must stay where it is. */
wte_row_source wte__quant_rows(wte__quant *q);

/* Of one table while it is opened. */
typedef struct wte__quant_find {
    wte__quant *q;
    const wte__quant_said *said;
    const wte_tensor *t;
    const wte__quant_path *own; /* what the config says of this module; NULL: nothing */
    bool table;                 /* by its name it is an input table or a head */
    const char *stem;           /* "lm_head" of "lm_head.qweight"; not ended by a NUL */
    size_t stem_bytes;
    wte_error *err;
} wte__quant_find;

/* Find the tensor stem + suffix; !out->there when there is none. E_FORMAT unless it is a matrix, a
 * list or a scalar, E_UNSUPPORTED unless it is stored in order. */
wte_status wte__quant_part(wte__quant_find *f, const char *suffix, wte__plane *out);
/* The same, E_FORMAT when it is not there. */
wte_status wte__quant_need(wte__quant_find *f, const char *suffix, wte__plane *out);
/* E_FORMAT "'a' has N rows, but by 'b' it must have M" unless n is m. */
wte_status wte__quant_same(wte__quant_find *f, const wte__plane *a, uint64_t n, const char *what,
                           const wte__plane *b, uint64_t m);
/* Always a failure: n of a and m of b, numbers that say nothing by themselves, do not go together.
 */
wte_status wte__quant_unfit(wte__quant_find *f, const wte__plane *a, uint64_t n, const char *what,
                            const wte__plane *b, uint64_t m);
/* E_FORMAT when a part has no elements, E_LIMIT when it is too large for its sizes to be
 * multiplied.
 */
wte_status wte__quant_filled(wte__quant_find *f, const wte__plane *part);
/* E_FORMAT unless a part is of numbers; of words of 32 bits. */
wte_status wte__quant_floats(wte__quant_find *f, const wte__plane *part);
wte_status wte__quant_words(wte__quant_find *f, const wte__plane *part);
/* E_UNSUPPORTED "PATH: 'TENSOR': WHY: unsupported: NAME" */
__attribute__((format(printf, 2, 3))) wte_status wte__quant_refuse(wte__quant_find *f,
                                                                   const char *fmt, ...);
/* E_UNSUPPORTED: the tensors fit several readings, and KEY of the config is missing. */
wte_status wte__quant_ambiguous(wte__quant_find *f, const char *key);
/* Add to the message of a failure which settings were taken, and an entry of the config that names
 * no module. Returns the status that it is given. */
wte_status wte__quant_told(wte__quant_find *f, wte_status status);
/* quant_paths.c: find f->own. E_UNSUPPORTED when two entries say different things of the module. */
wte_status wte__quant_own(wte__quant_find *f);
/* An entry of the config that is of no tensor of the file, the likeliest to have been meant for
 * this module; NULL: there is none. */
const wte__quant_path *wte__quant_unused(const wte__quant_find *f);
/* Whether a table of this role may be so wide by the config. */
bool wte__quant_fits_config(const wte__quant_find *f, uint64_t dim);
/* What the config says for this module: its own path, else the whole. */
uint64_t wte__quant_bits(const wte__quant_find *f);
int64_t wte__quant_group(const wte__quant_find *f);
const char *wte__quant_mode(const wte__quant_find *f);
/* Number i of a part of any numeric type. */
wte_status wte__quant_number(const wte__quant *q, const wte__plane *part, uint64_t i, double *out,
                             wte_error *err);
bool wte__quant_is(const char *a, const char *b); /* equal but for case */

/* Which size of groups puts `dim` columns into q->groups, by the config or because no other size in
 * use does; fills q->group. */
wte_status wte__quant_fit_group(wte__quant_find *f);
/* ", groups of 128" or ", one scale a row" at the end of q->scheme. */
void wte__quant_tell_groups(wte__quant *q);

/* quant_gptq.c, quant_packed.c, quant_flat.c: fill f->q */
wte_status wte__quant_qweight(wte__quant_find *f);           /* awq, gptq */
wte_status wte__quant_compressed(wte__quant_find *f);        /* compressed-tensors' weight_packed */
wte_status wte__quant_plain(wte__quant_find *f);             /* its weight with weight_scale */
wte_status wte__quant_mlx(wte__quant_find *f);               /* weight u32 with scales */
wte_status wte__quant_int8(wte__quant_find *f);              /* bitsandbytes' weight with SCB */
wte_status wte__quant_nibbles(wte__quant_find *f, bool nf4); /* its nf4 and fp4 */
wte_status wte__quant_split(wte__quant_find *f);             /* hqq */
/* Columns by their group; -1 everywhere = in order. */
wte_status wte__quant_order(wte__quant_find *f, const wte__plane *index);
/* The codes of the integers 0 .. 2^bits - 1 less `offset`; of the small floats. */
void wte__quant_integers(wte__quant *q, int offset);
wte_status wte__quant_small_floats(wte__quant *q, wte_dtype type, wte_error *err);

static inline uint64_t wte__ceil_div(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

/* A word of four bytes, the lowest first. */
static inline uint32_t wte__quant_word(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* quant_read.c: a piece of a part, as stored; at most 256 of its elements as f32. */
#define WTE__QUANT_AT_ONCE 256u
wte_status wte__quant_bytes(const wte__quant *q, const wte__plane *p, uint64_t at, void *out,
                            uint64_t n, wte_error *err);
wte_status wte__quant_read_floats(const wte__quant *q, const wte__plane *p, uint64_t first,
                                  size_t n, float *out, wte_error *err);
/* quant_flat.c: one row of a flattened table. */
wte_status wte__quant_flat_row(const wte__quant *q, uint64_t row, float *out, wte_error *err);
#endif
