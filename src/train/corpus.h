/* The insides of a corpus: words cut out of a text block by block, and the table that counts and
 * numbers them. */
#ifndef WTE_SRC_LEARN_CORPUS_H
#define WTE_SRC_LEARN_CORPUS_H
#include <wte/corpus.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/tokens.h"

/* Words of a text in order, through a window that holds one block and the start of a word. */
#define WTE__SCAN_BYTES ((size_t)1 << 18)
typedef struct wte__corpus_scan {
    const wte__file *file;
    const char *path;
    bool lines;    /* a line end is a word */
    uint64_t stop; /* words must begin before it */
    uint64_t base; /* place of buf[0] in the file */
    size_t next, filled;
    uint8_t *buf;     /* WTE__SCAN_BYTES */
    uint64_t content; /* hash of all that has been read */
} wte__corpus_scan;

/* What a line end is as a word; its data is this very pointer. */
extern const uint8_t wte__line_end[4];

static inline uint64_t wte__corpus_scan_at(const wte__corpus_scan *s)
{
    return s->base + s->next;
}
/* The next word is looked for at `at`; a word that began before it is passed over when `whole`. */
wte_status wte__corpus_scan_start(wte__corpus_scan *s, uint64_t at, bool whole, wte_error *err);
/* At most cap words, which lie in the window until the next call; *n = 0 at the end. */
wte_status wte__corpus_scan_words(wte__corpus_scan *s, wte__bytes *words, size_t cap, size_t *n,
                                  wte_error *err);

/* E_ARGUMENT for a watch without its function; NULL is fine. */
wte_status wte__callback_check(const wte_train_callback *watch, wte_error *err);

/* Words and their numbers: open addressing over hashes, seeded so that no text can choose
 * collisions; a slot is 8 bytes, and the words lie in a token list. */
typedef struct wte__word_slot {
    uint32_t hash;  /* its upper half */
    uint32_t value; /* number + 1; 0 = free */
} wte__word_slot;
typedef struct wte__words {
    const wte_allocator *allocator;
    wte_token_list list;
    wte__word_slot *slots;
    uint64_t cap, seed;
} wte__words;

void wte__words_init(wte__words *w, const wte_allocator *a);
void wte__words_clear(wte__words *w);
uint64_t wte__words_hash(const wte__words *w, wte__bytes word);
static inline void wte__words_expect(const wte__words *w, uint64_t hash)
{
    __builtin_prefetch(&w->slots[hash & (w->cap - 1)]);
}
/* Its number, or WTE_CORPUS_UNKNOWN. */
uint32_t wte__words_find(const wte__words *w, wte__bytes word, uint64_t hash);
/* The same, and it is added when it is not there; E_LIMIT when there are `limit` words. */
wte_status wte__words_add(wte__words *w, wte__bytes word, uint64_t hash, uint64_t limit,
                          uint32_t *number, wte_error *err);
/* Make the slots for the list as it stands. A word that comes twice has its first number. */
wte_status wte__words_index(wte__words *w, wte_error *err);

struct wte_corpus {
    const wte_allocator *allocator;
    char *path;
    wte__file file;
    bool lines;
    wte_dtype ids_type; /* NONE: text */
    uint64_t ids_at;    /* where they begin in the file */
    uint64_t ids_count;
    uint64_t min_count; /* words are met so often at least, or given */
    wte__words words;
    uint64_t *counts; /* of words.list */
    uint64_t content; /* hash of the bytes that words or ids are made of, in their order */
    wte_corpus_info info;
};

/* Words that are given with the options: how many, and number i; a hole is a word that no text has.
 */
uint64_t wte__corpus_given_words(const wte_corpus_options *opt);
wte__bytes wte__corpus_given_word(const wte_corpus_options *opt, uint64_t i);
/* Of the words, their numbers and counts: a table belongs to no other ones. */
uint64_t wte__corpus_hash(const wte_corpus *c);

/* The hash of what has been read, with n bytes more; their cuts are part of it. */
uint64_t wte__corpus_content(uint64_t before, const void *bytes, size_t n);

/* How a corpus of ids is found and counted (corpus_ids.c). */
wte_status wte__corpus_find_ids(wte_corpus *c, const wte_corpus_options *opt, wte_error *err);
wte_status wte__corpus_count_ids(wte_corpus *c, const wte_corpus_options *opt, wte_error *err);
/* n ids from number `first` on, through scratch of n * 8 bytes; a negative one, and one past 2^32 -
 * 2, is E_RANGE with its number. */
wte_status wte__corpus_read_ids(const wte_corpus *c, uint64_t first, size_t n, void *scratch,
                                uint32_t *out, wte_error *err);
#endif
