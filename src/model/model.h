/* What an open model consists of, and the parts that fill it. Private to this room. */
#ifndef WTE_SRC_MODEL_MODEL_H
#define WTE_SRC_MODEL_MODEL_H
#include <wte/model.h>

#include "base/alloc.h"
#include "model/quant.h"

/* Whether the class that a config names has an output head. */
typedef enum wte__head_class {
    WTE__HEAD_UNKNOWN = 0, /* nothing says so either way */
    WTE__HEAD_NONE,        /* an encoder, an embedding model, a bare body */
    WTE__HEAD_EXPECTED
} wte__head_class;

/* The factor after lookup, as far as it can be known before the table is found (factor.c). */
typedef struct wte__embed_scale {
    const struct wte__embed_scale_rule *rule; /* NULL = none */
    double value;                             /* of a rule that reads a number */
} wte__embed_scale;

/* What the model does around its head, as its config says. */
typedef struct wte__logit_transform_said {
    wte_logit_transform chain;
    const char *why;     /* NULL: nothing */
    const char *unknown; /* what it does that is not made here, or NULL */
} wte__logit_transform_said;

/* config.json as read; `said` is what the public struct shows. */
typedef struct wte__config {
    wte_model_config said;
    wte__embed_scale factor;
    wte__logit_transform_said chain;
    wte__head_class head_class;
    const char *head_why; /* which rule decided head_class */
    const char *reads;    /* "sounds", "pictures": what the class reads; NULL: token ids */
} wte__config;

/* Ids that reach their row through a `mapping` tensor. */
typedef struct wte__mapping {
    uint32_t *row; /* row[id] < stored.rows */
    uint64_t count;
    wte_row_source stored;
} wte__mapping;

/* Elements from one row to the next, and from one column to the next, of a matrix as its role sees
 * it; as if tight where there is no next. */
typedef struct wte__steps {
    uint64_t row, col;
} wte__steps;
wte__steps wte__steps_of(const wte_tensor *t, bool transposed);

/* A matrix stored dim x rows: its rows are the columns of `stored`. */
typedef struct wte__turned {
    const wte_file *file;
    uint64_t tensor;
    uint64_t rows, dim; /* as seen turned */
    wte__steps steps;
    uint32_t element; /* bytes */
    uint32_t swap;    /* units of so many bytes are stored the other way round; 0: none are */
} wte__turned;

/* adapter.c: what an adapter is made of. */
typedef struct wte__adapter {
    wte_model_adapter said;
    uint64_t *ids[2]; /* said.token_ids, said.head_token_ids */
    size_t cap[2];
} wte__adapter;

struct wte_model {
    const wte_allocator *allocator;
    wte__arena arena; /* texts */
    const char *path;
    wte_table *demo;
    wte_file *file;
    wte_vocab *vocab;
    char vocab_problem[240];
    const char *note; /* what else the path could have stood for */
    wte__config config;
    bool sentence_model; /* sentence-transformers files stand beside the weights */
    bool is_adapter;
    wte__adapter adapter;
    wte_candidate *candidates;
    uint64_t n_candidates;
    bool has_input, has_head;
    bool named;               /* the caller named one of the two */
    bool head_serves_input;   /* only a head is stored, so the input role takes it too */
    bool decoder_serves_head; /* the input is the encoder's table, the head the decoder's */
    wte_model_table input, head;
    wte_error no_input; /* why has_input is false */
    wte_model_output output;
    int64_t *draft[2]; /* output.map, output.map_stored: output.n_map each, or NULL */
    wte_error no_head; /* why has_head is false though one is stored; status WTE_OK: none is */
    wte__quant_said said;
    wte__quant quant[2]; /* input, head; dim 0: not quantised */
    wte__mapping mapping;
    wte__turned turned[2]; /* input, head */
};

/* printf into the arena; NULL = out of memory. Cut at 511 bytes. */
__attribute__((format(printf, 2, 3))) const char *wte__arena_print(wte__arena *arena,
                                                                   const char *fmt, ...);

/* config.c: fill *out from the bytes of a config.json; texts go to the arena. */
wte_status wte__config_parse(wte__config *out, const void *data, uint64_t bytes, const char *path,
                             wte__arena *arena, wte_error *err);
/* gguf_config.c: the same from the metadata of a GGUF file. */
wte_status wte__config_gguf(wte__config *out, const wte_file *f, const char *path,
                            wte__arena *arena, wte_error *err);
/* chain.c: the chain around the head from such metadata. */
struct wte__gguf;
wte_status wte__logit_transform_gguf(wte__config *config, const struct wte__gguf *g,
                                     wte__arena *arena, wte_error *err);
