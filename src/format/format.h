/* The catalogue of tensors behind wte_file, and what a format's reader is given.
 *
 * A million tensors must be cheap: an entry is 48 bytes, its dimensions lie in one shared array,
 * its name points into the header as it was read (decoded and NUL-terminated in place). */
#ifndef WTE_SRC_FORMAT_FORMAT_H
#define WTE_SRC_FORMAT_FORMAT_H
#include <wte/format.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/names.h"
#include "base/tokens.h"
#include "base/writer.h"

#define WTE__COLUMN_MAJOR 1u
#define WTE__BIG_ENDIAN   2u
#define WTE__HAS_STORAGE  4u /* dims hold the storage's number behind the shape */
#define WTE__STRIDED      8u /* and the strides, in elements, behind that */

typedef struct wte__tensor_entry {
    const wte_file *file; /* so that an entry alone can be the context of a row source */
    const char *name;
    uint64_t offset, bytes; /* in the part's file */
    uint32_t name_bytes;
    uint32_t shape_at; /* first dimension, in dims */
    uint16_t part;
    uint8_t dtype, rank, flags;
    uint8_t block; /* wte_block_type; dtype is none then */
} wte__tensor_entry;

/* Rows that are made by the format's own code from what is stored: text, packed records, sums,
 * pieces in several parts. */
#define WTE__MADE 16u
/* Of a type that is not read here; dtype and block are none. Safetensors: dims hold the place of
 * the type's name in the part's header behind the shape. */
#define WTE__FOREIGN 32u
typedef struct wte__maker {
    wte_status (*rows)(const wte__tensor_entry *e, wte_row_source *out, wte_error *err);
    /* Where the bytes lie that a row (< rows) is made of; NULL: in several places. */
    wte_status (*place)(const wte__tensor_entry *e, uint64_t row, uint64_t *offset, uint64_t *bytes,
                        wte_error *err);
    void (*release)(wte_file *f); /* frees f->made; also of a file that was not read to its end */
    /* Of tensors that lie in several parts: the part that a row (< rows) is in, and bytes (that are
     * there) as stored. NULL: all is in the entry's own part. */
    uint32_t (*part)(const wte__tensor_entry *e, uint64_t row);
    wte_status (*read)(const wte__tensor_entry *e, uint64_t at, void *out, uint64_t n,
                       wte_error *err);
} wte__maker;

typedef struct wte__part {
    wte__file file;
    char *path;
    char *header; /* the file's first bytes, as far as its header goes */
    size_t header_bytes;
    bool unpacked; /* a copy in memory (the header) of what is packed in the file of ... */
    uint32_t of;   /* ... this part; else the part's own number */
} wte__part;

typedef struct wte__pair {
    const char *key, *value;
} wte__pair;

struct wte_file {
    wte_allocator own; /* a copy of the caller's, so that the caller's may go */
    const wte_allocator *allocator;
    uint64_t max_header_bytes;               /* 0 = the format's own */
    uint64_t max_expansion, max_cache_bytes; /* 0 = the limits' */
    const wte_shard_callback *shards;        /* while it is opened */
    bool copy, memory, no_cache;
    const wte_progress *progress; /* while it is opened, else NULL */
    wte_text_options text_wish;   /* how a text table is to be read */
    wte_format format;
    char *path; /* as the caller gave it */
    wte__part *parts;
    size_t n_parts, parts_cap;
    char *text; /* of an index file; names point into it */
    size_t text_bytes;
    wte__tensor_entry *entries; /* first those that are listed, in order of data; then the strays */
    size_t n_entries, entries_cap, n_listed;
    uint64_t *dims;
    size_t n_dims, dims_cap;
    wte__pair *metadata;
    size_t n_metadata, metadata_cap;
    wte_storage *storages; /* `unpacked` is not set */
    size_t n_storages, storages_cap;
    wte__names names; /* of the listed ones */
    wte_token_list tokens;
    struct wte__gguf *gguf;  /* metadata of a GGUF file, else NULL */
    const wte__maker *maker; /* of entries that are WTE__MADE, or NULL */
    void *made;              /* what it works with */
    uint8_t *unpacked;       /* of a file packed by gzip: what the first part's file is */
    size_t unpacked_cap;
    uint64_t packed_bytes; /* size of the packed file, else 0 */
    /* What a training framework's checkpoint says of the model that it is a part of; 0 = nothing.
     */
    struct {
        uint64_t parts, dim, vocab;
        const char *by;
    } training;
    const char *lone_part; /* writer of parts under this name, where nothing says that it is all */
};

