/* wte/model.h - a model on disk: its input table, output head, vocabulary, and whether they are
 * tied. */
#ifndef WTE_MODEL_H
#define WTE_MODEL_H
#include <wte/format.h>
#include <wte/head.h>
#include <wte/table.h>
#include <wte/vocab.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct wte_model wte_model;

typedef struct wte_model_options {
    size_t struct_size;
    const char *tensor;     /* name of the input table, or NULL = find it by role */
    const char *head;       /* name of the output head, or NULL = find it by role */
    uint32_t without_vocab; /* 1: do not open the tokenizer files (they can be large) */
    uint32_t copy;          /* as in wte_file_options */
    const wte_allocator *allocator;
    const wte_progress *progress; /* as in wte_file_options */
    /* Limits and the use of the cache, as for a file; NULL: as preset. Its copy, allocator and
     * progress are not looked at: those above count. */
    const wte_file_options *file;
    uint64_t max_vocab_bytes; /* max_bytes of wte_vocab_options */
} wte_model_options;
#define WTE_MODEL_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(wte_model_options), NULL, NULL, 0, 0, NULL, NULL, NULL, 0                           \
    }

typedef enum wte_role {
    WTE_ROLE_NONE = 0,
    WTE_ROLE_INPUT = 1, /* the token table */
    WTE_ROLE_HEAD = 2,  /* the output head */
    WTE_ROLE_OTHER = 3  /* looked like one, but is a position, type, patch, ... table */
} wte_role;

/** The part of an encoder-decoder model that a table belongs to. */
typedef enum wte_model_side {
    WTE_SIDE_NONE = 0,
    WTE_SIDE_ENCODER = 1,
    WTE_SIDE_DECODER = 2
} wte_model_side;

/** What a tensor is by its name; the first four are the roles. Values are ABI: append only. */
typedef enum wte_tensor_kind {
    WTE_KIND_NONE = 0,
    WTE_KIND_INPUT = 1,
    WTE_KIND_HEAD = 2,
    WTE_KIND_OTHER = 3,      /* beside the table, nothing more is known of it */
    WTE_KIND_POSITIONS = 4,  /* position table */
    WTE_KIND_HEAD_BIAS = 5,  /* one number for each row of the head */
    WTE_KIND_WEIGHTS = 6,    /* of a static model: one number for each token */
    WTE_KIND_PROJECT_IN = 7, /* the looked-up row goes through it */
    WTE_KIND_PROJECT_OUT = 8 /* the hidden vector goes through it before the head */
} wte_tensor_kind;

/** One tensor that was considered for a role. */
typedef struct wte_candidate {
    uint64_t tensor; /* index in the model's file */
    wte_role role;
    int32_t score;   /* higher is better; <= 0 is excluded */
    const char *why; /* the rule that decided, one line; lives as long as the model */
    wte_model_side side;
    wte_tensor_kind kind; /* by its name, also where its shape has decided otherwise */
} wte_candidate;

/** The table that plays a role. */
typedef struct wte_model_table {
    const char *name; /* tensor name ("demo" for the built-in table); a NUL in it as U+2400 */
    const char *why;  /* the rule that found it */
    wte_dtype dtype;
    uint64_t rows, dim; /* as the role sees it: rows = token ids it answers */
    uint64_t tensor;    /* index in wte_model_file, or WTE_NO_INDEX for the built-in table */
    uint64_t offset;    /* of row 0 in its file; WTE_NO_INDEX for the built-in table */
    uint64_t row_bytes; /* stride between rows in the file; 0 when rows are not contiguous there */
    uint32_t shard;     /* wte_file_shard_path */
    bool transposed;    /* stored dim x rows; the source turns it */
    bool mapped;        /* token id -> row goes through a `mapping` tensor: wte_model_row */
    wte_row_source source;
    wte_block_type block; /* NONE, or how rows are stored: they come out as f32 then */
    /** "gptq 4 bits, groups of 128": rows are made, as f32, of several tensors, of which `tensor`
     *  holds the packed codes; offset is where those begin, row_bytes 0. NULL for other tables. */
    const char *scheme;
    /** Of a table with a scheme: bytes of all that its rows are made of. 0 for other tables. */
    uint64_t scheme_bytes;
    uint32_t scheme_bits; /* of a code, as the scheme counts them. 0 for other tables */
} wte_model_table;

