/* Whether a row of a text of vectors stands where the index says: its word in front of its numbers,
 * at the beginning of a line. */
#ifndef WTE_SRC_FORMAT_TEXT_ROW_H
#define WTE_SRC_FORMAT_TEXT_ROW_H
#include "format/text_dialect.h"
#include "format/text_index.h"

/* Where other columns are between word and numbers, it is enough that the line holds the word. The
 * window's cap is at least 1024. */
wte_status wte__text_row_find(const wte_file *f, const wte__text_index *x,
                              const wte__text_layout *l, wte__window *w, uint64_t row, bool *there,
                              wte_error *err);
#endif
