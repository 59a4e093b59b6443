/* Internals of a vocabulary: one 16-byte entry for each id, and a name set from spelled text to id.
 *
 * A reader (read.c) collects tokens in the order of the file, so that memory follows the file and
 * not its largest id; build.c turns them into entries. Texts are in the loaded file where it spells
 * them without escapes, else in the arena. */
#ifndef WTE_SRC_VOCAB_VOCAB_H
#define WTE_SRC_VOCAB_VOCAB_H
#include <wte/vocab.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/names.h"
#include "base/tokens.h"
#include "vocab/spelling.h"

/* The vocabulary and the files next to it with facts about its ids. */
enum {
    WTE__VOCAB_MAIN,
    WTE__VOCAB_ADDED,        /* added_tokens.json */
    WTE__VOCAB_CONFIG,       /* tokenizer_config.json */
    WTE__VOCAB_MODEL_CONFIG, /* config.json */
    WTE__VOCAB_STRINGS,      /* spaCy's strings.json */
    WTE__VOCAB_FILES
};

typedef struct wte__vocab_entry {
    const uint8_t *text; /* NULL: a hole */
    uint32_t bytes;
    uint8_t kind;    /* wte_token_kind */
    bool in_model;   /* listed by the model's own vocabulary, not by added tokens alone */
    bool translated; /* people write it otherwise than the file spells it */
    bool repeated;   /* its text means another id */
} wte__vocab_entry;

/* How tokens of one spelled text are written: those of a form are written alike. */
enum { WTE__FORM_AS_SPELLED, WTE__FORM_TRANSLATED, WTE__FORM_BYTE, WTE__FORMS };

/* The second and further ids of one spelled text. */
typedef struct wte__vocab_again {
    uint64_t first[WTE__FORMS], count[WTE__FORMS]; /* by form */
} wte__vocab_again;

/* Ids of one text, in the order of preference: the first few, and how many there are. */
#define WTE__ODD_KEPT 4u /* one more than names lead to */
typedef struct wte__vocab_odd {
    uint64_t count;
    uint32_t id[WTE__ODD_KEPT];
} wte__vocab_odd;

struct wte_vocab {
    const wte_allocator *allocator;
    char *path; /* of the first file */
    char *data[WTE__VOCAB_FILES];
    uint64_t data_bytes[WTE__VOCAB_FILES];
    wte__arena arena; /* texts that had escapes */
    wte_vocab_source source;
    wte_vocab_spelling spelling;
    wte__vocab_entry *entries;
    uint64_t size, count;
    uint64_t not_utf8, duplicates; /* tokens */
    wte__names names;              /* spelled text -> id */
    wte__names again_names;        /* spelled text -> place in `again` */
    wte__vocab_again *again;
    size_t again_cap, n_again;
    /* by spelled text and by written text, of ids that the names above do not lead to: a text that
     * spells spaces in two ways, a very long one */
    wte__names odd_names;
    wte__vocab_odd *odd;
    size_t odd_cap, n_odd;
};

/* A token as a file lists it. */
typedef struct wte__vocab_token {
    wte__bytes text;
    uint64_t at; /* its place in the file */
    uint32_t id;
    uint8_t kind, file;
    bool in_model;
    bool replaces; /* has the last word about its id */
} wte__vocab_token;

typedef struct wte__vocab_reader {
    wte_vocab *v;
    wte_error *err;
    const char *name[WTE__VOCAB_FILES]; /* of the files, fit for a message */
    wte__vocab_token *tokens;
    size_t n, cap;
    bool byte_level, metaspace, wordpiece, byte_fallback; /* what the tokenizer's parts say */
    bool told;       /* they do say how texts are spelled: there is nothing to guess */
    bool first_wins; /* a text with several ids means the first */
} wte__vocab_reader;

/* read.c: collect the tokens of v->data[file]. */
wte_status wte__vocab_read_tokenizer(wte__vocab_reader *r);
wte_status wte__vocab_read_map(wte__vocab_reader *r, uint8_t file, bool added);
wte_status wte__vocab_read_lines(wte__vocab_reader *r);
wte_status wte__vocab_add(wte__vocab_reader *r, const wte__vocab_token *token); /* a copy */
/* spm.c: the same of a sentencepiece model; and whether the bytes begin like one. */
wte_status wte__vocab_read_pieces(wte__vocab_reader *r);
/* Names of vocabulary files in a folder, in the order of preference; NULL past the last. */
const char *wte__vocab_file_name(size_t i);
bool wte__vocab_is_pieces(const void *data, uint64_t bytes);
/* tekken.c: the same of Mistral's tekken.json. */
wte_status wte__vocab_read_tekken(wte__vocab_reader *r);
/* folders.c: the same of spaCy's key2row, and of a list of words of sentence-transformers. */
wte_status wte__vocab_read_spacy(wte__vocab_reader *r);
wte_status wte__vocab_read_words(wte__vocab_reader *r);
wte_status wte__vocab_read_metadata(wte__vocab_reader *r);
/* "NAME: line L column C (byte at): what" */
wte_status wte__vocab_refuse(const wte__vocab_reader *r, uint8_t file, uint64_t at,
                             const char *what);

/* build.c: entries, spelling and names from the tokens collected. */
wte_status wte__vocab_build(wte__vocab_reader *r);
/* The second half of it: spelling and names, from entries that are there. */
wte_status wte__vocab_settle(wte__vocab_reader *r);
/* An empty vocabulary; on failure too *out is to be freed. */
wte_status wte__vocab_create(const wte_vocab_options *o, const char *path, wte_vocab_source source,
                             wte_vocab **out, wte_error *err);
wte_status wte__vocab_options_take(wte_vocab_options *o, const wte_vocab_options *given,
                                   wte_error *err);

/* Texts longer than this are not spelled anew to be looked up: they are odd. */
#define WTE__VOCAB_LONG 2048u
wte__bytes wte__vocab_entry_text(const wte__vocab_entry *entry);
/* Whether the names of spelled texts do not lead from what people write to this entry. */
bool wte__vocab_is_odd(const wte_vocab *v, const wte__vocab_entry *entry);
unsigned wte__vocab_form(const wte__vocab_entry *entry);
/* The text as people write it: bytes needed; writes at most cap. */
uint64_t wte__vocab_written(const wte_vocab *v, const wte__vocab_entry *entry, uint8_t *out,
                            uint64_t cap);
#endif