typedef enum wte_flag { WTE_FLAG_ABSENT = 0, WTE_FLAG_FALSE = 1, WTE_FLAG_TRUE = 2 } wte_flag;

/** What config.json says, or the metadata of a GGUF file, as far as the table is concerned. Texts
 * are "" and numbers 0 when absent.
 */
typedef struct wte_model_config {
    const char *path; /* of config.json, params.json, or a GGUF or llm.c file; "": none */
    const char *model_type;
    const char *text_model_type; /* of the nested text config */
    const char *architecture;    /* the first of `architectures` */
    uint64_t vocab_size, hidden_size, embedding_size;
    int64_t pad_token_id;         /* -1 when absent or null, here and below */
    wte_flag tie_top, tie_nested; /* the stored flags */
    const char *tie_nested_at;    /* where the nested one stands: "text_config", ... */
    bool tied;                    /* tie_word_embeddings as resolved */
    const char *tie_rule;         /* which rule decided, one line */
    bool tie_conflict;            /* nested and top level disagree */
    double factor;                /* what the model multiplies a looked-up row by; 1 = nothing */
    double factor_exact;          /* before it is rounded to the table's type */
    const char *factor_rule;      /* "gemma: sqrt(hidden_size), rounded to bf16", or "" */
    bool tie_decided; /* a stored flag or a known family decided `tied`; false: it is a guess */
    int64_t bos_token_id, eos_token_id; /* of several the largest */
} wte_model_config;

/** Open a file of tensors, a directory (config.json, index and shards or one file, tokenizer
 * files), or "demo" (the built-in 6 x 3 table of the worked example; a file of that name is
 * "./demo"). Succeeds also when no table is found, so that the tensors can be listed, and when the
 * vocabulary is broken (wte_model_vocab_problem). E_NOT_FOUND when `tensor` or `head` names none
 * (they may be cut at a dot from the left while they stay unique); E_FORMAT for a broken
 * config.json, and for a directory without weights or with several and no index. */
WTE_API WTE_MUST_CHECK wte_status wte_model_open(const char *path, const wte_model_options *opt,
                                                 wte_model **out, wte_error *err);
WTE_API void wte_model_free(wte_model *m); /* NULL is fine */
/** What a file is to the model in its folder, by its name: for programs that write files and must
 * not change a model by doing so. */
typedef enum wte_file_use {
    WTE_FILE_USE_NONE = 0,
    WTE_FILE_USE_SIDE = 1,    /* read next to the weights: config.json, vocab.txt, ... */
    WTE_FILE_USE_WEIGHTS = 2, /* can be taken for the weights: model.safetensors, x.gguf, ... */
    WTE_FILE_USE_ALONE = 3    /* the same where no such file is: x.npy, x.pt, x.vec, ... */
} wte_file_use;
WTE_API wte_file_use wte_model_file_use(const char *name); /* without a folder; NULL: NONE */

WTE_API const char *wte_model_path(const wte_model *m);
WTE_API const wte_file *wte_model_file(const wte_model *m);   /* NULL for "demo" */
WTE_API const wte_vocab *wte_model_vocab(const wte_model *m); /* NULL when there is none */
/** Why there is no vocabulary though a file was there: a message, or "" */
WTE_API const char *wte_model_vocab_problem(const wte_model *m);
/** What was taken where the path leads to several models (a snapshot of a hub's cache, a text
 * encoder of a pipeline), one line; "" when it is plain. */
WTE_API const char *wte_model_note(const wte_model *m);
WTE_API const wte_model_config *wte_model_config_of(const wte_model *m);
/** What an adapter (PEFT) has of the embedding; its input table, when it saves one, is found like
 * any other. Texts are "" and numbers 0 when absent. */
