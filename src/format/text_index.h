/* Where the rows of a file lie whose rows cannot be computed: lines of text, records with a word in
 * front. Made in one pass over the file; for a large file kept in the user's cache folder, so that
 * it is opened at once the next time. The tokens found on the way belong to it. */
#ifndef WTE_SRC_FORMAT_TEXT_INDEX_H
#define WTE_SRC_FORMAT_TEXT_INDEX_H
#include "format/format.h"

/* What the pass was told; an index of another reading of the same file is no use. */
typedef struct wte__text_key {
    uint32_t kind; /* wte_format */
    uint32_t layout;
    uint64_t dim;
} wte__text_key;

typedef struct wte__text_index {
    wte__text_key key;
    uint64_t *row_at; /* of each row's numbers */
    size_t n, cap;
    uint64_t end; /* of the last row: the file's */
    bool kept;    /* it comes from the cache */
} wte__text_index;

void wte__text_index_clear(wte__text_index *x, const wte_allocator *a);
/* E_LIMIT when the rows of a packed file take more memory than its size justifies. */
wte_status wte__text_index_add(wte__text_index *x, const wte_file *f, uint64_t at, wte_error *err);
/* Whether a row of f->made stands where the index says it does. */
typedef bool wte__text_row_check(const wte_file *f, uint64_t row);
/* Fills rows and f->tokens from the cache; false when there is nothing of use. Some rows all over
 * the file are checked. */
bool wte__text_index_load(wte__text_index *x, wte_file *f, wte__text_row_check *check);
/* Keeps them there, if the file is large enough to be worth it. Nothing depends on success. */
void wte__text_index_store(const wte__text_index *x, const wte_file *f);
/* E_FORMAT: the file has been changed since the index was made. A kept one is removed, so that the
 * next to open the file makes it again. */
wte_status wte__text_index_stale(const wte__text_index *x, const wte_file *f, uint64_t row,
                                 wte_error *err);

/* A window that moves over a file, for passes and for single rows. */
typedef struct wte__window {
    const wte__part *part;
    uint64_t end; /* of what may be read */
    uint64_t at;  /* of buf[0] in the file */
    size_t n;     /* bytes in buf */
    size_t cap;
    uint8_t *buf;
} wte__window;

/* At least min(want, what is left) bytes from `at` on lie at *p, *n of them in all; want <= cap. */
wte_status wte__window_see(wte__window *w, uint64_t at, size_t want, const uint8_t **p, size_t *n,
                           wte_error *err);
#endif
