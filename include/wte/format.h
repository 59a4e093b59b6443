/* wte/format.h - files of tensors: open, list, and reach their rows without reading the rest.
 *
 * A file that shrinks while it is mapped raises SIGBUS in whoever reads the map (as with every
 * mapped file), and shows zeros up to the end of its last page. Where that can happen, set `copy`
 * in the options (nothing is mapped then), or use read_rows of the row source;
 * wte_file_check_unchanged tells afterwards.
 */
#ifndef WTE_FORMAT_H
#define WTE_FORMAT_H
#include <wte/block.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct wte_file wte_file;

typedef enum wte_format {
    WTE_FORMAT_UNKNOWN = 0,
    WTE_FORMAT_SAFETENSORS = 1,
    WTE_FORMAT_SAFETENSORS_INDEX = 2, /* model.safetensors.index.json and its shards, as one file */
    WTE_FORMAT_NPY = 3,
    WTE_FORMAT_GGUF = 4, /* one file, or all that split.count names */
    WTE_FORMAT_NPZ = 10,
    WTE_FORMAT_TORCH = 11,          /* .pt, .pth, .bin, .ckpt: zip, the form before 1.6, or tar */
    WTE_FORMAT_TORCH_INDEX = 12,    /* pytorch_model.bin.index.json and its shards, as one file */
    WTE_FORMAT_TORCH_PARALLEL = 13, /* consolidated.00.pth and all that follow, joined */
    WTE_FORMAT_SAFETENSORS_PARALLEL = 5, /* rank0.safetensors and all that follow, joined */
    WTE_FORMAT_WORD2VEC_TEXT = 20,       /* "rows dim", then a word and its numbers a line */
    WTE_FORMAT_GLOVE = 21,               /* the same without the first line */
    WTE_FORMAT_CSV = 22,        /* numbers between commas or tabs, perhaps tokens before them */
    WTE_FORMAT_WORD2VEC = 23,   /* "rows dim", then a word and its numbers in binary */
    WTE_FORMAT_FASTTEXT = 24,   /* its own .bin, or .ftz: "vectors", "input", "output" */
    WTE_FORMAT_TSV = 25,        /* as CSV, with tabs between columns */
    WTE_FORMAT_TEXT_TABLE = 26, /* other text tables: numbers between blanks, lists in brackets */
    WTE_FORMAT_LLMC = 30,       /* a checkpoint of llm.c */
    WTE_FORMAT_LLAMA2C = 31     /* a checkpoint of llama2.c, f32 */
} wte_format;

/** Which column of a text table names its rows. */
typedef enum wte_text_keys {
    WTE_TEXT_KEYS_AUTO = 0,  /* decided by the evidence; refused when two readings are alike */
    WTE_TEXT_KEYS_NONE = 1,  /* rows have no keys */
    WTE_TEXT_KEYS_FIRST = 2, /* the first column */
    WTE_TEXT_KEYS_WORDS = 3  /* a first column of words, as AUTO; columns of numbers are all read */
} wte_text_keys;

/** How a text table is to be read, where the evidence in it is not enough or wrong. Ignored by
 * other formats. */
typedef struct wte_text_options {
    size_t struct_size;
    uint32_t keys;     /* wte_text_keys */
    uint32_t has_skip; /* 1: `skip` lines come before the first row, whatever they hold */
    uint64_t skip;
    uint64_t first_column, last_column; /* columns of the numbers, from 1; 0: decided, the last */
} wte_text_options;
#define WTE_TEXT_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_text_options), 0, 0, 0, 0, 0                                                    \
    }

/** What is wrong with one shard, or one tensor, of an index. Texts live as long as the call. */
typedef enum wte_shard_fault_kind {
    WTE_SHARD_MISSING = 1, /* a shard is not there: `tensors` of the index should be in it */
    WTE_SHARD_BROKEN = 2,  /* a shard cannot be read: `problem` says why */
    WTE_SHARD_OTHER = 3,   /* a tensor lies in the shard `other` instead */
    WTE_SHARD_NONE = 4,    /* a tensor lies in no shard, though all were looked at */
    WTE_SHARD_TWICE = 5,   /* a tensor lies in the shard `other` too */
    WTE_SHARD_STRAY = 6    /* a tensor in `other` that the index does not list */
} wte_shard_fault_kind;
typedef struct wte_shard_fault {
    wte_shard_fault_kind kind;
    const char *tensor; /* the first one, of a shard */
    uint64_t tensor_bytes, tensors;
    const char *shard, *other, *problem; /* "" where there is none */
} wte_shard_fault;
typedef struct wte_shard_callback {
    void (*fault)(void *ctx, const wte_shard_fault *fault);
    void *ctx;
} wte_shard_callback;