typedef struct wte_model_adapter {
    const char *path; /* of adapter_config.json, or "" */
    const char *kind; /* peft_type: "LORA", ... */
    const char *base; /* base_model_name_or_path */
    uint64_t rank;    /* r */
    uint64_t factors; /* tensors that are factors of low-rank changes, of whatever layer */
    bool lora_input, lora_head;     /* some of them are the embedding's, the head's */
    uint64_t lora_rank;             /* of the embedding's, as stored */
    uint64_t lora_rows, lora_dim;   /* the table that they change */
    uint64_t token_rows, token_dim; /* replacement rows of single tokens */
    const uint64_t *token_ids;      /* whose rows these are, as the config says */
    uint64_t n_token_ids;
    uint64_t lora_head_rank, lora_head_rows, lora_head_dim; /* as lora_rank, ..., of the head's */
    uint64_t head_token_rows, head_token_dim; /* replacement rows of single tokens of the head */
    const uint64_t *head_token_ids;
    uint64_t n_head_token_ids;
} wte_model_adapter;
/** NULL when the model is no adapter. */
WTE_API const wte_model_adapter *wte_model_adapter_of(const wte_model *m);
WTE_API uint64_t wte_model_n_candidates(const wte_model *m); /* sorted by role, then score */
WTE_API const wte_candidate *wte_model_candidate(const wte_model *m,
                                                 uint64_t i); /* NULL past end */
/** What the stored bytes of a candidate say. */
typedef struct wte_candidate_facts {
    uint64_t bytes, hash;  /* XXH3 of the stored bytes, 64 bits */
    uint64_t duplicate_of; /* the first candidate with the same bytes, type and shape; itself when
                              none is */
    bool same_storage;     /* with that one: two names of bytes that are stored once */
} wte_candidate_facts;
/** Compare candidate i with those before it. cost: reads it, and the others of its size. E_RANGE.
 */
WTE_API WTE_MUST_CHECK wte_status wte_model_candidate_facts(const wte_model *m, uint64_t i,
                                                            const wte_allocator *allocator,
                                                            wte_candidate_facts *out,
                                                            wte_error *err);
/** The input table, or E_NOT_FOUND naming the nearest candidates and --tensor. Borrows from m. */
WTE_API WTE_MUST_CHECK wte_status wte_model_input(const wte_model *m, const wte_model_table **out,
                                                  wte_error *err);
/** The stored output head; NULL when none is stored. Borrows from m. */
WTE_API const wte_model_table *wte_model_head(const wte_model *m);
/** Why there is no head though one is stored: a message (a scheme of quantised weights that is not
 *  read, parts that do not fit), or "". wte_model_tie then fails with it. */
WTE_API const char *wte_model_head_problem(const wte_model *m);
/** The stored row that a token id names: id itself, or mapping[id] in a vocabulary-quantised model.
 *  E_RANGE. */
WTE_API WTE_MUST_CHECK wte_status wte_model_row(const wte_model *m, uint64_t id, uint64_t *row,
                                                wte_error *err);

/** Index of the tensor of that name in wte_model_file: the whole name, or its end after a dot (and
 *  without ".weight") where no other tensor ends so. E_NOT_FOUND. */
WTE_API WTE_MUST_CHECK wte_status wte_model_find_tensor(const wte_model *m, const char *name,
                                                        uint64_t *out, wte_error *err);

/** What a model does around the product with its head, besides what comes before the hidden states
 *  that the head is given. Texts live as long as the model. */
