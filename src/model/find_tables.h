/* The tensors of a model as find.c scores them and choose.c chooses among them. Private to those
 * two. */
#ifndef WTE_SRC_MODEL_FIND_H
#define WTE_SRC_MODEL_FIND_H
#include "model/model.h"
#include "model/name_rules.h"

/* Shape evidence. Rows that are not vocab_size count more than a width that is not hidden_size:
 * factorised tables have widths of their own. */
enum wte__evidence {
    ROWS_EQUAL = 1,
    ROWS_NEAR = 2,
    ROWS_OTHER = 4,
    ROWS_TOKENS = 8,
    WIDTH_EQUAL = 16,
    WIDTH_OTHER = 32,
    LIKE_INPUT = 64,
    UNLIKE_INPUT = 128,
    TURNED = 256,
    TOKENS_EXACT = 512 /* of a matrix without a known name */
};
struct wte__scored {
    uint64_t tensor, rows, dim;
    int32_t score;
    wte_role role;
    uint32_t evidence;
    const char *rule, *outside;
    const char *name;
    uint64_t name_bytes;
    bool map, weak, both, pair;
    wte_tensor_kind kind;
    wte_model_side part;
    bool packed; /* a quantised table: rows and dim are its own, 0 when they cannot be told */
};

struct wte__find {
    wte_model *m;
    const wte_model_options *opt;
    wte_error *err;
    struct wte__scored *list;
    size_t n, cap;
    uint64_t tokens; /* size of the vocabulary, 0 = none */
    uint64_t matrices, last_matrix;
    uint64_t mapping;
    size_t excluded; /* heads that are none */
    bool gguf;       /* names are the format's own */
};
/* The best candidate of a role; NULL: none. */
struct wte__scored *wte__find_best(struct wte__find *f, wte_role role);
void wte__find_sort(struct wte__find *f);
/* Why it was judged so, in words; NULL = out of memory. */
const char *wte__find_explain(const struct wte__find *f, const struct wte__scored *s);
/* Heads are judged against the input table as well. */
void wte__find_judge_heads(struct wte__find *f, const wte_model_table *input);
uint32_t wte__find_judge_shape(const struct wte__find *f, uint64_t rows, uint64_t dim);
/* Rows and width of a tensor as a matrix; false: it is none. */
bool wte__find_matrix_of(const wte_tensor *t, uint64_t *rows, uint64_t *dim);
wte_status wte__find_add(struct wte__find *f, const struct wte__scored *s);
/* Whether a table of so many rows fits a vocabulary of `size` tokens, padded or not. */
bool wte__find_near(uint64_t rows, uint64_t size);

/* Whether a bias of its rows stands beside a matrix: then it is a linear layer, and no table. */
bool wte__find_has_bias(const struct wte__find *f, const struct wte__scored *s);

/* unnamed.c: matrices whose names no rule knows. */
/* What there is beside a head that has the place of the input table. */
enum wte__rival {
    RIVAL_NONE,
    RIVAL_WIDTH, /* some matrix, of a layer perhaps, has its width or its row count */
    RIVAL_TABLE  /* one outside of all layers has its rows: the table by its shape */
};
/* rival: the tensor of RIVAL_TABLE, unless NULL. */
wte_status wte__find_rival(struct wte__find *f, const struct wte__scored *head,
                           enum wte__rival *kind, wte_tensor *rival);
/* Add those of `rows` rows as candidates; *n: how many they are. */
wte_status wte__find_of_rows(struct wte__find *f, uint64_t rows, size_t *n);
/* No table was found: add what may be one, excluded by its score, so that it is listed. */
wte_status wte__find_offer(struct wte__find *f);

/* choose.c: the two tables among the candidates. */
wte_status wte__choose_input(struct wte__find *f);
wte_status wte__choose_head(struct wte__find *f);
/* More than one table of its own kind: the others are not lost from sight. */
wte_status wte__note_others(struct wte__find *f);
#endif