typedef struct wte_file_options {
    size_t struct_size;
    uint32_t copy;     /* 1: read tensors with pread or into memory, never map */
    uint32_t no_cache; /* 1: neither look for an index of a text in the cache folder nor keep one */
    uint64_t max_header_bytes; /* 0 = the format's own limit (safetensors, GGUF 100,000,000) */
    const wte_allocator *allocator;
    const wte_progress *progress; /* while a file is unpacked or its rows are looked for: bytes */
    /* How many times the size of a packed file what it is unpacked to may take in memory; 0 = 64,
     * or 32 MiB where that is more, and never more than 4 GiB. */
    uint64_t max_expansion;
    uint64_t max_cache_bytes;     /* of all indexes in the cache folder; 0 = 1 GiB */
    const wte_text_options *text; /* of a text table; copied. NULL = decided by its content */
    /* NULL, or told every fault of an index that does not hold together before the call fails with
     * the first of them (E_ARGUMENT: without a function). */
    const wte_shard_callback *shards;
} wte_file_options;
#define WTE_FILE_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_file_options), 0, 0, 0, NULL, NULL, 0, 0, NULL, NULL                            \
    }

#define WTE_MAX_RANK 16
typedef struct wte_tensor {
    const char *name; /* lives as long as the file; UTF-8; may hold a NUL: see name_bytes */
    uint64_t name_bytes;
    wte_dtype dtype; /* NONE when it is stored in blocks */
    uint32_t rank;   /* 0 = scalar */
    uint64_t shape[WTE_MAX_RANK];
    uint64_t bytes;       /* stored size */
    uint64_t offset;      /* of the first byte, from the start of its part's file */
    uint32_t shard;       /* which file of several: wte_file_shard_path */
    bool column_major;    /* stored column by column (Fortran order) */
    bool big_endian;      /* elements are stored with the most significant byte first */
    wte_block_type block; /* NONE, or the blocks that each row is made of: wte_type_name */
    bool derived;         /* rows are made of what is stored (text, records, sums, pieces) */
    bool strided;      /* elements lie apart, at `stride`; bytes reach from the first to the last */
    bool decompressed; /* its part is a copy in memory of what is packed in the file */
    uint64_t
        storage; /* tensors of the same one may share bytes: wte_file_storage; or WTE_NO_INDEX */
    uint64_t stride[WTE_MAX_RANK]; /* between neighbours of each dimension, in elements */
    /* GGUF: the number of a type that is not read here; dtype and block are none, and its rows are
     * E_UNSUPPORTED. `bytes` is what lies up to the next tensor. Else 0. */
    uint32_t foreign_type;
    /* safetensors: the name of such a type, up to 32 characters of ASCII; else NULL */
    const char *foreign_name;
} wte_tensor;

/** Open and validate a file of tensors. The one tensor of an .npy file is called "array". What it
 * is is told from its content, not its name; files that are something else (a Git LFS pointer, a
 * web page, JSON text, another zip or pickle, gzip, empty, truncated) are named in the message with
 * E_FORMAT or E_UNSUPPORTED. err->where is the byte offset of the fault. Cost: the header alone is
 * read. */
WTE_API WTE_MUST_CHECK wte_status wte_file_open(const char *path, const wte_file_options *opt,
                                                wte_file **out, wte_error *err);
/** The same over bytes in memory, which must outlive the handle; name is used in messages. */
WTE_API WTE_MUST_CHECK wte_status wte_file_open_memory(const void *data, uint64_t bytes,
                                                       const char *name,
                                                       const wte_file_options *opt, wte_file **out,
                                                       wte_error *err);
WTE_API void wte_file_free(wte_file *f); /* NULL is fine */

WTE_API wte_format wte_file_format(const wte_file *f);
WTE_API const char *wte_format_name(wte_format format); /* "safetensors", "npy", ... */
WTE_API uint64_t wte_file_n_tensors(const wte_file *f); /* how many, in order of their data */
/** Tensor number i; E_RANGE. *out borrows from f. */
WTE_API WTE_MUST_CHECK wte_status wte_file_tensor(const wte_file *f, uint64_t i, wte_tensor *out,
                                                  wte_error *err);
