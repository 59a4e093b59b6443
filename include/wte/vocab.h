/* wte/vocab.h - token ids and their texts. Names only: no text is split into tokens here. */
#ifndef WTE_VOCAB_H
#define WTE_VOCAB_H
#include <wte/base.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct wte_vocab wte_vocab;

typedef struct wte_vocab_options {
    size_t struct_size;
    uint64_t max_bytes; /* refuse a vocabulary file larger than this; 0 = 256 MiB */
    const wte_allocator *allocator;
} wte_vocab_options;
#define WTE_VOCAB_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(wte_vocab_options), 0, NULL                                                         \
    }

typedef enum wte_vocab_source {
    WTE_VOCAB_TOKENIZER_JSON = 1, /* Hugging Face tokenizers: model.vocab + added_tokens */
    WTE_VOCAB_JSON = 2,           /* vocab.json: {"token": id} */
    WTE_VOCAB_TXT = 3,            /* vocab.txt: one token a line, id = line number from 0 */
    WTE_VOCAB_TOKENS = 4,         /* listed by a file of tensors: GGUF, word vectors */
    WTE_VOCAB_PIECES = 5,         /* tokenizer.model, spiece.model: sentencepiece */
    WTE_VOCAB_TEKKEN = 6,         /* tekken.json: Mistral */
    WTE_VOCAB_WORDS = 7,   /* whitespacetokenizer_config.json: words of sentence-transformers */
    WTE_VOCAB_SPACY = 8,   /* key2row and strings.json of spaCy: names of rows */
    WTE_VOCAB_METADATA = 9 /* metadata.tsv of TensorFlow's projector: a line for each row */
} wte_vocab_source;

/** How the texts are spelled in the file. */
typedef enum wte_vocab_spelling {
    WTE_SPELLING_PLAIN = 0,
    WTE_SPELLING_BYTE_LEVEL = 1, /* GPT-2's alphabet: a space is written U+0120 */
    WTE_SPELLING_METASPACE = 2,  /* sentencepiece: a space is written U+2581 */
    WTE_SPELLING_WORDPIECE = 3   /* "##" marks a continuation */
} wte_vocab_spelling;

typedef enum wte_token_kind {
    WTE_TOKEN_NONE = 0, /* a hole: no token has this id */
    WTE_TOKEN_NORMAL = 1,
    WTE_TOKEN_ADDED = 2,   /* from added_tokens, not special */
    WTE_TOKEN_SPECIAL = 3, /* from added_tokens, special */
    WTE_TOKEN_BYTE = 4,    /* one byte, as <0x0A> */
    WTE_TOKEN_UNUSED = 5   /* GGUF and sentencepiece: has an id and a text, but no meaning yet */
} wte_token_kind;

/** Open a file (by content: JSON, sentencepiece or lines), or in a directory the first of
 *  tokenizer.json, vocab.json, vocab.txt, tokenizer.model, spiece.model and others
 *  (docs/formats.md). An empty file is passed over. In a directory all but tokenizer.json are
 *  read with added_tokens.json, tokenizer_config.json and config.json: classes of tokenizers that
 *  give tokens other ids than their places do so here. E_UNSUPPORTED where that is not known.
 *  A text may have two ids: both keep it, and find gives the one of the model's own vocabulary.
 *
 *  returns  E_NOT_FOUND when a directory has none, E_FORMAT when it has an empty one alone;
 *           E_FORMAT with err->where = byte offset (two texts for one id, invalid JSON, an empty
 *           file); E_LIMIT for ids, holes or sizes past docs/limits.md
 *  cost     one pass over the file, which stays in memory; 16 bytes an id, some 60 a token
 */
WTE_API WTE_MUST_CHECK wte_status wte_vocab_open(const char *path, const wte_vocab_options *opt,
                                                 wte_vocab **out, wte_error *err);
/** The same from bytes in memory, which are copied. */
WTE_API WTE_MUST_CHECK wte_status wte_vocab_open_memory(const void *data, uint64_t bytes,
                                                        const char *name, wte_vocab_source source,
                                                        const wte_vocab_options *opt,
                                                        wte_vocab **out, wte_error *err);
/** The tokens that a file of tensors lists: token i has id i. The list must outlive v. `name` is
 * used in messages and becomes the vocabulary's path. E_FORMAT when the list is empty, E_LIMIT. */
WTE_API WTE_MUST_CHECK wte_status wte_vocab_from_tokens(const wte_token_list *tokens,
                                                        const char *name,
                                                        const wte_vocab_options *opt,
                                                        wte_vocab **out, wte_error *err);
WTE_API void wte_vocab_free(wte_vocab *v); /* NULL is fine */

WTE_API const char *wte_vocab_path(const wte_vocab *v); /* the file it came from */
WTE_API wte_vocab_source wte_vocab_source_of(const wte_vocab *v);
WTE_API wte_vocab_spelling wte_vocab_spelling_of(const wte_vocab *v);
WTE_API uint64_t wte_vocab_count(const wte_vocab *v);   /* tokens: ids that have a text */
WTE_API uint64_t wte_vocab_size(const wte_vocab *v);    /* largest id + 1 */
WTE_API uint64_t wte_vocab_n_holes(const wte_vocab *v); /* size - count */
/** Tokens whose spelled text is no valid UTF-8. Their bytes are kept as they are. */
WTE_API uint64_t wte_vocab_n_invalid_utf8(const wte_vocab *v);
/** Tokens whose spelled text belongs to another id too, which find gives in their place; and
 * whether a token is one of them. */
WTE_API uint64_t wte_vocab_n_duplicates(const wte_vocab *v);
WTE_API bool wte_vocab_is_duplicate(const wte_vocab *v, uint64_t id);
WTE_API wte_token_kind wte_vocab_kind(const wte_vocab *v, uint64_t id);
/** The text as the file spells it; NULL for a hole. Lives as long as v. Not NUL-terminated. */
WTE_API const char *wte_vocab_raw_text(const wte_vocab *v, uint64_t id, uint64_t *bytes);
/** The text as people write it: byte-level and metaspace spelling undone (" Hello", not "ĠHello"),
 *  <0x0A> as its byte; "##" stays. Returns the bytes needed; writes at most cap. Raw bytes: may be
 *  no valid UTF-8 (one byte of a longer character). 0 for a hole. */
WTE_API uint64_t wte_vocab_text(const wte_vocab *v, uint64_t id, char *buf, uint64_t cap);
/** Id of a text, given either way: as spelled in the file first, then as people write it.
 *  E_NOT_FOUND; the message names near texts (other case, with or without a leading space).
 *  *other gets how many more ids match (duplicates, or both spellings name different ids); may be
 * NULL */
WTE_API WTE_MUST_CHECK wte_status wte_vocab_find(const wte_vocab *v, const char *text,
                                                 uint64_t bytes, uint64_t *id, uint64_t *other,
                                                 wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
