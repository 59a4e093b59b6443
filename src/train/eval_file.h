/* What the files of words that tables are judged by have in common: text in memory, line by line.
 * Private to this room. */
#ifndef WTE_SRC_LEARN_EVAL_FILE_H
#define WTE_SRC_LEARN_EVAL_FILE_H
#include <wte/eval.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/span.h"

typedef struct wte__eval_text {
    const wte_allocator *allocator;
    char *data; /* bytes + 1 */
    uint64_t bytes;
    char name[WTE__NAME_SHOWN]; /* for messages */
    /* where reading stands */
    size_t at;
    uint64_t line, line_at; /* number (from 1) and offset of the line that was read last */
} wte__eval_text;

/* A whole file, or a copy of bytes; options as the public calls take them. */
wte_status wte__eval_text_load(wte__eval_text *t, const char *path,
                               const wte_eval_file_options *opt, wte_error *err);
wte_status wte__eval_text_copy(wte__eval_text *t, const void *data, uint64_t bytes,
                               const char *name, const wte_eval_file_options *opt, wte_error *err);
void wte__eval_text_free(wte__eval_text *t);
/* The next line that is neither blank nor a comment ('#'), without its end; false: there is none.
 */
bool wte__eval_text_line(wte__eval_text *t, wte__bytes *line);
/* Cut a field at blanks: *line moves behind it. Empty at the end. */
wte__bytes wte__eval_text_word(wte__bytes *line);
/* E_LIMIT for a word that is too long. */
wte_status wte__eval_text_check(const wte__eval_text *t, wte__bytes word, wte_error *err);
#endif