/** Index of the tensor of that name; E_NOT_FOUND (the message offers the nearest names). */
WTE_API WTE_MUST_CHECK wte_status wte_file_find(const wte_file *f, const char *name,
                                                uint64_t name_bytes, uint64_t *i, wte_error *err);
/** Tensor i as rows: a 2-D tensor row by row; leading or inner dimensions of size 1 are skipped;
 *  a 1-D tensor of n elements is n rows of 1 (one row of n when it is stored in blocks). E_SHAPE
 *  otherwise; E_UNSUPPORTED when an element is not whole bytes. Blocks come out decoded, as f32.
 * Column-major and big-endian tensors come out as rows in this machine's order through read_rows.
 * Borrows from f. */
WTE_API WTE_MUST_CHECK wte_status wte_file_row_source(const wte_file *f, uint64_t i,
                                                      wte_row_source *out, wte_error *err);
/** Where in the file of its part the bytes of one row lie: the row itself, or (`made`) what it is
 * made of. E_RANGE; E_UNSUPPORTED when they lie in several places. */
WTE_API WTE_MUST_CHECK wte_status wte_file_row_offset(const wte_file *f, uint64_t i, uint64_t row,
                                                      uint64_t *offset, uint64_t *bytes,
                                                      wte_error *err);
/** The part that a row of tensor i lies in: the tensor's own, but where its rows are spread over
 * several parts (WTE_FORMAT_TORCH_PARALLEL). Of a row that there is not, or a piece of which lies
 * in each part, it is the tensor's too. */
WTE_API uint32_t wte_file_row_shard(const wte_file *f, uint64_t i, uint64_t row);
/** Copy `n` bytes of tensor i from byte `at` of it, as stored. E_RANGE. */
WTE_API WTE_MUST_CHECK wte_status wte_file_read(const wte_file *f, uint64_t i, uint64_t at,
                                                void *out, uint64_t n, wte_error *err);

/** The tokens that the file itself lists, one for each row of its table. E_NOT_FOUND when it lists
 * none; E_FORMAT when its list is broken, though its tensors are not, and E_LIMIT when it is too
 * long. Borrows from f. */
WTE_API WTE_MUST_CHECK wte_status wte_file_tokens(const wte_file *f, const wte_token_list **out,
                                                  wte_error *err);

/** How a text table was read. */
typedef struct wte_text_reading {
    char separator; /* ' ' (runs of spaces and tabs), '\t', ',', ';', '|', or '[': a list in
                     * brackets on each line */
    bool decimal_comma;
    bool counted;        /* a first line states the numbers of rows and columns */
    bool titled;         /* a line before the rows names the columns */
    bool plain;          /* words before numbers, or as the first line states: nothing to report */
    uint64_t first_line; /* of row 0, from 1 */
    uint64_t key_column; /* from 1; 0: rows have no keys */
    uint64_t first_column; /* of the numbers, from 1 */
    uint64_t dim;
    uint64_t lines_seen; /* lines counted where columns of numbers had to be judged; else 0 */
    const char *what;    /* all of this in one line of words; lives as long as the file */
    const char *why;     /* the evidence that decided, one line */
} wte_text_reading;
/** E_UNSUPPORTED for other formats. */
WTE_API WTE_MUST_CHECK wte_status wte_file_text_reading(const wte_file *f, wte_text_reading *out,
                                                        wte_error *err);

/** What fastText's own files (.bin, .ftz) say of how vectors are made of n-grams. */
typedef struct wte_fasttext_info {
    uint64_t words;
    uint64_t min_n, max_n; /* characters of n-grams; max_n 0: there are none */
    uint64_t buckets;      /* rows of "input" behind those of words, unless it is pruned */
    bool pruned;           /* only some n-grams have kept a row */
    bool supervised, cbow; /* neither: skip-gram */
    bool tree;             /* hierarchical softmax: "output" has inner nodes of its tree */
} wte_fasttext_info;
/** E_UNSUPPORTED for files of other formats. */
WTE_API WTE_MUST_CHECK wte_status wte_file_fasttext(const wte_file *f, wte_fasttext_info *out,
                                                    wte_error *err);
