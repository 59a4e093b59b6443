/* Inside of a GGUF file: its metadata, which the rest of the library reads by type only, and what
 * the parts of the reader share.
 *
 * The header is read once and stays in memory; a pair knows where its value lies in it. An accessor
 * says what type it wants and gets that or an error, so that no array can be read by another
 * element's size. */
#ifndef WTE_SRC_FORMAT_GGUF_H
#define WTE_SRC_FORMAT_GGUF_H
#include "base/error.h"
#include "base/tokens.h"
#include "format/format.h"

/* The format's own numbers. */
typedef enum wte__gguf_type {
    WTE__GGUF_U8,
    WTE__GGUF_I8,
    WTE__GGUF_U16,
    WTE__GGUF_I16,
    WTE__GGUF_U32,
    WTE__GGUF_I32,
    WTE__GGUF_F32,
    WTE__GGUF_BOOL,
    WTE__GGUF_STRING,
    WTE__GGUF_ARRAY,
    WTE__GGUF_U64,
    WTE__GGUF_I64,
    WTE__GGUF_F64,
    WTE__GGUF_N_TYPES
} wte__gguf_type;

/* Whether a key comes again. ggml refuses the file, other readers take the first value or the last
 * one: here a key with two values is refused by who asks for it. */
typedef enum wte__gguf_again { WTE__GGUF_ONCE, WTE__GGUF_SAME, WTE__GGUF_OTHER } wte__gguf_again;

typedef struct wte__gguf_pair {
    uint64_t key_at; /* of the key's text in the file */
    uint64_t at;     /* of the value: a number, a text, the elements of an array */
    uint64_t count;  /* bytes of a text, elements of an array, else 1 */
    uint64_t bytes;  /* of the value */
    uint32_t key_bytes;
    uint8_t type, element; /* wte__gguf_type; element: of an array */
    uint8_t again;         /* wte__gguf_again: of a key's first pair */
} wte__gguf_pair;

typedef struct wte__gguf {
    wte__gguf_pair *pairs; /* in the order of the file */
    size_t n, cap;
    const char *path;      /* of the file */
    const uint8_t *header; /* its first bytes, once all of the header is there */
    bool big;              /* numbers are stored with the most significant byte first */
    wte__names keys;       /* key -> number of its pair */
    wte__arena texts;      /* of numbers, for wte_file_metadata */
    wte_error
        no_tokens; /* why the vocabulary is not taken; its status 0: it is, or there is none */
} wte__gguf;

/* Reading one file of one or several. */
typedef struct wte__gguf_reader {
    wte_file *f;
    uint32_t part;
    wte__gguf *gguf;     /* where pairs go */
    uint64_t at, loaded; /* next byte; how many of the file's first bytes are in memory */
    uint64_t n_pairs, n_tensors;
    uint64_t alignment;
    uint64_t tensors_at; /* of the first tensor's entry */
    size_t first;        /* of its tensors among the entries */
    bool big;
    char what[WTE__NAME_SHOWN + 32]; /* is being read, for messages */
    wte_error *err;
} wte__gguf_reader;

/* gguf.c: bytes, numbers and texts at r->at, which moves on; they are in memory afterwards. */
wte_status wte__gguf_need(wte__gguf_reader *r, uint64_t n);
wte_status wte__gguf_take_u32(wte__gguf_reader *r, uint32_t *out);
wte_status wte__gguf_take_u64(wte__gguf_reader *r, uint64_t *out);
wte_status wte__gguf_take_text(wte__gguf_reader *r, uint64_t *at, uint64_t *bytes);
/* The name just read is UTF-8, and what messages speak of from now on. */
wte_status wte__gguf_check_name(wte__gguf_reader *r, const char *kind, uint64_t at, uint64_t bytes);
const uint8_t *wte__gguf_bytes(const wte__gguf_reader *r, uint64_t at);
uint64_t wte__gguf_load(const uint8_t *p, uint32_t bytes, bool big); /* an unsigned number */
/* One file whole: its pairs go to `gguf`, its tensors behind f's entries. */
wte_status wte__gguf_read_part(wte_file *f, uint32_t part, wte__gguf *gguf, wte_error *err);
void wte__gguf_init(wte__gguf *gguf, const wte_allocator *a);
void wte__gguf_clear(wte__gguf *gguf);

/* gguf_tensors.c: the entries of the tensors, from r->at on. */
wte_status wte__gguf_read_tensors(wte__gguf_reader *r);

/* Of a tensor that is WTE__FOREIGN: the number of its type (0 of others), and why it is not read.
 */
uint32_t wte__gguf_foreign_type(const wte__tensor_entry *e);
wte_status wte__gguf_refuse_type(const wte__tensor_entry *e, wte_error *err);

bool wte__gguf_id_of(wte_dtype type, uint32_t *id); /* of a type without blocks */

/* gguf_split.c: joins the files that split.count names, when there are more than one. */
wte_status wte__gguf_read_splits(wte_file *f, wte_error *err);

/* gguf_values.c: the metadata by type. *found is false when there is no such key; a value of
 * another type is E_FORMAT at its byte. */
const wte__gguf *wte__file_gguf(const wte_file *f); /* of the first file; NULL: no GGUF */
const char *wte__gguf_type_name(uint32_t type);     /* NULL for no type */
uint32_t wte__gguf_type_bytes(uint32_t type);       /* 0 for texts and arrays */
const wte__gguf_pair *wte__gguf_find(const wte__gguf *g, const char *key); /* NULL = none */
/* E_FORMAT when the key of a pair that was found has another value as well. */
wte_status wte__gguf_once(const wte__gguf *g, const wte__gguf_pair *pair, wte_error *err);
/* Element i of an array of integers, or (i 0) an integer itself; false for other types and values
 * above INT64_MAX. */
bool wte__gguf_integer(const wte__gguf *g, const wte__gguf_pair *pair, uint64_t i, int64_t *out);
/* An integer of any size that is not negative. */
wte_status wte__gguf_count(const wte__gguf *g, const char *key, uint64_t *out, bool *found,
                           wte_error *err);
wte_status wte__gguf_number(const wte__gguf *g, const char *key, double *out, bool *found,
                            wte_error *err); /* f32 or f64 */
wte_status wte__gguf_text(const wte__gguf *g, const char *key, wte__bytes *out, bool *found,
                          wte_error *err); /* lives as long as the file */
/* The pairs as texts, for wte_file_metadata. */
wte_status wte__gguf_publish(wte_file *f, wte_error *err);

/* gguf_kind.c: what a file without a token table is, as general.type and its architecture say, such
 * as "a LoRA adapter (...)", or "". Safe to print. */
#define WTE__GGUF_KIND 400
const char *wte__gguf_kind(const wte_file *f, char out[WTE__GGUF_KIND]);

/* gguf_tokens.c: the vocabulary that the metadata carry, if any. Clear the list afterwards, also
 * after a failure. */
wte_status wte__gguf_tokens(const wte__gguf *g, wte_token_list *out, wte_error *err);
#endif