/* The start and the end of a file, for telling what it is. */
typedef struct wte__head {
    uint8_t bytes[4096];
    uint64_t n;    /* how many of them there are */
    uint64_t size; /* of the whole file */
    uint8_t tail[16];
    uint32_t n_tail;
    bool packed;           /* the file is what gzip held */
    const wte__file *file; /* to read further, or NULL */
} wte__head;

typedef enum wte__match {
    WTE__MATCH_NO,
    WTE__MATCH_PERHAPS, /* only when the start says nothing else */
    WTE__MATCH_YES
} wte__match;

/* Tells that `done` bytes of the first part are behind; E_CANCELLED when the caller wants no more.
 */
wte_status wte__file_report(const wte_file *f, uint64_t done, wte_error *err);
/* Opens the file of a part that another file names, or that is found beside it, `folder` being
 * where that one lies: E_FORMAT when it is a link that leads out of the folder and of its own
 * blobs. */
wte_status wte__part_open(wte__part *part, const char *folder, wte_error *err);
/* Adds a part; its file is closed and empty. NULL = out of memory. */
wte__part *wte__part_add(wte_file *f, const char *path);
/* Reads the first `bytes` bytes of a part into its header buffer, which gets one NUL more. */
wte_status wte__part_header(wte_file *f, wte__part *part, uint64_t bytes, wte_error *err);
/* Appends a tensor; `file` and `shape_at` are filled in here. `shape` goes on with what the flags
 * say: the storage's number, the strides. */
wte_status wte__entry_add(wte_file *f, const wte__tensor_entry *entry, const uint64_t *shape,
                          wte_error *err);
/* The one table of a file of word vectors: "vectors", rows made by f->maker. */
wte_status wte__vectors_add(wte_file *f, uint64_t rows, uint64_t dim, uint64_t first,
                            wte_error *err);
wte_status wte__metadata_add(wte_file *f, const char *key, const char *value, wte_error *err);
/* Adds n integers of a binary header as decimal text. The text is stored as the first part's
 * header, which must still be NULL. */
wte_status wte__metadata_integers(wte_file *f, const char *const *keys, const int64_t *values,
                                  size_t n, wte_error *err);
void wte__entry_strides(const wte__tensor_entry *e, uint64_t *stride);
/* Elements times bits of one; false when it overflows. A dimension of 0 makes it 0 whatever the
 * others are. */
bool wte__shape_bits(const uint64_t *shape, uint32_t rank, wte_dtype type, uint64_t *bits);
/* Stable, in place; scratch has room for all n. */
void wte__sort(void *base, size_t n, size_t size, int (*order)(const void *, const void *),
               void *scratch);
/* Rows are all dimensions but the last, of which only one may differ from 1. */
bool wte__entry_matrix(const wte__tensor_entry *e, uint64_t *rows, uint64_t *cols);
/* The whole of a row source over one tensor. */
void wte__entry_block_rows(const wte__tensor_entry *e,
                           wte_row_source *out); /* of blocks and of two dimensions */
/* Name of the type of a safetensors tensor that is WTE__FOREIGN, NUL-terminated; else NULL. */
const char *wte__entry_foreign_name(const wte__tensor_entry *e);
wte_status wte__entry_rows(const wte__tensor_entry *e, wte_row_source *out, wte_error *err);
/* Where a row (< rows->rows) lies in its part's file; E_UNSUPPORTED: in several places. */
wte_status wte__entry_place(const wte__tensor_entry *e, const wte_row_source *rows, uint64_t row,
                            uint64_t *offset, uint64_t *bytes, wte_error *err);
/* Up to three names close to a wanted one, as "; nearest: 'a', 'b'" or "". */
#define WTE__NEAREST_TEXT 256
const char *wte__nearest(const wte_file *f, const char *name, uint64_t bytes,
                         char out[WTE__NEAREST_TEXT]);

wte_status wte__head_read(const wte__file *file, const char *path, wte__head *head, wte_error *err);
bool wte__head_is_text(const wte__head *head);
/* Refuses what is recognised as no file of tensors (kinds.h), and names it; else WTE_OK. */
wte_status wte__foreign(const wte__head *head, const char *path, wte_error *err);
/* Refuses what nothing recognises. */
wte_status wte__unknown(const wte__head *head, const char *path, wte_error *err);
/* The same for a file that must be safetensors or PyTorch's, because an index says so; *kind is
 * which. Whatever else it is is named (a pointer to the shard, a web page, another format). */
wte_status wte__shard_kind(const wte__file *file, const char *path, wte_format *kind,
                           wte_error *err);