/* The output of an open model, its tables found and its vocabulary read. */
wte_status wte__model_output_fill(wte_model *m, wte_error *err);
/* params_config.c: the same from a params.json, and from a checkpoint of llm.c. path must live as
 * long as the config. */
wte_status wte__config_params(wte__config *out, const void *data, uint64_t bytes, const char *path,
                              wte_error *err);
bool wte__config_is_params(const wte_model_config *said);
void wte__config_llmc(wte__config *out, const wte_file *f, const char *path);
void wte__config_llama2c(wte__config *out, const wte_file *f, const char *path);
/* As if there were no config.json. */
void wte__config_none(wte__config *out);
/* factor.c: work the factor out for a table of this type and width. */
wte_status wte__embed_scale_finish(wte__config *c, wte_dtype table, uint64_t dim, wte__arena *arena,
                                   wte_error *err);

/* adapter.c */
/* Fill *out, cleared by the caller, from the bytes of an adapter_config.json; texts go to the
 * arena. out->ids is the caller's also when this fails: wte__adapter_clear. */
wte_status wte__adapter_parse(wte__adapter *out, const void *data, uint64_t bytes, const char *path,
                              const wte_allocator *allocator, wte__arena *arena, wte_error *err);
void wte__adapter_clear(wte__adapter *a, const wte_allocator *allocator);
/* Whether the model's file is an adapter's, by its name or its tensors; if so read what is there of
 * it and of adapter_config.json in the folder `side`. */
wte_status wte__adapter_read(wte_model *m, const char *weights, const char *side, wte_error *err);
/* m->no_input of an adapter without a table; the head that it saves, or 0. */
void wte__adapter_tell(wte_model *m, uint64_t head_rows, uint64_t head_dim);

/* families.c */
typedef struct wte__family {
    const char *model_type;
    bool tied;                /* tie_word_embeddings when the key is absent: transformers 4.57 */
    bool tied_later;          /* the same in transformers 5.16 */
    wte__head_class has_head; /* when no class is named */
} wte__family;
const wte__family *wte__family_find(const char *model_type); /* NULL = not in the table */
/* Of a type that is not in the table: whether it is known to be a language model. */
bool wte__family_is_language_model(const char *model_type);
wte__head_class wte__class_has_head(const char *architecture);
/* What a class reads that takes no token ids: "sounds", "pictures"; NULL: it may take them. */
const char *wte__class_reads(const char *architecture, const char *model_type);

/* named.c: index of the tensor that a person named: whole, or by a unique ending. */
wte_status wte__find_named(const wte_file *file, const char *name, uint64_t *out, wte_error *err);

/* bias.c: the head's bias, once the tables are found. */
wte_status wte__bias_find(wte_model *m, wte_error *err);

/* project.c: the projections around a table that is narrower than the model. */
wte_status wte__project_find(wte_model *m, wte_error *err);

/* draft.c: which tokens the rows of a draft head are, once the tables are found. */
wte_status wte__draft_find(wte_model *m, wte_error *err);

/* find.c: candidates, and the two tables. opt names the overrides. */
wte_status wte__model_find(wte_model *m, const wte_model_options *opt, wte_error *err);

/* tie.c. Writers that may not store a tensor twice (safetensors' save_model) keep one name and put
 * the others into the metadata, as name dropped -> name kept. The name of that role which stands
 * for `kept`, or NULL. */
const char *wte__tie_alias(const wte_model *m, const char *kept, wte_role role);

/* view.c: fill *out for tensor i in a role (slot 0 = input, 1 = head). */
typedef struct wte__view_want {
    uint64_t tensor;
    bool transposed;
    uint64_t mapping; /* index of the mapping tensor, or WTE_NO_INDEX */
    const char *why;
} wte__view_want;
wte_status wte__model_view(wte_model *m, unsigned slot, const wte__view_want *want,
                           wte_model_table *out, wte_error *err);

/* compare.c: one pass over the rows and columns that both sources have. */
typedef struct wte__difference {
    uint64_t rows;  /* rows that differ */
    uint64_t first; /* WTE_NO_INDEX when none */
    double max;     /* of pairs of numbers; NaN when the types have no numbers to subtract */
    uint64_t max_row, max_col;
    uint64_t n_nan; /* pairs of which one alone is NaN */
    uint64_t nan_row, nan_col;
} wte__difference;
wte_status wte__rows_compare(const wte_row_source *a, const wte_row_source *b, uint64_t rows,
                             const wte_tie_options *opt, wte__difference *out, wte_error *err);

/* Whether the stored bytes of two tensors of one size are the same. */
wte_status wte__tensors_compare(const wte_file *f, uint64_t a, uint64_t b,
                                const wte_tie_options *opt, bool *equal, wte_error *err);

/* experiment.c: change one element in a private view, read the head. */
void wte__tie_experiment(const wte_model *m, wte_tie *out);
#endif