typedef struct wte_model_output {
    wte_logit_transform chain; /* for wte_head_options */
    const char *why;     /* "gemma2: 30 * tanh(logits / 30)", steps in their order; "" = nothing */
    const char *unknown; /* "", or what the model does besides and wte/head.h does not */
    uint64_t bias;       /* the head's bias: a tensor of wte_model_file, or WTE_NO_INDEX */
    const char *bias_name;
    /** Rows of the head from which on no row has a token (padding of the table), as far as the
     *  vocabulary tells; 0 = all have one, or there is no vocabulary. */
    uint64_t n_valid;
    /** "", or why the bias cannot be told (several, or one of another length): `bias` is
     *  WTE_NO_INDEX then, and logits without it would be wrong. */
    const char *bias_problem;
    /** Of a draft head (fewer rows than there are tokens): the token of each row, as tensors like
     *  d2t and t2d say; NULL: row r is token r, or map_problem says why it cannot be told. */
    const int64_t *map;
    uint64_t n_map;
    const int64_t
        *map_stored;         /* the n_map numbers of d2t as they are stored; NULL: there is none */
    uint64_t map_tokens;     /* ids that can be its targets: 0 .. map_tokens - 1; 0 = unknown */
    const char *map_name;    /* "d2t", or "" */
    const char *map_why;     /* "d2t holds offsets: row r is token r + d2t[r]", or "" */
    const char *map_problem; /* "", or why there is no map though there is such a tensor */
    /** Where the table is narrower than the model: the looked-up row goes through project_in, and
     *  the hidden vector through project_out before the head: tensors of wte_model_file whose rows
     *  are products (y = W x), or WTE_NO_INDEX. */
    uint64_t project_in, project_out;
    const char *project_in_name, *project_out_name; /* or "" */
} wte_model_output;
WTE_API const wte_model_output *wte_model_output_of(const wte_model *m);
/** The id in the vocabulary of an id of the input table: itself, but where the input table is a
 *  draft head (options.tensor), the token that the row stands for. */
WTE_API uint64_t wte_model_token(const wte_model *m, uint64_t id);

/* Tied or not -----------------------------------------------------------------------------------
 */

typedef enum wte_tie_verdict {
    WTE_TIE_SAME_STORAGE = 1, /* one stored tensor serves both roles */
    WTE_TIE_EQUAL_BYTES = 2,  /* two copies of the same bytes */
    WTE_TIE_EQUAL_VALUES = 3, /* the same values in different types */
    WTE_TIE_INDEPENDENT = 4,  /* two tensors that differ */
    WTE_TIE_HEADLESS = 5,     /* no head, and the model has none to have */
    WTE_TIE_BROKEN = 6,       /* untied by its flag and class, but no head is stored */
    WTE_TIE_IMPOSSIBLE = 7    /* the flag says tied, but the shapes cannot be */
} wte_tie_verdict;

typedef struct wte_tie_options {
    size_t struct_size;
    wte_pool *pool;
    const wte_progress *progress; /* bytes */
    const wte_allocator *allocator;
} wte_tie_options;
#define WTE_TIE_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(wte_tie_options), NULL, NULL, NULL                                                  \
    }

typedef struct wte_tie {
    wte_tie_verdict verdict;
    bool tied;        /* same storage or equal bytes */
    bool flag_agrees; /* the resolved flag says what the bytes say (true when nothing to compare) */
    uint64_t input_rows, input_dim, head_rows, head_dim; /* head: 0 when none is stored */
    uint64_t params_tied, params_untied; /* of the two roles: V*d, and V*d + the head's */
    uint64_t wasted_bytes;               /* equal bytes / equal values: size of the second copy */
    uint64_t rows_different;             /* independent: of the rows both have */
    uint64_t first_different;            /* row; WTE_NO_INDEX when none */
    double max_difference; /* largest |input - head| where both are numbers; NaN: not comparable
                              (widths differ, types that do not convert) */
    uint64_t max_row, max_col;
    uint64_t n_nan;            /* elements that are NaN in one table alone */
    uint64_t nan_row, nan_col; /* the first of them */
    /* the experiment: one element of the input table is changed in a private copy-on-write view */
    bool experiment_ran; /* false: skip_reason says why */
    bool head_changed;   /* the head, read afterwards, showed the change */
    uint64_t experiment_row, experiment_col;
    double before, after;           /* the element of the input table */
    double head_before, head_after; /* the same element read through the head */
    char why[240];                  /* the verdict in one sentence, with its numbers */
    char skip_reason[120];
} wte_tie;

WTE_API const char *wte_tie_name(wte_tie_verdict v); /* "same storage", "equal bytes", ... */
/** Compare input table and output head: bytes first, numbers second, the flag last. Files are never
 *  written. cost: nothing to read when only one is stored, else one pass over both. */
WTE_API WTE_MUST_CHECK wte_status wte_model_tie(const wte_model *m, const wte_tie_options *opt,
                                                wte_tie *out, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