/** The vector that such a file gives a word without a row of its own: the mean of the rows of its
 *  n-grams, zeros when it has none, as fastText does. Words with a row are rows of "vectors".
 *
 *  word  any bytes, not decoded; may be NULL when bytes is 0
 *  out   as many f32 as "vectors" has columns
 *  cost  a small read for each n-gram */
WTE_API WTE_MUST_CHECK wte_status wte_fasttext_oov_vector(const wte_file *f, const char *word,
                                                          uint64_t bytes, float *out,
                                                          wte_error *err);

/** Strays: tensors in the files of a sharded model that its index does not list, or lists in
 * another file. They are no part of the model: not counted, not found by name, but to be looked at.
 */
WTE_API uint64_t wte_file_n_unlisted_tensors(const wte_file *f);
WTE_API WTE_MUST_CHECK wte_status wte_file_unlisted_tensor(const wte_file *f, uint64_t i,
                                                           wte_tensor *out, wte_error *err);

/** Storages: what the tensors of a PyTorch checkpoint are views of. Each is stored whole, however
 * little of it they reach. Only those are listed that a tensor or a stray is a view of. */
typedef struct wte_storage {
    const char *name; /* its key in the checkpoint; as name and name_bytes of a tensor */
    uint64_t name_bytes;
    uint64_t offset, bytes; /* in the file of its part */
    uint32_t shard;
    bool decompressed; /* as that of its tensors */
} wte_storage;
WTE_API uint64_t wte_file_n_storages(const wte_file *f);
/** Storage number i, which tensors give; E_RANGE. *out borrows from f. */
WTE_API WTE_MUST_CHECK wte_status wte_file_storage(const wte_file *f, uint64_t i, wte_storage *out,
                                                   wte_error *err);

/** Where the bytes of the files go. */
typedef struct wte_disk_usage {
    uint64_t stored;     /* of all files */
    uint64_t used;       /* by elements of tensors and strays, every byte once */
    uint64_t strays;     /* of these: by strays */
    uint64_t sliced;     /* of storages, where no tensor reaches */
    uint64_t duplicate;  /* of tensors that repeat an earlier one elsewhere (see same_as) */
    uint64_t duplicates; /* how many tensors do */
} wte_disk_usage;
/** Account for the bytes of the files.
 *
 *  storage_used  for each storage, how many of its bytes tensors use; or NULL. Where tensors lie
 *                in it with gaps it is the smaller of what they span and what their elements take
 *  same_as       for each tensor the first one of the same type, shape and bytes that lies
 *                elsewhere, or WTE_NO_INDEX; NULL: tensors are not compared
 *  progress      tensors compared; may be NULL. E_CANCELLED
 *  cost          with same_as, 12 KiB of each tensor of which another has type and shape, and all
 *                of those that agree so far; else nothing is read */
WTE_API WTE_MUST_CHECK wte_status wte_file_disk_usage(const wte_file *f, uint64_t *storage_used,
                                                      uint64_t *same_as,
                                                      const wte_progress *progress,
                                                      wte_disk_usage *out, wte_error *err);

/** Number of places that tensors are in: shards of an index (not itself), parts of a model, or one
 *  file; and, after these, memory that holds what was unpacked from one of them
 * (wte_file_shard_of).
 */
WTE_API uint32_t wte_file_n_shards(const wte_file *f);
/** The part in whose file the bytes of a part are: itself, or for unpacked memory the part that was
 *  unpacked. So files are the parts with wte_file_shard_of(f, i) == i. */
WTE_API uint32_t wte_file_shard_of(const wte_file *f, uint32_t part);
WTE_API const char *wte_file_shard_path(const wte_file *f, uint32_t part);
WTE_API uint64_t wte_file_shard_bytes(const wte_file *f, uint32_t part); /* size of that file */
/** Entry i of the free-text metadata (safetensors __metadata__, of one shard after the other); NULL
 *  past the last. */
WTE_API const char *wte_file_metadata(const wte_file *f, uint64_t i, const char **value);

/** Whether the files are what they were when they were opened: E_FORMAT when one has become shorter
 *  or was written to since. A mapped file that is cut shows zeros up to the end of its last page,
 *  without a signal, so call it when the work on a file is done that others may change.
 *  cost  an fstat for each file */
WTE_API WTE_MUST_CHECK wte_status wte_file_check_unchanged(const wte_file *f, wte_error *err);