/* The formats. Readers append to f; what they leave behind on failure is freed with f. */
wte__match wte__safetensors_match(const wte__head *head);
wte_status wte__safetensors_read(wte_file *f, wte_error *err);
/* One file of several: the entries from f->n_entries on become those of `part`; names is filled
 * with their names. */
wte_status wte__safetensors_read_part(wte_file *f, uint32_t part, wte__names *names,
                                      wte_error *err);
wte__match wte__shards_match(const wte__head *head);
wte_status wte__shards_read(wte_file *f, wte_error *err);
wte__match wte__gguf_match(const wte__head *head);
wte_status wte__gguf_read(wte_file *f, wte_error *err);
void wte__gguf_free(wte_file *f);
const wte_error *wte__gguf_no_tokens(const wte_file *f); /* why its vocabulary is not taken */
wte__match wte__text_table_match(const wte__head *head);
wte_status wte__word_vectors_read(wte_file *f, wte_error *err); /* all text tables */
wte__match wte__word2vec_match(const wte__head *head);
wte_status wte__word2vec_read(wte_file *f, wte_error *err);
wte__match wte__fasttext_match(const wte__head *head);
wte_status wte__fasttext_read(wte_file *f, wte_error *err);
wte__match wte__npy_match(const wte__head *head);
wte_status wte__npy_read(wte_file *f, wte_error *err);
/* An array that is a piece of a part's file. */
typedef struct wte__npy_place {
    const char *path; /* what messages begin with */
    const char *name; /* of the tensor */
    uint64_t at, bytes;
    uint64_t where; /* of every fault, when it lies in no file; or WTE_NO_INDEX */
    uint32_t part, name_bytes;
} wte__npy_place;
wte_status wte__npy_read_at(wte_file *f, const wte__npy_place *place, wte_error *err);
/* A list of texts, each of as many units of 1 or 4 bytes, with NULs at its end. */
typedef struct wte__npy_texts {
    uint64_t count, at; /* count 0: it is no list of texts */
    uint32_t part, unit, chars;
    bool big;
} wte__npy_texts;
wte_status wte__npy_read_texts(wte_file *f, const wte__npy_place *place, wte__npy_texts *out,
                               wte_error *err);
/* Zip archives: which of our formats one is, is told by its directory. */
wte__match wte__zip_match(const wte__head *head);
wte_status wte__archive_read(wte_file *f, wte_error *err);
/* PyTorch checkpoints: told from the start alone unless they are zip archives. */
wte__match wte__torch_match(const wte__head *head);
wte_status wte__torch_read(wte_file *f, wte_error *err);
/* One of several, whichever form it has. */
wte_status wte__torch_read_part(wte_file *f, uint32_t part, wte__names *names, wte_error *err);
wte__match wte__llmc_match(const wte__head *head);
wte_status wte__llmc_read(wte_file *f, wte_error *err);
wte__match wte__llama2c_match(const wte__head *head);
wte_status wte__llama2c_read(wte_file *f, wte_error *err);
struct wte__zip;
wte_status wte__npz_read(wte_file *f, struct wte__zip *z, wte_error *err);

/* Writing: element bytes of this machine as little-endian bytes. */
static inline bool wte__host_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}
/* Size of the unit whose bytes are in order of significance: half an element when it is complex. */
static inline uint32_t wte__unit_bytes(wte_dtype type)
{
    return type == WTE_C64 ? 4 : wte_dtype_bytes(type);
}
/* Reverse the bytes of every unit. */
void wte__swap_units(void *data, uint64_t bytes, uint32_t unit);
/* Checks type, shape, data and rows of a tensor to write; *bytes gets its stored size. */
wte_status wte__tensor_out_check(const wte_tensor_out *t, const char *path, uint64_t *bytes,
                                 wte_error *err);
/* A safetensors file before its data: length and header, and the tensors in the order in which
 * their data follow. */
typedef struct wte__plan_item {
    const wte_tensor_out *out;
    uint64_t bytes;
    size_t number; /* of the caller */
} wte__plan_item;
typedef struct wte__plan {
    char *text;
    size_t n, cap; /* bytes of text; how much it could hold */
    wte__plan_item *items;
    size_t n_items;
    bool failed; /* out of memory: sticks */
} wte__plan;
wte_status wte__plan_make(wte__plan *plan, const char *path, const wte_tensor_out *tensors,
                          size_t n, const char *const (*metadata)[2], size_t n_metadata,
                          wte_error *err);
void wte__plan_free(wte__plan *plan); /* also after make failed */
/* Writes its data, in blocks. */
wte_status wte__tensor_out_write(wte__replace *to, const wte_tensor_out *t, uint64_t bytes,
                                 wte_error *err);
#endif