/* Writing ------------------------------------------------------------------------------------- */

/** One tensor to write; data tight, row major, this machine's order; rows may stand in for data. */
typedef struct wte_tensor_out {
    const char *name;
    wte_dtype dtype;
    uint32_t rank;
    const uint64_t *shape;
    const void *data;           /* or NULL with */
    const wte_row_source *rows; /* a row source of the same type and product */
} wte_tensor_out;

/** Write a safetensors file: beside the target, synced, then renamed over it; on any failure the
 * old file stays as it was. Tensors are ordered and padded as the reference writer does (dtype
 *  descending, then name), so equal content gives equal bytes.
 *  metadata  n_metadata pairs (key, value), or NULL; E_ARGUMENT for duplicate names */
WTE_API WTE_MUST_CHECK wte_status wte_safetensors_write(const char *path,
                                                        const wte_tensor_out *tensors, size_t n,
                                                        const char *const (*metadata)[2],
                                                        size_t n_metadata, wte_error *err);
/** The same into a writer that has just been made; the caller commits it. */
WTE_API WTE_MUST_CHECK wte_status wte_safetensors_write_to(wte_writer *to,
                                                           const wte_tensor_out *tensors, size_t n,
                                                           const char *const (*metadata)[2],
                                                           size_t n_metadata, wte_error *err);
typedef struct wte_gguf_options {
    size_t struct_size;
    const char *architecture;  /* general.architecture, 1 to 64 bytes; needed */
    const char *name;          /* general.name, or NULL */
    uint32_t alignment;        /* a power of two from 8 to 1 MiB; 0 = 32 */
    uint32_t reserved;         /* 0 */
    uint64_t embedding_length; /* <architecture>.embedding_length; 0 = not written */
    uint64_t vocab_size;       /* <architecture>.vocab_size; 0 = not written */
    const char *tokenizer;     /* tokenizer.ggml.model: "gpt2", "llama", "bert", ...; with tokens */
    uint64_t n_tokens;
    /** The text of token id as its vocabulary spells it (of "bert" with "##"), *bytes long, and its
     *  kind: 1 normal (as preset), 2 unknown, 3 control, 4 added, 5 unused, 6 byte. NULL for an id
     *  without a token: "[PAD7]", unused. Called more than once for each. */
    const char *(*token)(void *ctx, uint64_t id, uint64_t *bytes, uint32_t *kind);
    void *token_ctx;
    const char *const (*metadata)[2]; /* more pairs, of texts */
    size_t n_metadata;
} wte_gguf_options;
#define WTE_GGUF_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_gguf_options), NULL, NULL, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, 0             \
    }
/** Write a GGUF file of version 3: beside the target, synced, then renamed over it; on any failure
 *  the old file stays as it was. Tensors keep their order; names have at most 63 bytes, shapes at
 *  most 4 dimensions. f32, f16, bf16, f64 and signed integers are written as they are.
 *  blocks   how each of the n tensors is to be written: NONE, or Q8_0 for f32 data whose rows are
 *           multiples of 32 (E_SHAPE otherwise: no other type is taken in its place); NULL = NONE
 *  returns  E_UNSUPPORTED for other types, and for a number that q8_0 cannot hold (its row and
 *           column are in the message); E_ARGUMENT for duplicate names and keys */
WTE_API WTE_MUST_CHECK wte_status wte_gguf_write(const char *path, const wte_tensor_out *tensors,
                                                 const wte_block_type *blocks, size_t n,
                                                 const wte_gguf_options *opt, wte_error *err);
/** Write an .npy file (version 1.0, which is enough for 16 dimensions) as NumPy writes it; bf16 and
 *  the f8, f6 and f4 types are refused (E_UNSUPPORTED: NumPy has no code for them). */
WTE_API WTE_MUST_CHECK wte_status wte_npy_write(const char *path, const wte_tensor_out *tensor,
                                                wte_error *err);
/** The header of such a file alone, for writing to a pipe: fills buf (cap >= 128 + 32 * rank,
 *  else E_ARGUMENT), *n gets its length. The data follow, little-endian. */
WTE_API WTE_MUST_CHECK wte_status wte_npy_header(wte_dtype dtype, const uint64_t *shape,
                                                 uint32_t rank, char *buf, size_t cap, size_t *n,
                                                 wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
